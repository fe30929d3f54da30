/// Options for counting words.
public struct WordCountOptions: Sendable {
  public var call = CallOptions()
  /// The minimum length of words in code points, 1...255. Shorter words are omitted.
  public var minWordLength = 3
  /// 1: words; 2: also pairs of neighbouring words.
  public var maxNGram = 1

  public init() {}

  func validate() throws(BertQAError) {
    try BertQAError.check("min_word_length", minWordLength, 1...WordScanner.maximumBytes)
    try BertQAError.check("max_ngram", maxNGram, 1...2)
  }
}

/// The lower-cased terms of a text in the order of their first occurrence, and the number of occurrences of
/// each. Word-count classifiers use the same counts. Immutable.
public final class WordCountList: @unchecked Sendable {
  // Sendable: nothing changes after init.

  private var table: TermTable
  /// By term.
  private var occurrences: GrowableBuffer<Int>

  /// - Parameter text: UTF-8. Invalid bytes are not words.
  /// - Throws: `.invalidArgument` for an option outside its range, `.tooLarge`, `.outOfMemory`, `.cancelled`,
  ///   `.deadlineExceeded`.
  public convenience init(
    of text: UnsafeBufferPointer<UInt8>, options: WordCountOptions = WordCountOptions()
  ) throws(BertQAError) {
    try options.validate()
    try TextLimit.check(text, "text")
    try self.init(checked: text, options, CallMonitor(options.call))
  }

  public static func of(
    _ text: String, options: WordCountOptions = WordCountOptions()
  ) throws(BertQAError) -> WordCountList {
    try withBytes(of: text) { text throws(BertQAError) in try WordCountList(of: text, options: options) }
  }

  private init(
    checked text: UnsafeBufferPointer<UInt8>, _ options: WordCountOptions, _ monitor: CallMonitor
  ) throws(BertQAError) {
    table = TermTable(monitor.ledger)
    occurrences = GrowableBuffer(monitor.ledger)
    try monitor.check()
    var walk = TermWalk(
      text, minimumLength: options.minWordLength, maxNGram: options.maxNGram, hasher: table.hasher,
      poll: CallPoll(monitor))
    try walk.forEach { occurrence throws(BertQAError) in
      try count(occurrence.key, occurrence.hash)
    }
  }

  private func count(_ key: TermTable.Key, _ hash: UInt64) throws(BertQAError) {
    let id = try table.insert(key, hash: hash)
    if id == occurrences.count { try occurrences.append(0) }
    occurrences[id] += 1
  }

  /// The number of distinct terms.
  public var count: Int { table.count }

  /// Returns a term, a word or two words separated by a space, and the number of its occurrences in the text.
  public subscript(index: Int) -> (word: String, count: Int) {
    (String(decoding: bytes(at: index), as: UTF8.self), occurrences[index])
  }

  /// Returns the UTF-8 of a term, followed by a NUL; valid while the list lives.
  package func bytes(at index: Int) -> UnsafeBufferPointer<UInt8> { table.term(index) }

  package func occurrences(at index: Int) -> Int { occurrences[index] }
}
