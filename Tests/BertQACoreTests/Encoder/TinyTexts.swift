import Foundation

@testable import BertQACore

/// Texts and what transformers or sentence-transformers makes of them, for a checkpoint of Fixtures/
/// (generate-tiny-models.py, generate-tiny-families.py).
struct TinyTexts: Decodable {
  var texts: [[String?]]
  /// Logits or a vector of each text.
  var outputs: [[Float]]

  init(_ name: String) throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: TinyModel.path(name) + "/expected.json"))
    self = try JSONDecoder().decode(Self.self, from: data)
  }
}

/// Texts with what may follow them, as the core takes them.
func withPairs<Result>(
  _ texts: [(String, String?)], _ body: ([TextPair]) throws -> Result
) rethrows -> Result {
  var bytes: [UInt8] = []
  // A byte between texts, so that an empty one has an address too.
  let ranges = texts.map { first, second in
    [first, second].map { text -> Range<Int>? in
      guard let text else { return nil }
      bytes += text.utf8
      bytes.append(0)
      return bytes.count - 1 - text.utf8.count..<bytes.count - 1
    }
  }
  return try bytes.withUnsafeBufferPointer { buffer in
    func slice(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> { .init(rebasing: buffer[range]) }
    return try body(ranges.map { TextPair(text: slice($0[0] ?? 0..<0), second: $0[1].map(slice)) })
  }
}

/// Splits [rows][width].
func rows(_ values: [Float], width: Int) -> [[Float]] {
  stride(from: 0, to: values.count, by: width).map { Array(values[$0..<$0 + width]) }
}

/// The largest difference; infinite where one of them is not a number or they differ in shape.
func distance(_ left: [[Float]], _ right: [[Float]]) -> Float {
  guard left.map(\.count) == right.map(\.count) else { return .infinity }
  return zip(left.joined(), right.joined()).map { abs($0 - $1) }
    .reduce(0) { $1 >= $0 ? $1 : $1.isNaN ? .infinity : $0 }
}

extension Context {
  /// A checkpoint of Fixtures/ in f32.
  convenience init(
    tiny name: String, threads: Int = 1, isa: InstructionSet = .auto, precision: Precision = .f32
  ) throws {
    var options = ContextOptions()
    options.threads = threads
    options.instructionSet = isa
    options.precision = precision
    try self.init(modelDirectory: TinyModel.path(name), options: options)
  }

  static let instructionSets = InstructionSet.allCases.filter { Kernels(isa: $0.rawValue) != nil }
}
