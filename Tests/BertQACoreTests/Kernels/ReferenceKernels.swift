import Glibc

@testable import BertQACore

/// Plain versions of the kernels: sums in double precision, one token at a time. Tests compare every
/// instruction set with these. Activations are in the lane layout, `x[block][feature][16]`.
enum ReferenceKernels {
  /// Where token `token` has feature `feature` in a buffer of `features` features.
  static func index(_ token: Int, _ feature: Int, of features: Int) -> Int {
    (token / Kernels.lanes * features + feature) * Kernels.lanes + token % Kernels.lanes
  }

  /// `y[o] = epilogue(Σ_k w[o][k] · x[k] + bias[o])` for every token. `y` is the residual.
  static func linear(
    weights w: [Float], bias: [Float], x: [Float], blocks: Int, inputs: Int, epilogue: Int32,
    y residual: [Float]
  ) -> [Float] {
    let outs = bias.count
    var y = residual
    for token in 0..<blocks * Kernels.lanes {
      for o in 0..<outs {
        var sum = 0.0
        for k in 0..<inputs {
          sum += Double(w[o * inputs + k]) * Double(x[index(token, k, of: inputs)])
        }
        sum += Double(bias[o])
        let at = index(token, o, of: outs)
        if epilogue == Kernels.Epilogue.residual { sum += Double(y[at]) }
        if epilogue == Kernels.Epilogue.gate { sum *= Double(y[at]) }
        y[at] = Float(activations[epilogue].map { $0(sum) } ?? sum)
      }
    }
    return y
  }

  static func layerNorm(
    x: [Float], blocks: Int, gamma: [Float], beta: [Float], eps: Float
  ) -> [Float] {
    let features = gamma.count
    var y = x
    for token in 0..<blocks * Kernels.lanes {
      let values = (0..<features).map { Double(x[index(token, $0, of: features)]) }
      let mean = values.reduce(0, +) / Double(features)
      let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(features)
      for f in 0..<features {
        let normal = (values[f] - mean) / (variance + Double(eps)).squareRoot()
        y[index(token, f, of: features)] = Float(normal * Double(gamma[f]) + Double(beta[f]))
      }
    }
    return y
  }

  /// One head of one window: `softmax((q·kᵀ + added) · scale)·v` as `[query][feature]` for every query of
  /// `window`. `x` has `features` features a token, of which q, k and v begin at the given ones.
  static func attention(
    x: [Float], features: Int, q: Int, k: Int, v: Int, window: Range<Int>, headDim: Int,
    scale: Float, added: AddedToScores? = nil
  ) -> [[Float]] {
    func value(_ token: Int, _ feature: Int) -> Double {
      Double(x[index(token, feature, of: features)])
    }
    return window.map { query in
      let scores = window.map { key in
        let product = (0..<headDim).reduce(0.0) { $0 + value(query, q + $1) * value(key, k + $1) }
        return (product + (added?.value(query, key) ?? 0)) * Double(scale)
      }
      let top = scores.max() ?? 0
      let exps = scores.map { Glibc.exp($0 - top) }
      let sum = exps.reduce(0, +)
      return (0..<headDim).map { d in
        Float(zip(exps, window).reduce(0.0) { $0 + $1.0 * value($1.1, v + d) } / sum)
      }
    }
  }

  @Sendable static func gelu(_ x: Double) -> Double { x / 2 * erfc(-x / 2.0.squareRoot()) }

  @Sendable static func geluTanh(_ x: Double) -> Double {
    x / (1 + Glibc.exp(-2 * (2 / Double.pi).squareRoot() * (x + 0.044715 * x * x * x)))
  }

  /// Those of the epilogues that have one.
  static let activations: [Int32: @Sendable (Double) -> Double] = [
    Kernels.Epilogue.gelu: gelu, Kernels.Epilogue.geluTanh: geluTanh,
    Kernels.Epilogue.silu: { $0 / (1 + Glibc.exp(-$0)) }, Kernels.Epilogue.relu: { max($0, 0) },
    Kernels.Epilogue.tanh: { Glibc.tanh($0) },
  ]
}
