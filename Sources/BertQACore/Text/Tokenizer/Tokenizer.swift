/// What question answering needs of a tokenizer. `WordPieceTokenizer` is the one that ships.
protocol TextTokenizer: AnyObject, Sendable {
  var clsID: Int32 { get }
  var sepID: Int32 { get }
  var unkID: Int32 { get }

  /// Fills `tokens`, which is empty, with those of `text`, in order: starts and ends never decrease.
  func tokenize(
    _ text: UnsafeBufferPointer<UInt8>, parseSpecialTokens: Bool, into tokens: inout Tokens,
    _ monitor: CallMonitor?
  ) throws(BertQAError)

  /// The vocabulary entry of `id`, `##` included. Called for a few tokens of a question, never in a loop
  /// over a document.
  func piece(of id: Int32) -> [UInt8]

  /// A piece that goes on with the word of the piece before it: `##ing`.
  func isContinuation(_ id: Int32) -> Bool

  /// Whether `other` gives the same ids and ranges for every text.
  func agrees(with other: any TextTokenizer) -> Bool
}

extension TextTokenizer {
  func agrees(with other: any TextTokenizer) -> Bool { self === other }

  func isContinuation(_ id: Int32) -> Bool {
    piece(of: id).starts(with: Array("##".utf8))
  }

  /// A piece that says nothing about what a question is after: [UNK], or a punctuation character, which
  /// WordPiece always makes a word of its own.
  func isUninformative(_ id: Int32) -> Bool {
    if id == unkID || id == clsID || id == sepID { return true }
    let scalars = String(decoding: piece(of: id), as: UTF8.self).unicodeScalars
    guard let scalar = scalars.first, scalars.count == 1 else { return false }
    switch scalar.properties.generalCategory {
    case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
      .initialPunctuation, .finalPunctuation, .otherPunctuation:
      return true
    default:
      // BERT counts every ASCII symbol as punctuation.
      return scalar.isASCII && !scalar.properties.isAlphabetic && !("0"..."9").contains(scalar)
    }
  }
}
