import Glibc

/// The best spans of all documents of a question, as one list in which no answer occurs twice.
///
/// Answers are equal if their texts are, ignoring case, white space, and punctuation at the ends. The best answer of
/// several sections has the score T · ln Σ exp(score / T) over these sections, with the softmax's temperature T, so
/// that its share of the softmax is the sum of theirs. Other equal spans are omitted.
struct FoundAnswers {
  /// A document's spans.
  struct Source {
    let document: Int
    let text: UnsafeBufferPointer<UInt8>
    var spans: TopSpans
  }

  struct Entry {
    let document: Int
    let span: TopSpans.Taken
    /// The span's score, raised by its equals in other sections.
    var score: Float
    /// nil if the answer has no equals.
    fileprivate let text: String?
  }

  /// Best first; no two of one document overlap.
  private(set) var entries: [Entry] = []
  private var sources: [Source]
  /// nil if equal answers are kept.
  private let temperature: Double?
  /// The best spans of the best sections, which support their equals.
  private var supporting: [Entry] = []
  private var supportingTexts: [String: [Int]] = [:]

  /// The number of sections that can support an answer: only the best, because scores count exponentially.
  private static let mostSupporting = 50
  /// Longer answers are never equal to others.
  private static let longestText = 512

  /// - Parameters:
  ///   - sources: in the order of the documents.
  ///   - count: the number of answers.
  ///   - temperature: that of the softmax over all spans; nil keeps equal answers.
  init(
    _ sources: [Source], _ count: Int, temperature: Double?, _ monitor: CallMonitor
  ) throws(BertQAError) {
    self.sources = sources
    self.temperature = temperature
    if temperature != nil { try findSupporting(monitor) }
    try takeSpans(count, monitor)
    guard temperature != nil else { return }
    support(count)
  }

  private mutating func findSupporting(_ monitor: CallMonitor) throws(BertQAError) {
    var bests: [(source: Int, span: ScoredSpan)] = []
    for (index, source) in sources.enumerated() {
      for span in try source.spans.bestOfWindows(monitor) {
        try bests.makeRoom(for: 1, monitor)
        bests.append((index, span))
      }
    }
    let order = try bests.indices.checkedSorted(CallPoll(monitor)) {
      (bests[$0].span.score, $1) > (bests[$1].span.score, $0)
    }
    for (number, index) in order.prefix(Self.mostSupporting).enumerated() {
      let best = entry(bests[index].source, sources[bests[index].source].spans.aligned(bests[index].span))
      supporting.append(best)
      if let text = best.text { supportingTexts[text, default: []].append(number) }
    }
  }

  /// Takes the best spans of all documents; of equal ones, the best.
  private mutating func takeSpans(_ count: Int, _ monitor: CallMonitor) throws(BertQAError) {
    // The first change copies the array, which the caller has, too.
    try Memory.require(sources.count, of: Source.self)
    try monitor.hold(sources.count, of: Source.self)
    var heads = try [TopSpans.Taken?](checkedCapacity: sources.count, monitor)
    for index in sources.indices {
      try Memory.requireReserve(atItem: index)
      heads.append(try sources[index].spans.next(monitor))
    }
    var known: Set<String> = []
    // A text may consist of equal answers.
    for _ in 0..<(temperature == nil ? count : 2 * count + Self.mostSupporting) where entries.count < count {
      var best: Int?
      for (index, head) in heads.enumerated() {
        guard let head else { continue }
        if let other = best.flatMap({ heads[$0] }), head.span.score <= other.span.score { continue }
        best = index
      }
      guard let best, let head = heads[best] else { break }
      heads[best] = try sources[best].spans.next(monitor)
      let found = entry(best, head)
      if let text = found.text, !known.insert(text).inserted { continue }
      entries.append(found)
    }
  }

  /// Raises the answers that are the best of several sections, and sorts again.
  private mutating func support(_ count: Int) {
    let known = Set(entries.compactMap(\.text))
    entries = entries.map { entry in
      guard let group = entry.text.flatMap(group), group.score >= entry.score else { return entry }
      return group
    }
    for (number, best) in supporting.enumerated() {
      guard let text = best.text, supportingTexts[text]?.first == number, !known.contains(text),
        let group = group(text)
      else { continue }
      entries.append(group)
    }
    var best: [Entry] = []
    for index in rankedIndices(of: entries.map(\.score)) where best.count < count {
      let entry = entries[index]
      // Neighbouring sections may share a long sentence.
      let overlaps = best.contains {
        $0.document == entry.document && $0.span.bytes.start < entry.span.bytes.end
          && entry.span.bytes.start < $0.span.bytes.end
      }
      if !overlaps { best.append(entry) }
    }
    entries = best
  }

  /// Returns the answer with this text if it is the best of several sections: the first one, with the score of all.
  private func group(_ text: String) -> Entry? {
    guard let temperature, let equals = supportingTexts[text], equals.count > 1 else { return nil }
    var best = supporting[equals[0]]
    let sum = equals.reduce(0) { $0 + exp(Double(supporting[$1].score - best.score) / temperature) }
    best.score += Float(temperature * log(sum))
    return best
  }

  private func entry(_ source: Int, _ span: TopSpans.Taken) -> Entry {
    let source = sources[source]
    return Entry(
      document: source.document, span: span, score: span.span.score,
      text: temperature == nil ? nil : Self.normalized(span.bytes, of: source.text))
  }

  /// Returns the text by which answers are compared; nil for a long one.
  static func normalized(_ bytes: TextRange, of text: UnsafeBufferPointer<UInt8>) -> String? {
    guard bytes.count <= longestText else { return nil }
    let text = String(decoding: text[bytes.start..<bytes.end], as: UTF8.self).lowercased()
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let punctuation = "\"'()[]{}.,;:!?\u{2018}\u{2019}\u{201C}\u{201D}\u{AB}\u{BB}\u{2026}"
    let inner = words.drop { punctuation.contains($0) }
    guard let last = inner.lastIndex(where: { !punctuation.contains($0) }) else { return words }
    return String(inner[...last])
  }
}
