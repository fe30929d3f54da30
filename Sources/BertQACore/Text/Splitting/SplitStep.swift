/// The treatment of a split's matches.
enum SplitBehavior: String, Sendable, CaseIterable {
  case removed = "Removed"
  case isolated = "Isolated"
  case mergedWithPrevious = "MergedWithPrevious"
  case mergedWithNext = "MergedWithNext"
  case contiguous = "Contiguous"
}

/// The pattern of a split.
protocol SplitPattern: Sendable {
  /// Returns the first match, not empty, that begins at or after `position`, as if the text ended at `end`; nil if
  /// there is none. Linear in the bytes from `position` to the match's end. `position < end`; 16 bytes after `end` are
  /// readable.
  func match(
    in text: UnsafePointer<UInt8>, from position: Int, to end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> (start: Int, end: Int)?
}

/// Splits pre-tokens at the matches of a pattern.
struct SplitStep<Pattern: SplitPattern>: PreTokenizer {
  private let pattern: Pattern
  private let behavior: SplitBehavior
  /// True if the text between matches counts as the match.
  private let inverted: Bool

  init(_ pattern: Pattern, _ behavior: SplitBehavior, inverted: Bool = false) {
    self.pattern = pattern
    self.behavior = behavior
    self.inverted = inverted
  }

  func cut(_ preTokens: inout PreTokens, _ monitor: CallMonitor?) throws(BertQAError) {
    let text = UnsafePointer(preTokens.text.base)
    var poll = TextPoll(monitor)
    for index in 0..<preTokens.ranges.count {
      let preToken = preTokens.ranges[index]
      var cutter = Cutter(behavior)
      var position = Int(preToken.start)
      let end = Int(preToken.end)
      while position < end,
        let match = try pattern.match(in: text, from: position, to: end, &poll)
      {
        if match.start > position {
          try cutter.append(position, match.start, isMatch: inverted, to: &preTokens.newRanges)
        }
        try cutter.append(match.start, match.end, isMatch: !inverted, to: &preTokens.newRanges)
        try poll.read(match.end &- position)
        position = match.end
      }
      if position < end { try cutter.append(position, end, isMatch: inverted, to: &preTokens.newRanges) }
      try cutter.finish(&preTokens.newRanges)
    }
    preTokens.takeNewRanges()
  }
}

/// Makes pre-tokens of matches and the text between them.
private struct Cutter {
  private let behavior: SplitBehavior
  /// Not appended yet, because the next part may be merged with it.
  private var pending: ByteRange?
  private var pendingIsMatch = false

  init(_ behavior: SplitBehavior) { self.behavior = behavior }

  @inline(__always)
  mutating func append(
    _ start: Int, _ end: Int, isMatch: Bool, to ranges: inout GrowableBuffer<ByteRange>
  ) throws(BertQAError) {
    switch behavior {
    case .isolated: try ranges.append(ByteRange(start, end))
    case .removed: if !isMatch { try ranges.append(ByteRange(start, end)) }
    case .mergedWithPrevious, .mergedWithNext, .contiguous:
      let merges =
        switch behavior {
        case .mergedWithPrevious: isMatch && !pendingIsMatch
        case .mergedWithNext: !isMatch && pendingIsMatch
        default: isMatch == pendingIsMatch
        }
      if let first = pending, merges {
        pending = ByteRange(Int(first.start), end)
      } else {
        try finish(&ranges)
        pending = ByteRange(start, end)
      }
      pendingIsMatch = isMatch
    }
  }

  @inline(__always)
  mutating func finish(_ ranges: inout GrowableBuffer<ByteRange>) throws(BertQAError) {
    if let pending { try ranges.append(pending) }
    pending = nil
  }
}

/// Drops white space and makes each punctuation character a pre-token.
struct BertPreTokenizer: PreTokenizer {
  var splitsAsBert: Bool { true }

  func cut(_ preTokens: inout PreTokens, _ monitor: CallMonitor?) throws(BertQAError) {
    try SplitStep(SpacePattern(), .removed).cut(&preTokens, monitor)
    try SplitStep(ClassPattern(.punctuation), .isolated).cut(&preTokens, monitor)
  }
}
