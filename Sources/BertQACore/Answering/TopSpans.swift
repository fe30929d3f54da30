/// The best candidates whose byte ranges do not overlap, taken greedily from the best one down.
///
/// Once a candidate is taken, the others that do not overlap it lie wholly before or after it. So the remaining
/// candidates are always those inside a set of intervals, each of which keeps its best one. This is exact and takes
/// two interval queries per answer.
struct TopSpans {
  struct Taken {
    var span: ScoredSpan
    var bytes: TextRange
  }

  private struct Interval {
    var run: SpanSearch.Run
    var tokens: Range<Int>
    var best: ScoredSpan
  }

  private let search: SpanSearch
  private let document: PreparedDocument
  private let alignsToWords: Bool
  private var intervals: [Interval] = []
  private var taken: [Taken] = []
  /// The tokens of the last candidate taken, as whole words.
  private var lastTokens = 0...0

  init(
    search: SpanSearch, document: PreparedDocument, alignsToWords: Bool, _ monitor: CallMonitor
  ) throws(BertQAError) {
    self.search = search
    self.document = document
    self.alignsToWords = alignsToWords
    for run in search.runs { try add(run.tokens, of: run, monitor) }
  }

  /// Takes the best candidate left; nil if there is none.
  mutating func next(_ monitor: CallMonitor) throws(BertQAError) -> Taken? {
    try monitor.check()
    if let last = taken.last {
      try removeOverlapping(lastTokens.lowerBound, through: lastTokens.upperBound, last.bytes, monitor)
    }
    guard let best = intervals.lazy.map(\.best).min(by: { $0.isBetter(than: $1) }) else { return nil }
    lastTokens = firstToken(best.first)...lastToken(best.last)
    let next = aligned(best, avoiding: taken)
    taken.append(next)
    return next
  }

  /// Returns the best candidate of each window that was read and has one.
  func bestOfWindows(_ monitor: CallMonitor) throws(BertQAError) -> [ScoredSpan] {
    var found: [ScoredSpan] = []
    var run = 0
    for (index, window) in search.logits.windows.enumerated() where window.tokenCount > 0 {
      while window.firstToken >= search.runs[run].tokens.upperBound { run += 1 }
      // The best candidate for tokens that two windows share may be the other window's.
      let best = try search.best(in: window.tokens, of: search.runs[run], monitor)
      if let best, best.window == index { found.append(best) }
    }
    return found
  }

  /// Returns a candidate as an answer, which may not extend into those in `taken`.
  func aligned(_ span: ScoredSpan, avoiding taken: [Taken] = []) -> Taken {
    let bytes = document.bytes(ofTokens: firstToken(span.first), through: lastToken(span.last))
    return Taken(span: span, bytes: wholeExpressions(around: bytes, taken))
  }

  private mutating func add(
    _ tokens: Range<Int>, of run: SpanSearch.Run, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try monitor.check()
    guard let best = try search.best(in: tokens, of: run, monitor) else { return }
    intervals.append(Interval(run: run, tokens: tokens, best: best))
  }

  /// Completes expressions cut at its edges and leaves out stray marks, unless that would overlap what is taken.
  private func wholeExpressions(around bytes: TextRange, _ taken: [Taken]) -> TextRange {
    guard alignsToWords else { return bytes }
    var edges = TextEdges(text: document.text)
    let finder = ExpressionFinder(text: TextBytes(bytes: document.text))
    let whole = edges.visible(finder.withoutStrayMarks(finder.extended(bytes)))
    let overlaps =
      whole != bytes && taken.contains { $0.bytes.start < whole.end && whole.start < $0.bytes.end }
    return overlaps ? bytes : whole
  }

  /// Cuts out all tokens whose candidates would overlap `bytes`, which hold the aligned tokens `first`
  /// through `last`.
  private mutating func removeOverlapping(
    _ first: Int, through last: Int, _ bytes: TextRange, _ monitor: CallMonitor
  ) throws(BertQAError) {
    // Words may share bytes where one character makes several of them.
    var low = first
    while low > 0, word(of: low - 1).end > bytes.start { low = firstToken(low - 1) }
    var high = last + 1
    while high < document.tokenCount, word(of: high).start < bytes.end { high = lastToken(high) + 1 }
    let touched = intervals.filter { $0.tokens.overlaps(low..<high) }
    intervals.removeAll { $0.tokens.overlaps(low..<high) }
    for interval in touched {
      try add(interval.tokens.clamped(to: 0..<low), of: interval.run, monitor)
      try add(interval.tokens.clamped(to: high..<Int.max), of: interval.run, monitor)
    }
  }

  private func firstToken(_ token: Int) -> Int {
    alignsToWords ? document.firstTokenOfWord(token) : token
  }

  private func lastToken(_ token: Int) -> Int {
    alignsToWords ? document.lastTokenOfWord(token) : token
  }

  private func word(of token: Int) -> TextRange {
    document.bytes(ofTokens: firstToken(token), through: lastToken(token))
  }
}
