/// The prepared documents of a call: a text that several items share is tokenized once.
struct DocumentCache {
  private struct Key: Hashable {
    let start: UnsafePointer<UInt8>?
    let count: Int
  }

  /// By the text's address: the last item that uses it.
  private var lastUse: [Key: Int] = [:]
  private var prepared: [Key: PreparedDocument] = [:]
  private var tokensKept = 0

  /// Documents beyond this are tokenized again: 50 MB of tokens.
  private static let maxTokensKept = 1 << 22

  init(_ items: [QuestionItem], _ monitor: CallMonitor) throws(BertQAError) {
    guard items.count > 1 else { return }
    let count = items.reduce(0) { $0 + $1.documents.count }
    // Keys and indices, in a table that may be filled to a half and doubles.
    try Memory.require(6 * count, of: Key.self)
    try monitor.holdResult(6 * count, of: Key.self)
    for (index, item) in items.enumerated() {
      if index % 4096 == 0 { try monitor.check() }
      for document in item.documents {
        guard case .text(let text) = document, text.count > 0 else { continue }
        lastUse[Key(start: text.baseAddress, count: text.count)] = index
      }
    }
  }

  /// - Parameter index: the item that uses the document.
  mutating func prepared(
    _ document: QuestionItem.Document, _ index: Int, _ tokenizer: any Tokenizer, keepsSections: Bool,
    _ monitor: CallMonitor
  ) throws(BertQAError) -> PreparedDocument {
    let text: UnsafeBufferPointer<UInt8>
    switch document {
    case .prepared(let document):
      if tokenizer.agrees(with: document.tokenizer) { return document }
      throw BertQAError(
        .invalidArgument, argument: "document",
        "was prepared with another vocabulary: prepare it with the context that is asked")
    case .text(let bytes): text = bytes
    }
    let key = Key(start: text.baseAddress, count: text.count)
    let isLast = lastUse[key].map { $0 == index } ?? true
    if let document = prepared[key] {
      if isLast {
        prepared[key] = nil
        tokensKept -= document.tokenCount
      }
      return document
    }
    let document = try monitor.undoing { () throws(BertQAError) in
      try PreparedDocument(
        borrowing: text, tokenizer: tokenizer, keepsSections: keepsSections && !isLast, monitor)
    }
    if !isLast, tokensKept + document.tokenCount <= Self.maxTokensKept {
      prepared[key] = document
      tokensKept += document.tokenCount
    }
    return document
  }
}
