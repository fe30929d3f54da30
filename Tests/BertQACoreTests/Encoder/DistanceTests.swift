import Foundation
import Testing

@testable import BertQACore

/// Attention that knows of distances, beside what the tests of all families compare.
@Suite struct DistanceTests {
  @Test(arguments: instructionSets)
  func logitsAreThoseOfTransformers(isa: Int32) throws {
    for name in ["tiny-mpnet", "tiny-deberta"] {
      let tiny = try TinyModel(name)
      let encoder = try #require(try tiny.encoder(isa: isa))
      for set in tiny.sets {
        let logits = try encoder.logits(of: WindowBatch(set))
        let found = logits.start + logits.end
        let expected = set.flatMap(\.start) + set.flatMap(\.end)
        let difference = zip(found, expected).map { abs($0 - $1) }.max() ?? 0
        #expect(difference < 1e-4, "\(name), isa \(isa), \(set.map(\.ids.count))")
      }
    }
  }
}
