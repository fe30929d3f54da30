/// The texts of a training as word counts: sparse rows of a growing vocabulary.
///
/// Memory: 8 bytes for each distinct word of each text, about 60 for each word of the vocabulary, and at most
/// as much again as room to grow. To keep the vocabulary below a limit, the rarer half of it is forgotten: a
/// forgotten word that occurs again is counted from zero.
struct TrainingTexts: ~Copyable {
  let settings: WordCountSettings
  /// Words and word pairs.
  private(set) var table = WordTable()
  /// The number of texts with each word.
  private(set) var documentCounts = GrowableBuffer<UInt32>()
  /// The start of each text's words in the next two arrays, and the end of the last text.
  private(set) var rowStarts = GrowableBuffer<Int>()
  private(set) var wordIDs = GrowableBuffer<UInt32>()
  private(set) var counts = GrowableBuffer<UInt32>()

  private let limit: Int
  /// The number of occurrences of each word in the text being counted; all 0 between texts.
  private var occurrences = GrowableBuffer<UInt32>()

  /// Keeps at most `limit` words.
  init(_ options: TrainOptions, limit: Int? = nil) {
    settings = WordCountSettings(options)
    self.limit = limit ?? max(4 * options.maxVocabulary, 1 << 20)
  }

  private(set) var count = 0

  /// The bytes that it takes.
  var byteCount: Int {
    table.byteCount + documentCounts.byteCount + rowStarts.byteCount + wordIDs.byteCount + counts.byteCount
      + occurrences.byteCount
  }

  /// Sets the ledger that accounts for memory from now on.
  private mutating func account(to ledger: MemoryLedger?) {
    table.ledger = ledger
    documentCounts.ledger = ledger
    rowStarts.ledger = ledger
    wordIDs.ledger = ledger
    counts.ledger = ledger
    occurrences.ledger = ledger
  }

  /// Counts the words of one more text. A failure changes nothing.
  /// - Parameter monitor: polled; accounts for all memory that the texts take.
  mutating func add(
    _ text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor
  ) throws(BertQAError) {
    let first = wordIDs.count
    defer { account(to: nil) }
    do throws(BertQAError) {
      try monitor.hold(byteCount)
      account(to: monitor.ledger)
      try count(text, monitor)
      for index in first..<wordIDs.count { try counts.append(occurrences[Int(wordIDs[index])]) }
      if rowStarts.count == 0 { try rowStarts.append(0) }
      try rowStarts.append(wordIDs.count)
    } catch {
      for id in wordIDs.elements[first...] { occurrences[Int(id)] = 0 }
      wordIDs.truncate(to: first)
      counts.truncate(to: first)
      throw error
    }
    count += 1
    for id in wordIDs.elements[first...] {
      occurrences[Int(id)] = 0
      documentCounts[Int(id)] += 1
    }
    account(to: nil)
    guard table.count > limit else { return }
    try monitor.temporarily { () throws(BertQAError) in
      // The words that stay, and their places in the new table.
      try monitor.hold(table.byteCount + table.count * (MemoryLayout<UInt32>.stride + 1))
      try forgetRareWords()
    }
  }

  private mutating func count(
    _ text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor
  ) throws(BertQAError) {
    var walk = WordWalk(
      text, minimumLength: settings.minWordLength, maxNGram: settings.maxNGram, hasher: table.hasher,
      poll: CallPoll(monitor))
    try walk.forEach { occurrence throws(BertQAError) in try count(occurrence.key, occurrence.hash) }
  }

  @inline(__always)
  private mutating func count(_ key: WordTable.Key, _ hash: UInt64) throws(BertQAError) {
    let id = try table.insert(key, hash: hash)
    if id == documentCounts.count { try documentCounts.append(0) }
    if id == occurrences.count { try occurrences.append(0) }
    if occurrences[id] == 0 { try wordIDs.append(UInt32(truncatingIfNeeded: id)) }
    occurrences[id] += 1
  }

  /// Keeps the half of `limit` words that are in most texts; of equal ones, those that came first.
  private mutating func forgetRareWords() throws(BertQAError) {
    let isKept = mostFrequent(limit / 2)
    var kept = WordTable()
    let newIDs = try GrowableBuffer<UInt32>(repeating: .max, count: table.count)
    for id in 0..<table.count where isKept[id] {
      newIDs[id] = UInt32(truncatingIfNeeded: try kept.insert(table.word(id)))
      documentCounts[kept.count - 1] = documentCounts[id]
    }
    documentCounts.truncate(to: kept.count)
    occurrences.truncate(to: kept.count)
    var end = 0
    for row in 0..<count {
      let words = rowStarts[row]..<rowStarts[row + 1]
      rowStarts[row] = end
      for index in words where newIDs[Int(wordIDs[index])] != .max {
        wordIDs[end] = newIDs[Int(wordIDs[index])]
        counts[end] = counts[index]
        end += 1
      }
    }
    rowStarts[count] = end
    wordIDs.truncate(to: end)
    counts.truncate(to: end)
    table = kept
  }

  private func mostFrequent(_ number: Int) -> [Bool] {
    // The number of words by the number of texts with them. The last element counts all words in more texts.
    var histogram = [Int](repeating: 0, count: 1 << 16)
    let top = histogram.count - 1
    for count in documentCounts.elements { histogram[min(Int(count), top)] += 1 }
    var threshold = top
    var above = 0
    while threshold > 0, above + histogram[threshold] <= number {
      above += histogram[threshold]
      threshold -= 1
    }
    var left = number - above
    return documentCounts.elements.map { count in
      let count = min(Int(count), top)
      guard count == threshold, left > 0 else { return count > threshold }
      left -= 1
      return true
    }
  }
}
