import CBertQA
import Testing

@testable import BertQACore

/// A head's keys in a chunk, and vectors for distances.
private struct RelativeCase {
  let keys: Range<Int>
  let queries: Range<Int>
  let headDim: Int
  /// The heads' features are side by side in the table.
  let stride: Int
  var x: [Float]
  /// [distance / 16][stride][16]
  var positions: [Float]
  private let firstBlock: Int

  init(keys: Range<Int>, queries: Range<Int>, headDim: Int, random: inout TestRandom) {
    (self.keys, self.queries, self.headDim) = (keys, queries, headDim)
    stride = headDim + 4
    x = random.floats(Kernels.blocks(tokens: keys.upperBound) * 16 * headDim, -2...2)
    firstBlock = -keys.upperBound / 16 - 2
    positions = random.floats((2 * -firstBlock + 2) * 16 * stride, -2...2)
  }

  var call: bq_attention {
    var call = bq_attention()
    call.stride = headDim * 16
    (call.key_begin, call.key_end) = (keys.lowerBound, keys.upperBound)
    (call.query_begin, call.query_end) = (queries.lowerBound, queries.upperBound)
    call.head_dim = headDim
    return call
  }

  /// Elements before the distance 0.
  var origin: Int { -firstBlock * stride * 16 }

  func product(_ key: Int, _ distance: Int) -> Double {
    (0..<headDim).reduce(0) { sum, d in
      let at = origin + ((distance &>> 4) * stride + d) * 16 + (distance & 15)
      return sum + Double(x[ReferenceKernels.index(key, d, of: headDim)]) * Double(positions[at])
    }
  }

  /// Compares a kernel's result, [key][distance], with plain loops.
  func check(_ y: [Float], tolerance: Double, _ name: String) {
    var call = call
    let width = bq_relative_width(&call)
    #expect(y.count == keys.count * width)
    for key in keys {
      for query in queries {
        let at = (key - keys.lowerBound) * width + query - key + 16 * (key / 16 - queries.lowerBound / 16 + 1)
        let exact = product(key, query - key)
        #expect(abs(Double(y[at]) - exact) <= tolerance, "\(name), query \(query), key \(key)")
      }
    }
  }

  static let shapes = [
    (0..<1, 0..<1, 4), (4..<20, 4..<20, 8), (12..<63, 30..<63, 20), (0..<90, 0..<90, 64),
    (24..<70, 60..<61, 32),
  ]
}

@Test(arguments: instructionSets)
func productsOfKeysAndDistancesMatchReference(isa: Int32) throws {
  let table = try #require(Kernels(isa: isa)).table
  var random = TestRandom(50)
  for (keys, queries, headDim) in RelativeCase.shapes {
    let one = RelativeCase(keys: keys, queries: queries, headDim: headDim, random: &random)
    var call = one.call
    let y = GuardedBuffer([Float](repeating: 7, count: keys.count * bq_relative_width(&call)))
    let (x, positions) = (GuardedBuffer(one.x), GuardedBuffer(one.positions))
    table.relative_keys_f32(&call, x.base, positions.base + one.origin, one.stride * 16, y.base)
    #expect(y.isIntact)
    one.check(y.elements, tolerance: 1e-4, "isa \(isa), keys \(keys)")
  }
}

@Test(.needsBF16, arguments: bf16InstructionSets)
func productsOfKeysAndDistancesInBFloat16MatchReference(isa: Int32) throws {
  let table = try #require(Kernels(isa: isa)).table
  var random = TestRandom(51)
  func pairs(_ values: [Float], features: Int) -> [UInt16] {
    var packed = [UInt16](repeating: 0, count: values.count)
    table.pack_bf16(values, values.count / (16 * features), features, &packed)
    return packed
  }
  for (keys, queries, headDim) in RelativeCase.shapes {
    var one = RelativeCase(keys: keys, queries: queries, headDim: headDim, random: &random)
    for i in one.x.indices { one.x[i] = Float(bitPattern: one.x[i].bitPattern & 0xFFFF_0000) }
    for i in one.positions.indices {
      one.positions[i] = Float(bitPattern: one.positions[i].bitPattern & 0xFFFF_0000)
    }
    var call = one.call
    let y = GuardedBuffer([Float](repeating: 7, count: keys.count * bq_relative_width(&call)))
    let x = GuardedBuffer(pairs(one.x, features: headDim), canary: 5)
    let positions = GuardedBuffer(pairs(one.positions, features: one.stride), canary: 5)
    table.relative_keys_bf16(&call, x.base, positions.base + one.origin, one.stride * 16, y.base)
    #expect(y.isIntact)
    one.check(y.elements, tolerance: 1e-4, "keys \(keys)")
  }
}

/// Each lane has the number of its own row and key, from either side or both.
@Test(arguments: instructionSets, [(true, false), (false, true), (true, true)])
func biasesOfRelativePositionsMatchReference(isa: Int32, has: (byQuery: Bool, byKey: Bool)) throws {
  let table = try #require(Kernels(isa: isa)).table
  var random = TestRandom(52)
  for (keys, queries, headDim) in RelativeCase.shapes {
    let one = RelativeCase(keys: keys, queries: queries, headDim: headDim, random: &random)
    var call = one.call
    // Steps of none to two rows, as ever wider buckets have.
    let reach = keys.upperBound + 48
    var rows: [Int32] = [3]
    for _ in 1..<2 * reach { rows.append((rows.last ?? 0) + Int32.random(in: 0...2, using: &random)) }
    func row(_ distance: Int) -> Int { Int(rows[distance + reach]) }
    let width = bq_relative_width(&call)
    let byKey = GuardedBuffer(random.floats(keys.count * width))
    for block in queries.lowerBound / 16..<(queries.upperBound + 15) / 16 {
      let firstRow = row(block * 16 - (keys.upperBound - 1) - 15)
      let rowCount = row(block * 16 + 15 - keys.lowerBound) - firstRow + 1
      let byQuery = GuardedBuffer(random.floats(rowCount * 16))
      let bias = GuardedBuffer([Float](repeating: 7, count: keys.count * 16))
      rows.withUnsafeBufferPointer { rows in
        table.relative_bias(
          &call, block, rows.baseAddress.map { $0 + reach }, firstRow, has.byQuery ? byQuery.base : nil,
          has.byKey ? byKey.base : nil, bias.base)
      }
      #expect(bias.isIntact)
      for key in keys {
        for lane in 0..<16 {
          let distance = block * 16 + lane - key
          var exact: Float = 0
          if has.byQuery { exact += byQuery.base[(row(distance) - firstRow) * 16 + lane] }
          if has.byKey {
            let first = 16 * (queries.lowerBound / 16 - key / 16 - 1)
            exact += byKey.base[(key - keys.lowerBound) * width + distance - first]
          }
          let found = bias.base[(key - keys.lowerBound) * 16 + lane]
          #expect(found == exact, "isa \(isa), block \(block), key \(key), lane \(lane)")
        }
      }
    }
  }
}
