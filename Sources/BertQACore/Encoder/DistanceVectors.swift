import CBertQA

/// The distance vectors by which one layer multiplies queries and keys, as the kernels take them. They do not
/// depend on the input. Immutable.
///
/// Memory: hidden size · element size · 2 · (span + `max_position_embeddings` + 48) for each layer: 60 MB for
/// DeBERTa-v3-base in f32, half of that in bf16.
final class DistanceVectors: @unchecked Sendable {
  // Sendable: nothing changes after init.

  /// [head][row][headSize]; nil if queries are not multiplied.
  let forQueries: UnsafeRawPointer?
  /// Points at distance 0 of [distance / 16][hidden][16], bfloat16 in pairs; nil if keys are not multiplied.
  let forKeys: UnsafeRawPointer?
  private let owners: [any AnyObject & Sendable]

  init(
    _ layer: LayerWeights, _ distances: Distances, isBF16: Bool, _ kernels: Kernels
  ) throws(BertQAError) {
    let attention = distances.attention
    var owners: [any AnyObject & Sendable] = []
    var (queries, keys): (UnsafeRawPointer?, UnsafeRawPointer?)
    if attention.hasQueryProducts {
      let projected = try distances.projected(layer.distanceKey ?? layer.key, kernels)
      queries = try distances.rowMajor(projected.base, isBF16: isBF16, &owners)
    }
    if attention.hasKeyProducts {
      let projected = try distances.projected(layer.distanceQuery ?? layer.query, kernels)
      keys = try distances.byDistance(projected.base, isBF16: isBF16, &owners)
    }
    (forQueries, forKeys) = (queries, keys)
    self.owners = owners
  }
}

/// The table of distance vectors and the row of each distance; the same for all layers.
final class Distances: @unchecked Sendable {
  // Sendable: nothing changes after init.

  let attention: DisentangledAttention
  /// Points at the entry of distance 0; the distance is query - key.
  let rows: UnsafePointer<Int32>
  /// The bias of products without one: [rows]
  let zeros: UnsafePointer<Float>
  private let headSize: Int
  private let hiddenSize: Int
  /// The number of blocks of 16 distances in either direction: the distances within a window, and those
  /// beyond it in its first and last block.
  private let reach: Int
  /// [row / 16][hidden][16]
  private let vectors: SharedBuffer<Float>
  private let rowBuffer: SharedBuffer<Int32>
  private let zeroBuffer: SharedBuffer<Float>

  init(
    _ table: TensorView, _ norm: Parameters.Norm?, _ attention: DisentangledAttention,
    _ configuration: ModelConfiguration, _ kernels: Kernels
  ) throws(BertQAError) {
    self.attention = attention
    headSize = configuration.headSize
    hiddenSize = configuration.hiddenSize
    let lanes = Kernels.lanes
    reach = Kernels.blocks(tokens: configuration.maxPositions) + 3
    rowBuffer = try SharedBuffer(count: 2 * reach * lanes)
    for index in 0..<2 * reach * lanes {
      rowBuffer.base[index] = Int32(DistanceBuckets.row(index - reach * lanes, attention))
    }
    rows = UnsafePointer(rowBuffer.base + reach * lanes)
    zeroBuffer = try SharedBuffer(count: attention.rowCount)
    zeroBuffer.base.initialize(repeating: 0, count: attention.rowCount)
    zeros = UnsafePointer(zeroBuffer.base)
    let blocks = Kernels.blocks(tokens: attention.rowCount)
    vectors = try SharedBuffer(count: blocks * hiddenSize * lanes)
    vectors.base.initialize(repeating: 0, count: vectors.count)
    let row = try AlignedBuffer<Float>(uninitializedCount: hiddenSize)
    for index in 0..<attention.rowCount {
      table.copyFloats(rows: index..<index + 1, to: row.base)
      let column = vectors.base + index / lanes * hiddenSize * lanes + index % lanes
      for feature in 0..<hiddenSize { column[feature * lanes] = row[feature] }
    }
    norm?.apply(vectors.base, blocks: blocks, features: hiddenSize, to: vectors.base, kernels)
  }

  /// The vectors after a linear layer, always in f32: [row / 16][hidden][16].
  func projected(_ linear: LinearWeights, _ kernels: Kernels) throws(BertQAError) -> SharedBuffer<Float> {
    let weights = try AlignedBuffer<Float>(uninitializedCount: hiddenSize * hiddenSize)
    linear.weight.copyFloats(rows: 0..<hiddenSize, to: weights.base)
    let bias = try AlignedBuffer<Float>(repeating: 0, count: hiddenSize)
    linear.bias?.copyFloats(rows: 0..<hiddenSize, to: bias.base)
    let result = try SharedBuffer<Float>(count: vectors.count)
    kernels.table.linear_f32(
      weights.base, bias.base, vectors.base, Kernels.blocks(tokens: attention.rowCount), hiddenSize,
      hiddenSize,
      Kernels.Epilogue.bias, result.base, hiddenSize * Kernels.lanes)
    return result
  }

  /// [head][row][headSize]
  fileprivate func rowMajor(
    _ projected: UnsafePointer<Float>, isBF16: Bool, _ owners: inout [any AnyObject & Sendable]
  ) throws(BertQAError) -> UnsafeRawPointer {
    try store(count: attention.rowCount * hiddenSize, isBF16: isBF16, &owners) { index in
      let (rest, d) = index.quotientAndRemainder(dividingBy: headSize)
      let (head, row) = rest.quotientAndRemainder(dividingBy: attention.rowCount)
      return projected[element(row: row, feature: head * headSize + d)]
    }
  }

  /// [distance / 16][hidden][16], or [distance / 16][hidden / 2][16][2] in bfloat16; returned from distance 0
  /// on.
  fileprivate func byDistance(
    _ projected: UnsafePointer<Float>, isBF16: Bool, _ owners: inout [any AnyObject & Sendable]
  ) throws(BertQAError) -> UnsafeRawPointer {
    let part = hiddenSize * Kernels.lanes
    let first = try store(count: 2 * reach * part, isBF16: isBF16, &owners) { index in
      let (block, rest) = index.quotientAndRemainder(dividingBy: part)
      var (feature, lane) = rest.quotientAndRemainder(dividingBy: Kernels.lanes)
      if isBF16 {
        let (pair, within) = rest.quotientAndRemainder(dividingBy: 2 * Kernels.lanes)
        (feature, lane) = (2 * pair + within % 2, within / 2)
      }
      let row = Int(rows[(block - reach) * Kernels.lanes + lane])
      return projected[element(row: row, feature: feature)]
    }
    return first + reach * part * (isBF16 ? MemoryLayout<UInt16>.stride : MemoryLayout<Float>.stride)
  }

  private func element(row: Int, feature: Int) -> Int {
    (row / Kernels.lanes * hiddenSize + feature) * Kernels.lanes + row % Kernels.lanes
  }

  private func store(
    count: Int, isBF16: Bool, _ owners: inout [any AnyObject & Sendable], _ value: (Int) -> Float
  ) throws(BertQAError) -> UnsafeRawPointer {
    if isBF16 {
      let buffer = try SharedBuffer<UInt16>(count: count)
      for index in 0..<count { buffer.base[index] = bfloat(value(index)) }
      owners.append(buffer)
      return UnsafeRawPointer(buffer.base)
    }
    let buffer = try SharedBuffer<Float>(count: count)
    for index in 0..<count { buffer.base[index] = value(index) }
    owners.append(buffer)
    return UnsafeRawPointer(buffer.base)
  }
}

/// The numbers, per head and distance, that are added to scores. Immutable.
final class DistanceBiases: Sendable {
  /// [head][distance], starting at -`reach`
  private let elements: SharedBuffer<Float>
  private let reach: Int

  /// - Parameter bias: the number for a head and a distance, query - key.
  private init(
    _ configuration: ModelConfiguration, _ bias: (_ head: Int, _ distance: Int) -> Float
  ) throws(BertQAError) {
    let heads = configuration.headCount
    reach = configuration.maxPositions + Kernels.lanes
    elements = try SharedBuffer(count: 2 * reach * heads)
    // Attention multiplies scores, including these numbers, by this factor.
    let scale = configuration.attentionScale
    for head in 0..<heads {
      for distance in -reach..<reach {
        elements.base[head * 2 * reach + distance + reach] = bias(head, distance) / scale
      }
    }
  }

  /// Those of ALiBi.
  convenience init(slopesOf configuration: ModelConfiguration) throws(BertQAError) {
    let slopes = DistanceBuckets.slopes(heads: configuration.headCount)
    try self.init(configuration) { head, distance in -slopes[head] * Float(abs(distance)) }
  }

  /// - Parameter table: [buckets, heads]
  convenience init(_ table: TensorView, _ configuration: ModelConfiguration) throws(BertQAError) {
    let heads = configuration.headCount
    let rows = try AlignedBuffer<Float>(uninitializedCount: table.rowCount * heads)
    table.copyFloats(rows: 0..<table.rowCount, to: rows.base)
    try self.init(configuration) { head, distance in rows.base[DistanceBuckets.bias(distance) * heads + head]
    }
  }

  /// Returns the head's number for distance 0. Those for other distances are next to it.
  func base(head: Int) -> UnsafePointer<Float> {
    UnsafePointer(elements.base + head * 2 * reach + reach)
  }
}
