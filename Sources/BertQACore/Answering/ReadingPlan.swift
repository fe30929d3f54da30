/// How many of the sections of a question's documents the model reads, and how sections are compared.
///
/// The numbers are those that answered best on development questions about texts of 37,500 characters
/// (`Benchmarks/long_documents.py --articles 37500`).
struct ReadingPlan: Equatable {
  enum Limit: Equatable {
    case all
    /// The best by rank.
    case best(Int)
    /// As many as needed: until no remaining section is likely to answer better, at most `mostSections(of:)`.
    case enough
  }

  let limit: Limit
  /// True if answers of different windows are compared by their raw scores, as by Hugging Face's pipeline. False: by
  /// their scores minus that of "no answer" in the same section, minus what the section's rank subtracts.
  let comparesRawScores: Bool
  /// True if a stopped call keeps what it has read. All sections are then read in rounds, best ranks first.
  var isPartial = false

  /// What the lowest rank subtracts from the scores of a section, in logits.
  static let rankWeight: Float = 3
  /// Before its rank is subtracted, a section's answer rarely has a larger gap. If even this gap would not make a
  /// section's answer the best, no further section is read.
  static let highGap: Float = 1
  /// The number of sections read before the answer is examined.
  static let roundSize = 3
  /// The number of sections in a round of a partial call if the answer does not decide whether another round follows.
  static let partialRoundSize = 8

  /// Returns the maximum number of sections to read of `count`: 7 of up to 127, and a round more for each doubling.
  /// In books the answer's section is less often among the first 7
  /// (`Benchmarks/long_documents.py Benchmarks/books.jsonl`).
  static func mostSections(of count: Int) -> Int {
    7 + roundSize * max(0, Int.bitWidth - count.leadingZeroBitCount - 7)
  }

  /// Returns the plan for known or unknown ranks. If no section has a word of the question, such as one in another
  /// language, no rank tells which sections are enough.
  func withRanks(known: Bool) -> ReadingPlan {
    guard limit == .enough, !known else { return self }
    return ReadingPlan(limit: .all, comparesRawScores: comparesRawScores, isPartial: isPartial)
  }

  /// Returns the number of sections of the next round.
  /// - Parameter read: how many of `count` have been read.
  func round(of count: Int, after read: Int) -> Int {
    let (most, size) =
      switch limit {
      case .all: (count, isPartial ? Self.partialRoundSize : count)
      case .best(let number): (min(number, count), isPartial ? Self.partialRoundSize : count)
      case .enough: (min(Self.mostSections(of: count), count), Self.roundSize)
      }
    return max(0, min(size, most - read))
  }

  /// True if no further section is likely to answer better.
  /// - Parameters:
  ///   - gap: that of the best answer so far.
  ///   - rank: the best remaining section's.
  func isEnough(gap: Float, rank: Double) -> Bool { gap >= Self.highGap - Self.penalty(ofRank: rank) }

  /// Returns what a rank of 0...1 subtracts from a section's scores.
  static func penalty(ofRank rank: Double) -> Float { rankWeight * Float(1 - rank) }
}

/// Why no further section was read, with the numbers of `bertqa_reading_stop`.
public enum ReadingStop: Int32, Sendable {
  /// All were read.
  case all = 0
  /// No remaining section is likely to answer better.
  case enough = 1
  /// `maxWindows`, or by default `ReadingPlan.mostSections(of:)`.
  case limit = 2
  /// The deadline passed. Only if the options allow a partial result, like the next one.
  case deadline = 3
  /// The caller cancelled the call.
  case cancelled = 4

  /// The reason of a partial result; nil for errors that do not stop a call.
  init?(_ error: BertQAError) {
    switch error.status {
    case .deadlineExceeded: self = .deadline
    case .cancelled: self = .cancelled
    default: return nil
    }
  }
}
