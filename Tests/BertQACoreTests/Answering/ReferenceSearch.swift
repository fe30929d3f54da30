import Foundation

@testable import BertQACore

/// Finds the expected result by trying every span.
struct ReferenceSearch {
  struct Found: Equatable {
    var bytes: TextRange
    var score: Float
    var gap: Float
    var probability: Double
  }

  var found: [Found] = []
  /// Of the best answer's section, or of all windows.
  var nullScore = Float.infinity
  var noAnswerProbability = 0.0
  var threshold = 0.0
  var windowCount = 0
  var stop = ReadingStop.all

  /// A span's scores in the window where it compares best.
  private struct Scores {
    var compared: Float
    var raw: Float
    var null: Float
    var window: Int
  }

  /// A span that may be an answer.
  private struct Candidate {
    /// Of its tokens.
    var tokens: TextRange
    /// Without the dot of the sentence before.
    var bytes: TextRange
    var text: String
    var scores: Scores
  }

  private struct Asked {
    let question: Tokens
    let tokens: Tokens
    let isSameWord: [Bool]
    let windows: [Range<Int>]
    /// By window.
    let penalties: [Float]
    let comparesRawScores: Bool
    let tokenizer: FakeTokenizer
    let model: FakeModel
    let options: AnswerOptions
    let decision: AnswerDecision
    let document: String
  }

  init(
    question: String, document: String, _ tokenizer: FakeTokenizer, _ model: FakeModel,
    _ options: AnswerOptions, _ decision: AnswerDecision
  ) throws {
    let asked = try Self.tokens(question, tokenizer)
    let tokens = try Self.tokens(document, tokenizer)
    let length = options.maxSequenceLength ?? 384
    let room = length - asked.ids.count - 3
    let windows = try Self.windows(document, tokens, tokenizer, room: room, length: length, options)
    // Sections and their ranking have their own tests.
    let sections = windows.enumerated().map {
      DocumentSection(
        document: 0, window: TokenWindow(index: $0, firstToken: $1.lowerBound, tokenCount: $1.count))
    }
    let scores = try Array(document.utf8).withUnsafeBufferPointer { text in
      try Array(question.utf8).withUnsafeBufferPointer {
        try SectionRanking(question: $0).scores(
          of: sections, texts: [TokenizedText(text: text, tokens: tokens, tokenizer: tokenizer)])
      }
    }
    let order = windows.indices.sorted { (scores[$0], $1) > (scores[$1], $0) }
    let best = scores.max() ?? 0
    let input = Asked(
      question: asked, tokens: tokens,
      isSameWord: Array(document.utf8).withUnsafeBufferPointer { text in
        tokens.ids.indices.map { tokenizer.continuesWord($0, of: tokens, in: text) }
      },
      windows: windows, penalties: scores.map { best > 0 ? 3 * Float(1 - $0 / best) : 0 },
      comparesRawScores: options.documentStride != nil || windows.count == 1, tokenizer: tokenizer,
      model: model,
      options: options, decision: decision, document: document)
    let readsAll =
      options.maxWindows < 0 || options.maxWindows == 0 && (options.documentStride != nil || best == 0)
    var count =
      readsAll
      ? windows.count
      : options.maxWindows > 0 ? min(options.maxWindows, windows.count) : min(3, windows.count)
    // Of each doubling beyond 64, three more.
    var most = 7
    var size = 128
    while size <= windows.count { (most, size) = (most + 3, size * 2) }
    while true {
      search(input, read: order.prefix(count).sorted())
      if readsAll || options.maxWindows > 0 { break }
      if count == min(most, windows.count) { break }
      if (found.first?.gap ?? -.infinity) >= 1 - input.penalties[order[count]] { break }
      count = min(count + 3, most, windows.count)
    }
    windowCount = count
    stop = count == windows.count ? .all : options.maxWindows > 0 || count == most ? .limit : .enough
  }

  private static func windows(
    _ document: String, _ tokens: Tokens, _ tokenizer: FakeTokenizer, room: Int, length: Int,
    _ options: AnswerOptions
  ) throws -> [Range<Int>] {
    guard tokens.count > room else { return [0..<tokens.count] }
    guard let stride = options.documentStride else {
      return try Array(document.utf8).withUnsafeBufferPointer {
        let text = TokenizedText(text: $0, tokens: tokens, tokenizer: tokenizer)
        return try TextSections(text).ranges(of: text, room: room, overlap: min(128, length / 3))
      }
    }
    var windows = [0..<room]
    while let last = windows.last, last.upperBound < tokens.count {
      let first = last.lowerBound + room - stride
      windows.append(first..<min(first + room, tokens.count))
    }
    return windows
  }

  private mutating func search(_ asked: Asked, read: [Int]) {
    let (tokens, options) = (asked.tokens, asked.options)
    let questionCount = asked.question.ids.count
    found = []
    var scores: [[Int]: Scores] = [:]
    var leastNull = Float.infinity
    for index in read {
      let window = asked.windows[index]
      let ids = [0] + asked.question.ids + [1] + tokens.ids[window] + [1]
      let logits = ids.indices.map { asked.model.rule(ids[...], $0) }
      let null = logits[0].start + logits[0].end
      leastNull = min(leastNull, null)
      let inDocument = Array(logits[(questionCount + 2)..<(ids.count - 1)])
      let starts = Self.kept(inDocument.map(\.start), options.nBestSize)
      let ends = Self.kept(inDocument.map(\.end), options.nBestSize)
      let lowering = asked.comparesRawScores ? 0 : null + asked.penalties[index]
      for i in starts {
        for j in ends where j >= i && j < i + options.maxAnswerLength {
          let compared = (inDocument[i].start - lowering) + inDocument[j].end
          let span = [window.lowerBound + i, window.lowerBound + j]
          if scores[span].map({ $0.compared >= compared }) ?? false { continue }
          scores[span] = Scores(
            compared: compared, raw: inDocument[i].start + inDocument[j].end, null: null, window: index)
        }
      }
    }
    let null = asked.comparesRawScores ? leastNull : 0
    nullScore = leastNull

    let ranked = scores.sorted {
      ($0.value.compared, $1.key[0], $1.key[1]) > ($1.value.compared, $0.key[0], $0.key[1])
    }
    let best = Double(max(null, ranked.first?.value.compared ?? -.infinity))
    let total = exp(Double(null) - best) + ranked.reduce(0) { $0 + exp(Double($1.value.compared) - best) }
    noAnswerProbability = exp(Double(null) - best) / total
    let rise = asked.comparesRawScores ? asked.decision.rise * log(Double(read.count)) : 0
    threshold = Double(asked.decision.threshold) + rise
    let candidates = ranked.compactMap { span, score in Self.candidate(span, score, asked) }
    var taken: [Candidate] = []
    let keepsEquals = options.documentStride != nil
    let most = keepsEquals ? options.topK : 2 * options.topK + 50
    for candidate in candidates where taken.count < most {
      if taken.contains(where: { Self.overlap($0.tokens, candidate.tokens) }) { continue }
      if !keepsEquals, Set(taken.map(\.text)).count == options.topK { break }
      taken.append(candidate)
    }
    if !keepsEquals { taken = Self.merged(taken, ranked, asked, read) }
    if let first = taken.first, !asked.comparesRawScores { nullScore = first.scores.null }
    for candidate in taken {
      let scores = candidate.scores
      found.append(
        Found(
          bytes: candidate.bytes, score: scores.raw, gap: scores.compared - null,
          probability: exp(Double(scores.compared) - best) / total))
    }
    guard let calibration = asked.decision.calibration else { return }
    let gap = (found.first.map { Double($0.gap) } ?? -.infinity)
    let exponent = calibration.slope * (gap - calibration.midpoint - rise)
    noAnswerProbability = 1 / (1 + exp(exponent))
    // Relative to the best: the weights of very different scores must not all be 0.
    func weight(_ compared: Float) -> Double {
      exp(Double(compared - ranked[0].value.compared) / calibration.spanTemperature)
    }
    let weights = ranked.reduce(0) { $0 + weight($1.value.compared) }
    for index in found.indices {
      found[index].probability = (1 - noAnswerProbability) * weight(found[index].gap + null) / weights
    }
  }

  /// nil if the span has no content, or a blank line.
  private static func candidate(_ span: [Int], _ scores: Scores, _ asked: Asked) -> Candidate? {
    var (first, last) = (span[0], span[1])
    if asked.options.alignsToWords {
      while first > 0, asked.isSameWord[first] { first -= 1 }
      while last + 1 < asked.tokens.count, asked.isSameWord[last + 1] { last += 1 }
    }
    let tokens = TextRange(start: Int(asked.tokens.starts[first]), end: Int(asked.tokens.ends[last]))
    var bytes = tokens
    var text = tokens.text(in: asked.document)
    if asked.options.alignsToWords {
      if text.allSatisfy({ ".? \n\u{FFFD}".contains($0) }) || text.contains("\n\n") { return nil }
    }
    while asked.options.alignsToWords, text.hasPrefix(". ") || text.hasPrefix(".\n") {
      text.removeFirst(2)
      bytes = TextRange(start: bytes.start + 2, end: bytes.end)
    }
    text = text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let inner = text.drop { $0 == "." }.reversed().drop { $0 == "." }
    let normalized = inner.isEmpty ? text : String(inner.reversed())
    return Candidate(tokens: tokens, bytes: bytes, text: normalized, scores: scores)
  }

  private static func overlap(_ a: TextRange, _ b: TextRange) -> Bool { a.start < b.end && b.start < a.end }

  /// Equal answers of several sections as one.
  private static func merged(
    _ taken: [Candidate], _ ranked: [(key: [Int], value: Scores)], _ asked: Asked, _ read: [Int]
  ) -> [Candidate] {
    let bests = read.compactMap { index -> Candidate? in
      let window = asked.windows[index]
      for (span, scores) in ranked where window.contains(span[0]) && window.contains(span[1]) {
        if let best = candidate(span, scores, asked) { return scores.window == index ? best : nil }
      }
      return nil
    }
    let temperature = asked.decision.calibration?.spanTemperature ?? 1
    let supporting = bests.enumerated().sorted {
      ($0.element.scores.compared, $1.offset) > ($1.element.scores.compared, $0.offset)
    }.map(\.element)
    func group(_ text: String) -> Candidate? {
      let equals = supporting.filter { $0.text == text }
      guard equals.count > 1 else { return nil }
      var best = equals[0]
      let sum = equals.reduce(0) {
        $0 + exp(Double($1.scores.compared - best.scores.compared) / temperature)
      }
      best.scores.compared += Float(temperature * log(sum))
      return best
    }
    var distinct: [Candidate] = []
    for candidate in taken where !distinct.contains(where: { $0.text == candidate.text }) {
      distinct.append(candidate)
    }
    var answers = distinct.map { candidate in
      let group = group(candidate.text) ?? candidate
      return group.scores.compared >= candidate.scores.compared ? group : candidate
    }
    var texts = Set(distinct.map(\.text))
    for best in supporting where texts.insert(best.text).inserted {
      if let group = group(best.text) { answers.append(group) }
    }
    let ordered = answers.enumerated().sorted {
      ($0.element.scores.compared, $1.offset) > ($1.element.scores.compared, $0.offset)
    }.map(\.element)
    var kept: [Candidate] = []
    for answer in ordered where kept.count < asked.options.topK {
      if !kept.contains(where: { overlap($0.bytes, answer.bytes) }) { kept.append(answer) }
    }
    return kept
  }

  private static func tokens(_ text: String, _ tokenizer: FakeTokenizer) throws -> Tokens {
    try Array(text.utf8).withUnsafeBufferPointer { try tokenizer.tokens(of: $0, nil) }
  }

  private static func kept(_ logits: [Float], _ count: Int) -> [Int] {
    let ranked = logits.indices.sorted { (logits[$0], $1) > (logits[$1], $0) }
    return count > 0 ? Array(ranked.prefix(count)) : ranked
  }
}
