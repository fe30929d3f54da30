import Foundation
import Testing

@testable import BertQACore

/// The shipped model, from this checkout.
private let shakespeare = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("models/shakespeare-lstm").path

@Suite struct DefaultSequenceModelTests {
  @Test(
    arguments: [
      ("O Romeo", ", Romeo , brave Mercutio's dead , That gallant spirit hath aspir'd the clouds , And turn'd that "
        + "black death , going in the bottom of my course Direct my suit ."),
      ("But soft", ", what news ?"), ("Good night", ", good night ."),
    ], instructionSets)
  func greedyContinuationsAreThoseOfPyTorch(prompt: (String, String), isa: Int32) throws {
    var options = ContextOptions()
    options.instructionSet = try #require(InstructionSet(rawValue: isa))
    let context = try Context(modelDirectory: shakespeare, options: options)
    let generation = try context.generate(prompt: prompt.0)
    #expect(generation.text == prompt.1)
    #expect(generation.stop == .end && generation.unknownCount == 0)
  }
}
