import Foundation
import Testing

@testable import BertQACore

@Suite struct RotaryTableTests {
  /// The cosine and sine of a plane at the token's position, from the angle as floats have it.
  private func turn(_ theta: Double, _ headSize: Int, position: Int, plane: Int) -> (Float, Float) {
    let frequency = 1 / Float(pow(theta, Double(Float(2 * plane) / Float(headSize))))
    let angle = Double(Float(position) * frequency)
    return (Float(cos(angle)), Float(sin(angle)))
  }

  @Test(arguments: [(10_000.0, 8, 13), (160_000, 64, 8192), (1, 2, 5)])
  func anglesAreThoseOfThePositions(theta: Double, headSize: Int, positions: Int) throws {
    let table = try RotaryTable(RotaryPositions(theta: theta), headSize: headSize, positions: positions)
    for first in [0, 4, (positions - 1) & ~3] {
      let tokens = first..<min(first + 4, positions)
      let turns = GuardedBuffer([Float](repeating: 7, count: headSize * 16))
      table.copy(tokens, lane: 8, to: turns.base)
      #expect(turns.isIntact)
      for plane in 0..<headSize / 2 {
        for lane in 0..<16 {
          let found = (turns.base[plane * 32 + lane], turns.base[plane * 32 + 16 + lane])
          // A group of four lanes is written as a whole.
          let position = first + lane - 8
          if !(8..<12).contains(lane) {
            #expect(found == (7, 7))
          } else if position < positions {
            #expect(found == turn(theta, headSize, position: position, plane: plane))
          } else {
            #expect(found.0.isFinite && found.1.isFinite)
          }
        }
      }
    }
  }

  /// A window that begins within a block takes the angles of its own positions.
  @Test func windowsMayBeginAtAnyGroupOfLanes() throws {
    let table = try RotaryTable(RotaryPositions(theta: 100), headSize: 4, positions: 64)
    for lane in [0, 4, 8, 12] {
      let turns = GuardedBuffer([Float](repeating: 0, count: 64))
      table.copy(20..<20 + 16 - lane, lane: lane, to: turns.base)
      for token in lane..<16 {
        let found = (turns.base[32 + token], turns.base[48 + token])
        #expect(found == turn(100, 4, position: 20 + token - lane, plane: 1))
      }
    }
  }
}
