/// The document tokens of one window.
struct DocumentWindow: Sendable, Equatable {
  /// Position among the windows of the whole document.
  let index: Int
  let firstToken: Int
  let tokenCount: Int

  var endToken: Int { firstToken + tokenCount }

  /// Bounds what a window list and its logits can take: 2³⁰ tokens are 8 GiB of logits.
  static let maxTotalTokens = 1 << 30

  /// Windows of `room` tokens, neighbours sharing `overlap` < `room`, up to the one that reaches the end.
  static func layout(
    tokenCount: Int, room: Int, overlap: Int
  ) throws(BertQAError) -> [DocumentWindow] {
    let step = room - overlap
    let count = 1 + (max(0, tokenCount - room) + step - 1) / step
    let total = count.multipliedReportingOverflow(by: room)
    if total.overflow || (count > 1 && total.partialValue > maxTotalTokens) {
      throw BertQAError(
        .tooLarge,
        "the document's \(tokenCount) tokens make \(count) windows of \(room) tokens, more than "
          + "\(maxTotalTokens) tokens in all: lower doc_stride (\(overlap)) or split the document")
    }
    var windows: [DocumentWindow] = []
    windows.reserveCapacity(count)
    for index in 0..<count {
      let first = index * step
      windows.append(
        DocumentWindow(index: index, firstToken: first, tokenCount: min(room, tokenCount - first)))
    }
    return windows
  }
}
