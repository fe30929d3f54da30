/// A number per head and distance that is added to scores. Immutable.
final class DistanceBiases: Sendable {
  /// [head][distance], from -`reach` on
  private let elements: SharedBuffer<Float>
  private let reach: Int

  /// - Parameters:
  ///   - table: [buckets, heads]
  ///   - scale: what attention multiplies scores with, these numbers included.
  init(
    _ table: TensorView, _ configuration: ModelConfiguration, scale: Float
  ) throws(BertQAError) {
    let heads = configuration.headCount
    reach = configuration.maxPositions + Kernels.lanes
    elements = try SharedBuffer(count: 2 * reach * heads)
    let rows = try AlignedBuffer<Float>(uninitializedCount: table.rowCount * heads)
    table.copyFloats(rows: 0..<table.rowCount, to: rows.base)
    for distance in -reach..<reach {
      let row = rows.base + DistanceBuckets.bias(distance) * heads
      for head in 0..<heads { elements.base[head * 2 * reach + distance + reach] = row[head] / scale }
    }
  }

  /// A head's number for the distance 0, of which those for others are neighbours.
  func base(head: Int) -> UnsafePointer<Float> {
    UnsafePointer(elements.base + head * 2 * reach + reach)
  }
}
