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

  /// Returns the windows of a text, at least one.
  /// - Parameter sections: those of the text, if they are known.
  static func layout(
    _ text: TokenizedText, room: Int, _ division: WindowLayout.Division, sections: TextSections?,
    _ monitor: CallMonitor?
  ) throws(BertQAError) -> [TokenWindow] {
    if text.count <= room { return [TokenWindow(index: 0, firstToken: 0, tokenCount: text.count)] }
    switch division {
    case .truncated(let atStart):
      return [TokenWindow(index: 0, firstToken: atStart ? text.count - room : 0, tokenCount: room)]
    case .strides(let overlap):
      guard overlap < room else {
        throw BertQAError(
          .invalidArgument, argument: "doc_stride",
          "is \(overlap), but the other text and the special tokens leave \(room) tokens of a window to this one, so "
            + "it must be below that: lower doc_stride or raise max_seq_len")
      }
      return try layout(tokenCount: text.count, room: room, overlap: overlap, monitor)
    case .sections(let overlap):
      if text.count > maxTotalTokens {
        throw BertQAError(
          .tooLarge, "the text has \(text.count) tokens, more than \(maxTotalTokens): split it")
      }
      let sections = if let sections { sections } else { try TextSections(text, monitor) }
      let ranges = try sections.ranges(of: text, room: room, overlap: overlap, monitor)
      return try ranges.indices.checkedMap(monitor.map { CallPoll($0) }) {
        TokenWindow(index: $0, firstToken: ranges[$0].lowerBound, tokenCount: ranges[$0].count)
      }
    }
  }

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
