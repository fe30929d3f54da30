/// The texts of a training as counts of terms: sparse rows of a growing vocabulary.
///
/// Memory: 8 bytes for each distinct term of each text, about 60 for each term of the vocabulary, and at most
/// as much again as room to grow. To keep the vocabulary below a limit, the rarer half of it is forgotten: a
/// forgotten term that occurs again is counted from zero.
struct TrainingTexts: ~Copyable {
  let settings: WordCountSettings
  private(set) var table = TermTable()
  /// The number of texts with each term.
  private(set) var documentCounts = GrowableBuffer<UInt32>()
  /// The start of each text's terms in the next two arrays, and the end of the last text.
  private(set) var rowStarts = GrowableBuffer<Int>()
  private(set) var termIDs = GrowableBuffer<UInt32>()
  private(set) var counts = GrowableBuffer<UInt32>()

  private let limit: Int
  /// The number of occurrences of each term in the text being counted; all 0 between texts.
  private var occurrences = GrowableBuffer<UInt32>()

  /// Keeps at most `limit` terms.
  init(_ options: TrainOptions, limit: Int? = nil) {
    settings = WordCountSettings(options)
    self.limit = limit ?? max(4 * options.maxVocabulary, 1 << 20)
  }

  private(set) var count = 0

  /// The bytes that it takes.
  var byteCount: Int {
    table.byteCount + documentCounts.byteCount + rowStarts.byteCount + termIDs.byteCount + counts.byteCount
      + occurrences.byteCount
  }

  /// Sets the ledger that accounts for memory from now on.
  private mutating func account(to ledger: MemoryLedger?) {
    table.ledger = ledger
    documentCounts.ledger = ledger
    rowStarts.ledger = ledger
    termIDs.ledger = ledger
    counts.ledger = ledger
    occurrences.ledger = ledger
  }

  /// Counts the terms of one more text. A failure changes nothing.
  /// - Parameter monitor: polled; accounts for all memory that the texts take.
  mutating func add(
    _ text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor
  ) throws(BertQAError) {
    let first = termIDs.count
    defer { account(to: nil) }
    do throws(BertQAError) {
      try monitor.hold(byteCount)
      account(to: monitor.ledger)
      try count(text, monitor)
      for index in first..<termIDs.count { try counts.append(occurrences[Int(termIDs[index])]) }
      if rowStarts.count == 0 { try rowStarts.append(0) }
      try rowStarts.append(termIDs.count)
      for id in termIDs.elements[first...] { occurrences[Int(id)] = 0 }
      if table.count > limit { try forgetRareTerms(monitor) }
    } catch {
      for id in termIDs.elements[first...] {
        occurrences[Int(id)] = 0
        documentCounts[Int(id)] -= 1
      }
      termIDs.truncate(to: first)
      counts.truncate(to: first)
      rowStarts.truncate(to: count + 1)
      throw error
    }
    count += 1
  }

  private mutating func count(
    _ text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor
  ) throws(BertQAError) {
    var walk = TermWalk(
      text, minimumLength: settings.minWordLength, maxNGram: settings.maxNGram, hasher: table.hasher,
      poll: CallPoll(monitor))
    try walk.forEach { occurrence throws(BertQAError) in try count(occurrence.key, occurrence.hash) }
  }

  @inline(__always)
  private mutating func count(_ key: TermTable.Key, _ hash: UInt64) throws(BertQAError) {
    // A failure must leave as many counts as terms.
    if table.count == occurrences.capacity {
      try documentCounts.makeRoom(for: 1)
      try occurrences.makeRoom(for: 1)
    }
    let id = try table.insert(key, hash: hash)
    if id == occurrences.count {
      documentCounts.appendReserved(0)
      occurrences.appendReserved(0)
    }
    if occurrences[id] == 0 {
      try termIDs.append(UInt32(truncatingIfNeeded: id))
      documentCounts[id] += 1
    }
    occurrences[id] += 1
  }

  /// Keeps the half of `limit` terms that are in most texts; of equal ones, those that came first. A failure changes
  /// nothing.
  private mutating func forgetRareTerms(_ monitor: CallMonitor) throws(BertQAError) {
    // The terms that stay, and their places in the new table.
    let heldBytes = table.byteCount + table.count * (MemoryLayout<UInt32>.stride + 1)
    try monitor.hold(heldBytes)
    defer { monitor.release(heldBytes) }
    let isKept = mostFrequent(limit / 2)
    var kept = TermTable()
    let newIDs = try GrowableBuffer<UInt32>(repeating: .max, count: table.count)
    for id in 0..<table.count where isKept[id] {
      newIDs[id] = UInt32(truncatingIfNeeded: try kept.insert(table.term(id)))
    }
    for id in 0..<table.count where isKept[id] { documentCounts[Int(newIDs[id])] = documentCounts[id] }
    documentCounts.truncate(to: kept.count)
    occurrences.truncate(to: kept.count)
    var end = 0
    let rowCount = rowStarts.count - 1
    for row in 0..<rowCount {
      let terms = rowStarts[row]..<rowStarts[row + 1]
      rowStarts[row] = end
      for index in terms where newIDs[Int(termIDs[index])] != .max {
        termIDs[end] = newIDs[Int(termIDs[index])]
        counts[end] = counts[index]
        end += 1
      }
    }
    rowStarts[rowCount] = end
    termIDs.truncate(to: end)
    counts.truncate(to: end)
    table = kept
  }

  private func mostFrequent(_ number: Int) -> [Bool] {
    // The number of terms by the number of texts with them. The last element counts all terms in more texts.
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
