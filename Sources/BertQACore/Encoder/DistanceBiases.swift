/// The numbers, per head and distance, that are added to scores. Immutable.
final class DistanceBiases: Sendable {
  /// [head][distance], starting at -`reach`
  private let elements: SharedBuffer<Float>
  private let reach: Int

  /// - Parameters:
  ///   - table: [buckets, heads]
  ///   - scale: the factor by which attention multiplies scores, including these numbers.
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

  /// Returns the head's number for distance 0. Those for other distances are beside it.
  func base(head: Int) -> UnsafePointer<Float> {
    UnsafePointer(elements.base + head * 2 * reach + reach)
  }
}
