/// The division of texts of any length into windows of the model.
struct WindowLayout: Sendable {
  /// How a text that does not fit in one window is divided.
  enum Division: Equatable {
    /// At the ends of the sections that `TextSections` finds. Neighbours share up to `overlap` tokens inside a
    /// sentence that is longer than a window.
    case sections(overlap: Int)
    /// Neighbours share `overlap` tokens, as in Hugging Face's pipelines.
    case strides(overlap: Int)
    /// Tokens that do not fit in one window are cut off at the end of the text, or at its start.
    case truncated(atStart: Bool)
  }

  /// The maximum number of tokens in a window, including special tokens; 8 or more.
  var maxSequenceLength: Int
  let division: Division
  let template: Template

  /// For tasks that read texts of any length. nil: `defaultLength`, or as many tokens as the model takes; sections.
  init(
    maxSequenceLength: Int?, defaultLength: Int? = nil, documentStride: Int?, maxPositions: Int,
    template: Template
  ) throws(BertQAError) {
    let length = try Self.length(maxSequenceLength, default: defaultLength ?? maxPositions, maxPositions)
    if let documentStride {
      let room = try Self.room(length: length, template, isPair: false)
      try Self.check(
        stride: documentStride, max: room - 1,
        "max_seq_len \(length) less \(length - room) special tokens and one new token of the text")
    }
    self.init(
      maxSequenceLength: length,
      division: documentStride.map { .strides(overlap: $0) }
        ?? .sections(overlap: Self.defaultOverlap(length: length)),
      template: template)
  }

  init(maxSequenceLength: Int, division: Division, template: Template) {
    self.maxSequenceLength = maxSequenceLength
    self.division = division
    self.template = template
  }

  static func check(stride: Int, max: Int, _ why: String) throws(BertQAError) {
    guard stride < 0 || stride > max else { return }
    throw BertQAError(
      .invalidArgument, argument: "doc_stride", "is \(stride), but must be 0 to \(max) (\(why))")
  }

  /// Returns the number of tokens that special tokens leave to a window's texts: at least one for each.
  static func room(length: Int, _ template: Template, isPair: Bool) throws(BertQAError) -> Int {
    let special = template.specialCount(isPair: isPair)
    let least = special + (isPair ? 2 : 1)
    guard length >= least else {
      throw BertQAError(
        .invalidArgument, argument: "max_seq_len",
        "is \(length), of which special tokens take \(special), but must be at least \(least)")
    }
    return length - special
  }

  static let minimumLength = 8

  /// The overlap if the caller does not set one: 128 tokens, as in Hugging Face's pipeline, or a third of a
  /// shorter window.
  static func defaultOverlap(length: Int) -> Int { min(128, length / 3) }

  /// A window's length: the caller's choice or the default, lowered to the model's maximum.
  static func length(
    _ wanted: Int?, default: Int, _ maxPositions: Int
  ) throws(BertQAError) -> Int {
    let length = min(wanted ?? `default`, maxPositions)
    if length >= minimumLength { return length }
    throw BertQAError(
      .invalidArgument, argument: "max_seq_len",
      "is \(length)\(wanted == nil ? " in the model's files" : ""), but must be at least \(minimumLength)"
        + (maxPositions == .max ? "" : "; the model takes \(maxPositions)"))
  }

  /// The tokens of a text and of its second text that one window reads.
  struct Parts: Equatable {
    var first: Range<Int>
    var second: Range<Int>?
  }

  /// Returns the windows, at least one, of a text or a pair of texts.
  ///
  /// If a pair does not fit, every window has the whole shorter text and a part of the longer one. If the
  /// shorter text takes more than half of the window, each window has a part of both in its halves, and the
  /// text with fewer parts starts again at its first. So everything is read, in time linear in the lengths.
  /// Truncation is Hugging Face's "longest_first".
  func parts(
    first: TokenizedText, second: TokenizedText?, _ monitor: CallMonitor? = nil
  ) throws(BertQAError) -> [Parts] {
    let room = try Self.room(length: maxSequenceLength, template, isPair: second != nil)
    guard let second else {
      let ranges = try windows(first, room: room, monitor)
      try Self.hold(ranges.count, of: Parts.self, monitor)
      defer { Self.release(ranges.count, of: Range<Int>.self, monitor) }
      return ranges.map { Parts(first: $0) }
    }
    let shorter = min(first.count, second.count, room / 2)
    let (firstRoom, secondRoom) =
      first.count <= second.count ? (shorter, room - shorter) : (room - shorter, shorter)
    let firsts = try windows(first, room: firstRoom, monitor)
    let seconds = try windows(second, room: secondRoom, monitor)
    try Memory.require(max(firsts.count, seconds.count), of: Parts.self)
    try Self.hold(max(firsts.count, seconds.count), of: Parts.self, monitor)
    defer {
      Self.release(firsts.count, of: Range<Int>.self, monitor)
      Self.release(seconds.count, of: Range<Int>.self, monitor)
    }
    return (0..<max(firsts.count, seconds.count)).map {
      Parts(first: firsts[$0 % firsts.count], second: seconds[$0 % seconds.count])
    }
  }

  /// The ranges of more than one window remain charged to the monitor.
  private func windows(
    _ text: TokenizedText, room: Int, _ monitor: CallMonitor?
  ) throws(BertQAError) -> [Range<Int>] {
    let before = monitor?.heldBytes ?? 0
    let windows = try TokenWindow.layout(text, room: room, division, sections: nil, monitor)
    // The ranges of both texts, and the parts made of them.
    try Memory.require(2 * windows.count, of: Parts.self)
    if let monitor { monitor.release(monitor.heldBytes - before) }
    try Self.hold(windows.count, of: Range<Int>.self, monitor)
    return windows.map(\.tokens)
  }

  /// A text's only window is a small object.
  private static func hold<Element>(
    _ count: Int, of type: Element.Type, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    if count > 1 { try monitor?.hold(count, of: type) }
  }

  private static func release<Element>(_ count: Int, of type: Element.Type, _ monitor: CallMonitor?) {
    if count > 1 { monitor?.release(count * MemoryLayout<Element>.stride) }
  }
}
