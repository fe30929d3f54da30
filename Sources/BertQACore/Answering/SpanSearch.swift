/// A candidate: the document tokens `first` through `last`, with the best score over the windows that hold
/// both, and the (first) window that gives it.
struct ScoredSpan: Equatable {
  var score: Float
  var first: Int
  var last: Int
  var window: Int

  /// Higher scores first; of equals the earlier, then the shorter.
  func isBetter(than other: ScoredSpan) -> Bool {
    if score != other.score { return score > other.score }
    return (first, last) < (other.first, other.last)
  }
}

/// Finds the best candidate inside any interval of the document.
///
/// Candidates are the spans of at most `maxLength` tokens that lie in one window. The best score of each
/// start token is computed once, O(tokens · maxLength); a query then takes O(interval + maxLength²).
/// Only spans with a token that has content are candidates, and of those aligned to words only spans without a blank line.
struct SpanSearch {
  /// Consecutive tokens that the windows read so far cover without a gap. No candidate crosses its borders.
  struct Run {
    var tokens: Range<Int>
    /// Where its tokens begin in `rowMaxima`.
    var firstRow: Int
  }

  let logits: WindowLogits
  let maxLength: Int
  private(set) var runs: [Run] = []
  /// The best score of the candidates that start at a token; -∞ if none does.
  private var rowMaxima: [Float] = []
  /// Where the candidates of each start end. Empty if every span is a candidate.
  private var ends: [Ends] = []
  /// The best score of all spans, candidates or not; -∞ if there is none.
  private(set) var highestScore = -Float.infinity

  /// The last tokens of a start's candidates, counted from the start: at least the first token with content, and less
  /// than the first token after a boundary.
  private struct Ends {
    var content = Int32.max
    var boundary = Int32.max
  }

  /// - Parameters:
  ///   - document: whose tokens have content; nil: every span is a candidate.
  ///   - alignsToWords: true if a token has the content of its word, and no candidate crosses a blank line or a line
  ///     break that ends a sentence. Otherwise anything but white space is content.
  init(
    logits: WindowLogits, maxLength: Int, document: PreparedDocument? = nil, alignsToWords: Bool = true,
    _ monitor: CallMonitor
  ) throws(BertQAError) {
    self.logits = logits
    self.maxLength = maxLength
    var rowCount = 0
    for window in logits.windows {
      try runs.makeRoom(for: 1, monitor)
      if let run = runs.last, window.firstToken <= run.tokens.upperBound {
        runs[runs.count - 1].tokens = run.tokens.lowerBound..<window.endToken
        rowCount += window.endToken - run.tokens.upperBound
      } else {
        runs.append(Run(tokens: window.firstToken..<window.endToken, firstRow: rowCount))
        rowCount += window.tokenCount
      }
    }
    rowMaxima = try [Float](repeating: -.infinity, count: rowCount, monitor)
    try fillRowMaxima(monitor)
    highestScore = rowMaxima.max() ?? -.infinity
    guard let document else { return }
    ends = try [Ends](repeating: Ends(), count: rowCount, monitor)
    for run in runs {
      try fillEnds(of: run, document, alignsToWords, monitor)
      try leaveOutOtherEnds(of: run, monitor)
    }
  }

  /// Proceeds word by word from the end, because an answer has whole words.
  private mutating func fillEnds(
    of run: Run, _ document: PreparedDocument, _ alignsToWords: Bool, _ monitor: CallMonitor
  ) throws(BertQAError) {
    let shift = run.firstRow - run.tokens.lowerBound
    let finder = SentenceFinder(text: document.text)
    var last = run.tokens.upperBound - 1
    var content: Int?
    var boundary: Int?
    // The start of the next word that has bytes.
    var nextWord: Int?
    while last >= run.tokens.lowerBound {
      try monitor.check()
      let first = alignsToWords ? document.firstTokenOfWord(last) : last
      let bytes = document.bytes(
        ofTokens: first, through: alignsToWords ? document.lastTokenOfWord(last) : last)
      if alignsToWords, bytes.count > 0 {
        // Words may share bytes where one character makes several of them.
        if let nextWord, bytes.end < nextWord, finder.hasBoundary(in: bytes.end..<nextWord) {
          boundary = last + 1
        }
        nextWord = bytes.start
      }
      let hasContent =
        alignsToWords ? try AnswerContent.isPresent(in: bytes, of: document.text, monitor) : bytes.count > 0
      for token in (max(first, run.tokens.lowerBound)...last).reversed() {
        if hasContent { content = token }
        if let content { ends[token + shift].content = Int32(clamping: content - token) }
        if let boundary { ends[token + shift].boundary = Int32(clamping: boundary - token) }
      }
      last = first - 1
    }
  }

  /// Corrects the scores of the starts from which not every span is a candidate.
  private mutating func leaveOutOtherEnds(of run: Run, _ monitor: CallMonitor) throws(BertQAError) {
    let shift = run.firstRow - run.tokens.lowerBound
    for token in run.tokens {
      let ends = ends[token + shift]
      if ends.content == 0, ends.boundary >= maxLength { continue }
      try monitor.check()
      rowMaxima[token + shift] =
        bestSpan(from: token, of: run, limit: run.tokens.upperBound)?.score ?? -.infinity
    }
  }

  /// Proceeds by diagonals (spans of one length), so that the inner loop is a vector operation.
  private mutating func fillRowMaxima(_ monitor: CallMonitor) throws(BertQAError) {
    let logits = logits
    var run = 0
    for (index, window) in logits.windows.enumerated() {
      try monitor.check()
      while window.firstToken >= runs[run].tokens.upperBound { run += 1 }
      let row = runs[run].firstRow + window.firstToken - runs[run].tokens.lowerBound
      let offset = logits.offsets[index]
      rowMaxima.withUnsafeMutableBufferPointer { maxima in
        logits.start.withUnsafeBufferPointer { start in
          logits.end.withUnsafeBufferPointer { end in
            guard let maxima = maxima.baseAddress, let start = start.baseAddress,
              let end = end.baseAddress
            else { return }
            for distance in 0..<min(maxLength, window.tokenCount) {
              maximize(
                maxima + row, start + offset, end + offset + distance,
                count: window.tokenCount - distance)
            }
          }
        }
      }
    }
  }

  /// The best candidate that lies in `interval`, which must lie in `run`. nil if there is none.
  func best(
    in interval: Range<Int>, of run: Run, _ monitor: CallMonitor
  ) throws(BertQAError) -> ScoredSpan? {
    guard !interval.isEmpty else { return nil }
    // The end of the interval cuts candidates of the last starts only.
    let cut = max(interval.lowerBound, interval.upperBound - (maxLength - 1))
    var best: ScoredSpan?
    if let first = try firstMaximum(in: interval.lowerBound..<cut, of: run, monitor) {
      best = bestSpan(from: first, of: run, limit: interval.upperBound)
    }
    for first in cut..<interval.upperBound {
      try monitor.check()
      if let span = bestSpan(from: first, of: run, limit: interval.upperBound),
        best.map(span.isBetter(than:)) ?? true
      {
        best = span
      }
    }
    return best
  }

  /// The first of the starts in `interval` with the highest maximum.
  private func firstMaximum(
    in interval: Range<Int>, of run: Run, _ monitor: CallMonitor
  ) throws(BertQAError) -> Int? {
    try rowMaxima.withElements { maxima throws(BertQAError) in
      let shift = run.firstRow - run.tokens.lowerBound
      var best = -Float.infinity
      var position: Int?
      var begin = interval.lowerBound
      while begin < interval.upperBound {
        let end = min(interval.upperBound, begin + CallPoll.elementInterval)
        for token in begin..<end where maxima[token + shift] > best {
          best = maxima[token + shift]
          position = token
        }
        begin = end
        try monitor.check()
      }
      return position
    }
  }

  /// The best candidate that starts at `first` and ends before `limit`.
  private func bestSpan(from first: Int, of run: Run, limit: Int) -> ScoredSpan? {
    var best: ScoredSpan?
    let ends = ends.isEmpty ? Ends(content: 0) : ends[first + run.firstRow - run.tokens.lowerBound]
    let length = min(maxLength, Int(ends.boundary))
    let distance = Int(ends.content)
    guard distance < length else { return nil }
    for index in logits.windows(containing: first) {
      let window = logits.windows[index]
      let shift = logits.offsets[index] - window.firstToken
      let start = logits.start[first + shift]
      let end = min(first + length, limit, window.endToken)
      guard first + distance < end else { continue }
      for last in (first + distance)..<end {
        let score = start + logits.end[last + shift]
        let span = ScoredSpan(score: score, first: first, last: last, window: index)
        if span.score > -.infinity, best.map(span.isBetter(than:)) ?? true { best = span }
      }
    }
    return best
  }
}

/// maxima[i] = max(maxima[i], start[i] + end[i]). The logits hold no NaN.
@inline(__always)
func maximize(
  _ maxima: UnsafeMutablePointer<Float>, _ start: UnsafePointer<Float>, _ end: UnsafePointer<Float>,
  count: Int
) {
  var i = 0
  while i < count {
    let score = start[i] + end[i]
    maxima[i] = score > maxima[i] ? score : maxima[i]
    i &+= 1
  }
}
