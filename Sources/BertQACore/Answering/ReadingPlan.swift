/// How many of the sections of a question's documents the model reads, and how sections are compared.
///
/// The numbers are those that answered best on development questions about texts of 37,500 characters
/// (`Benchmarks/long_documents.py --articles 37500`).
struct ReadingPlan: Equatable {
  enum Limit: Equatable {
    case all
    /// The best by rank.
    case best(Int)
    /// As many as it takes: until no section left is likely to answer better, or `mostSections`.
    case enough
  }

  let limit: Limit
  /// True if answers of different windows are compared by their raw scores, as Hugging Face's pipeline does. False: by
  /// their scores less that of "no answer" in the same section, less what the section's rank subtracts.
  let comparesRawScores: Bool

  /// What the lowest rank subtracts from the scores of a section, in logits.
  static let rankWeight: Float = 3
  /// A section's answer rarely has a larger gap before its rank is subtracted. If that would not make it the best, no
  /// further section is read.
  static let highGap: Float = 2
  /// The sections that are read before the answer is looked at.
  static let roundSize = 3
  /// The sections that are read at most.
  static let mostSections = 20

  /// Returns the plan for sections of which none may have a word of the question, such as one in another language: then
  /// no rank says which sections are enough.
  func withRanks(known: Bool) -> ReadingPlan {
    limit == .enough && !known ? ReadingPlan(limit: .all, comparesRawScores: comparesRawScores) : self
  }

  /// The number of sections to read first, of `count`.
  func firstRound(of count: Int) -> Int {
    switch limit {
    case .all: count
    case .best(let number): min(number, count)
    case .enough: min(Self.roundSize, count)
    }
  }

  /// Returns the number of sections to read next.
  /// - Parameters:
  ///   - read: how many of `count` have been read.
  ///   - gap: that of the best answer so far.
  ///   - rank: that of the best section left.
  func nextRound(of count: Int, after read: Int, gap: Float, rank: Double) -> Int {
    guard limit == .enough, gap < Self.highGap - Self.penalty(ofRank: rank) else { return 0 }
    return max(0, min(Self.roundSize, min(count, Self.mostSections) - read))
  }

  /// Returns what a rank of 0...1 subtracts from a section's scores.
  static func penalty(ofRank rank: Double) -> Float { rankWeight * Float(1 - rank) }
}

/// Why no further section was read, with the numbers of `bertqa_reading_stop`.
public enum ReadingStop: Int32, Sendable {
  /// All were read.
  case all = 0
  /// No section left is likely to answer better.
  case enough = 1
  /// `maxWindows`, or 20 sections by default.
  case limit = 2
}
