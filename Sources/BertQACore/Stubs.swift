// Stand-ins for the branch `text`.
struct Vocabulary: Sendable {
  let pieces: [[UInt8]]

  init(pieces: [[UInt8]]) throws(BertQAError) { self.pieces = pieces }

  init(vocabularyFile: UnsafeBufferPointer<UInt8>) throws(BertQAError) {
    pieces = vocabularyFile.split(separator: 10).map { Array($0) }
  }

  var count: Int { pieces.count }
}

public struct TokenizerConfiguration: Sendable, Equatable {
  public var lowercase = true
  public var stripAccents: Bool?
  public var tokenizeChineseCharacters = true
  public var unkToken = "[UNK]"
  public var sepToken = "[SEP]"
  public var padToken = "[PAD]"
  public var clsToken = "[CLS]"
  public var maskToken = "[MASK]"

  public init() {}
}
