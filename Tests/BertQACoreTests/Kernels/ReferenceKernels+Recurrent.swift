import Glibc

extension ReferenceKernels {
  /// `y[v][o] = Σ_k w[o][k] · x[v][k] + bias[o]` of plain rows.
  static func multiplyRows(weights w: [Float], bias: [Float], x: [Float], vectors: Int) -> [Float] {
    guard vectors > 0, !bias.isEmpty else { return [] }
    let inputs = w.count / bias.count
    return (0..<vectors).flatMap { v in
      bias.indices.map { o in
        let products = (0..<inputs).map { Double(w[o * inputs + $0]) * Double(x[v * inputs + $0]) }
        return Float(products.reduce(0, +) + Double(bias[o]))
      }
    }
  }

  /// One step of LSTM units; `x` and `h` are [i, f, g, o][units].
  static func lstmCell(x: [Float], h: [Float], c: [Float]) -> (c: [Float], h: [Float]) {
    let gates = zip(x, h).map { Double($0) + Double($1) }
    let units = c.count
    let next = (0..<units).map {
      sigmoid(gates[units + $0]) * Double(c[$0]) + sigmoid(gates[$0]) * tanh(gates[2 * units + $0])
    }
    let output = (0..<units).map { sigmoid(gates[3 * units + $0]) * tanh(next[$0]) }
    return (next.map { Float($0) }, output.map { Float($0) })
  }

  /// One step of GRU units; `x` and `h` are [r, z, n][units].
  static func gruCell(x: [Float], h: [Float], state: [Float]) -> [Float] {
    let units = state.count
    return (0..<units).map { unit in
      func gate(_ index: Int) -> (x: Double, h: Double) {
        (Double(x[index * units + unit]), Double(h[index * units + unit]))
      }
      let reset = sigmoid(gate(0).x + gate(0).h)
      let update = sigmoid(gate(1).x + gate(1).h)
      let new = tanh(gate(2).x + reset * gate(2).h)
      return Float((1 - update) * new + update * Double(state[unit]))
    }
  }

  static func sigmoid(_ x: Double) -> Double { 1 / (1 + Glibc.exp(-x)) }
}
