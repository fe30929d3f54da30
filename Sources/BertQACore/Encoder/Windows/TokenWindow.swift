/// A part of a long text's tokens that one window reads.
struct TokenWindow: Sendable, Equatable {
  /// The position among the windows of the whole text.
  let index: Int
  let firstToken: Int
  let tokenCount: Int

  var endToken: Int { firstToken + tokenCount }
  var tokens: Range<Int> { firstToken..<endToken }

  /// Bounds the memory of a window list and its logits: 2³⁰ tokens have 8 GiB of logits.
  static let maxTotalTokens = 1 << 30

  /// Returns windows of `room` tokens, up to the one that reaches the end. Neighbours share `overlap` <
  /// `room` tokens.
  static func layout(
    tokenCount: Int, room: Int, overlap: Int, _ monitor: CallMonitor? = nil
  ) throws(BertQAError) -> [TokenWindow] {
    let step = room - overlap
    let count = 1 + (max(0, tokenCount - room) + step - 1) / step
    let total = count.multipliedReportingOverflow(by: room)
    if total.overflow || (count > 1 && total.partialValue > maxTotalTokens) {
      throw BertQAError(
        .tooLarge,
        "the text's \(tokenCount) tokens make \(count) windows of \(room) tokens, more than "
          + "\(maxTotalTokens) tokens in all: lower doc_stride (\(overlap)) or split the text")
    }
    var windows = try [TokenWindow](checkedCapacity: count, monitor)
    for index in 0..<count {
      if index % CallPoll.elementInterval == 0 { try monitor?.check() }
      let first = index * step
      windows.append(
        TokenWindow(index: index, firstToken: first, tokenCount: min(room, tokenCount - first)))
    }
    return windows
  }
}
