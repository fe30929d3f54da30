import Glibc

/// Sines and cosines of every position's angles: position p rotates plane d of a head by p · theta^(-2d /
/// headSize) (Su et al. 2021, https://arxiv.org/abs/2104.09864). Immutable.
///
/// Angles are products of floats, as in the reference implementation: at position 8,000 their rounding error
/// is up to 2e-4, which exact angles would not reproduce.
final class RotaryTable: Sendable {
  /// Four positions side by side: a window starts at a multiple of four within a block of tokens.
  private static let group = 4

  /// [position / 4][plane][cosine, sine][4]
  private let elements: SharedBuffer<Float>
  private let planes: Int

  init(_ rotary: RotaryPositions, headSize: Int, positions: Int) throws(BertQAError) {
    planes = headSize / 2
    let groups = (positions + Self.group - 1) / Self.group
    elements = try SharedBuffer(count: groups * planes * 2 * Self.group)
    for plane in 0..<planes {
      let exponent = Float(2 * plane) / Float(headSize)
      let frequency = 1 / Float(pow(rotary.theta, Double(exponent))) / rotary.divisor(headSize: headSize)
      for position in 0..<groups * Self.group {
        let angle = Double(Float(position) * frequency)
        let (group, lane) = (position / Self.group, position % Self.group)
        let turns = elements.base + (group * planes + plane) * 2 * Self.group + lane
        turns[0] = Float(cos(angle))
        turns[Self.group] = Float(sin(angle))
      }
    }
  }

  /// Writes the angles of a block's tokens for `rotate_f32`.
  /// - Parameters:
  ///   - positions: of adjacent tokens; the first is a multiple of 4.
  ///   - lane: the lane of the first token, a multiple of 4. The groups of four lanes of the first and the
  ///     last token are written as a whole.
  ///   - turns: [plane][cosine, sine][16]
  func copy(_ positions: Range<Int>, lane: Int, to turns: UnsafeMutablePointer<Float>) {
    for first in stride(from: positions.lowerBound, to: positions.upperBound, by: Self.group) {
      var from = UnsafePointer(elements.base) + first / Self.group * planes * 2 * Self.group
      var to = turns + lane + first - positions.lowerBound
      for _ in 0..<2 * planes {
        to.update(from: from, count: Self.group)
        from += Self.group
        to += Kernels.lanes
      }
    }
  }
}
