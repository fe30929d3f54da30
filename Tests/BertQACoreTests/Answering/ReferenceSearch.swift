import Foundation

@testable import BertQACore

/// Finds the expected result by trying every span.
struct ReferenceSearch {
  struct Found: Equatable {
    var bytes: TextRange
    var score: Float
    var probability: Double
  }

  var found: [Found] = []
  var nullScore = Float.infinity
  var noAnswerProbability = 0.0
  var threshold = 0.0
  var windowCount = 0

  init(
    question: String, document: String, _ tokenizer: FakeTokenizer, _ model: FakeModel,
    _ options: AnswerOptions, _ decision: AnswerDecision
  ) throws {
    let asked = try Self.tokens(question, tokenizer)
    let tokens = try Self.tokens(document, tokenizer)
    let count = tokens.ids.count
    let isSameWord = try Array(document.utf8).withUnsafeBufferPointer { text in
      tokens.ids.indices.map { tokenizer.continuesWord($0, of: tokens, in: text) }
    }
    let length = options.maxSequenceLength ?? 384
    let room = length - asked.ids.count - 3
    let stride = options.documentStride ?? min(128, length / 3, room / 2)
    var scores: [[Int]: Float] = [:]
    var first = 0
    let skipped = try Self.skippedTokens(asked, tokens, tokenizer, room, stride, options)
    while true {
      let end = min(first + room, count)
      defer { first += room - stride }
      if skipped.contains(first) {
        if end == count { break }
        continue
      }
      windowCount += 1
      let ids = [0] + asked.ids + [1] + tokens.ids[first..<end] + [1]
      let logits = ids.indices.map { model.rule(ids[...], $0) }
      nullScore = min(nullScore, logits[0].start + logits[0].end)
      let inDocument = Array(logits[(asked.ids.count + 2)..<(ids.count - 1)])
      let starts = Self.kept(inDocument.map(\.start), options.nBestSize)
      let ends = Self.kept(inDocument.map(\.end), options.nBestSize)
      for i in starts {
        for j in ends where j >= i && j < i + options.maxAnswerLength {
          let score = inDocument[i].start + inDocument[j].end
          scores[[first + i, first + j]] = max(scores[[first + i, first + j]] ?? -.infinity, score)
        }
      }
      if end == count { break }
    }

    let ranked = scores.sorted { ($0.value, $1.key[0], $1.key[1]) > ($1.value, $0.key[0], $0.key[1]) }
    let best = Double(max(nullScore, ranked.first?.value ?? -.infinity))
    let total = exp(Double(nullScore) - best) + ranked.reduce(0) { $0 + exp(Double($1.value) - best) }
    noAnswerProbability = exp(Double(nullScore) - best) / total
    let rise = decision.rise * log(Double(windowCount))
    threshold = Double(decision.threshold) + rise
    for (span, score) in ranked where found.count < options.topK {
      var (first, last) = (span[0], span[1])
      if options.alignsToWords {
        while first > 0, isSameWord[first] { first -= 1 }
        while last + 1 < count, isSameWord[last + 1] { last += 1 }
      }
      let bytes = TextRange(start: Int(tokens.starts[first]), end: Int(tokens.ends[last]))
      if options.alignsToWords, bytes.text(in: document).allSatisfy({ ".? \u{FFFD}".contains($0) }) {
        continue
      }
      if found.contains(where: { $0.bytes.start < bytes.end && bytes.start < $0.bytes.end }) { continue }
      found.append(Found(bytes: bytes, score: score, probability: exp(Double(score) - best) / total))
    }
    guard let calibration = decision.calibration else { return }
    let gap = (found.first.map { Double($0.score) } ?? -.infinity) - Double(nullScore)
    let exponent = calibration.slope * (gap - calibration.midpoint - rise)
    noAnswerProbability = 1 / (1 + exp(exponent))
    // Relative to the best: the weights of very different scores must not all be 0.
    func weight(_ score: Float) -> Double {
      exp(Double(score - ranked[0].value) / calibration.spanTemperature)
    }
    let weights = ranked.reduce(0) { $0 + weight($1.value) }
    for index in found.indices {
      found[index].probability = (1 - noAnswerProbability) * weight(found[index].score) / weights
    }
  }

  /// Where the windows begin that `maxWindows` leaves out, by the ranking that has its own tests.
  private static func skippedTokens(
    _ asked: Tokens, _ tokens: Tokens, _ tokenizer: FakeTokenizer, _ room: Int, _ stride: Int,
    _ options: AnswerOptions
  ) throws -> Set<Int> {
    guard options.maxWindows > 0 else { return [] }
    let windows = try TokenWindow.layout(
      tokenCount: tokens.ids.count, room: room, overlap: stride)
    let run = try SectionRanking(question: asked.ids[...], tokenizer: tokenizer)
      .best(options.maxWindows, of: windows, ids: tokens.ids)
    return Set(windows.map(\.firstToken)).subtracting(run.map(\.firstToken))
  }

  private static func tokens(_ text: String, _ tokenizer: FakeTokenizer) throws -> Tokens {
    try Array(text.utf8).withUnsafeBufferPointer { try tokenizer.tokens(of: $0, nil) }
  }

  private static func kept(_ logits: [Float], _ count: Int) -> [Int] {
    let ranked = logits.indices.sorted { (logits[$0], $1) > (logits[$1], $0) }
    return count > 0 ? Array(ranked.prefix(count)) : ranked
  }
}
