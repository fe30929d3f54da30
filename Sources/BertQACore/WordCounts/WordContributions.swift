extension WordCountModel {
  /// Returns the occurrences that contributed most for or against a label, relative to the mean of all labels:
  /// largest magnitude first; equal ones in the order of the text.
  func contributions(
    to label: Int, in text: UnsafeBufferPointer<UInt8>, scale: Double, limit: Int, poll: CallPoll
  ) throws(BertQAError) -> [WordContribution] {
    var heaviest = HeaviestOccurrences(limit: limit)
    var walk = walk(text, poll: poll)
    try walk.forEach { occurrence throws(BertQAError) in
      let feature = table.id(of: occurrence.key, hash: occurrence.hash)
      guard feature >= 0 else { return }
      let row = UnsafeBufferPointer(start: weights.base + feature * labelCount, count: labelCount)
      let mean = row.reduce(0) { $0 + Double($1) } / Double(labelCount)
      let factor = settings.usesTFIDF ? scale * Double(idf[feature]) : 1
      try heaviest.add(
        .init(
          start: occurrence.start, end: occurrence.end, weight: Float((Double(row[label]) - mean) * factor)),
        poll)
    }
    let positions = try TextPositions(text, poll)
    var done = 0
    return try heaviest.sorted(poll).checkedMap { occurrence throws(BertQAError) in
      done += 1
      if done % 4096 == 0 { try poll.check() }
      let start = positions.position(ofByte: occurrence.start, in: text)
      let end = positions.position(ofByte: occurrence.end, in: text)
      return WordContribution(
        bytes: TextRange(start: start.byte, end: end.byte),
        codePoints: TextRange(start: start.codePoint, end: end.codePoint),
        utf16: TextRange(start: start.utf16, end: end.utf16), weight: occurrence.weight)
    }
  }
}

/// Keeps the occurrences with the largest magnitudes.
private struct HeaviestOccurrences {
  struct Occurrence {
    var start: Int
    var end: Int
    var weight: Float
  }

  private let limit: Int
  private var kept: [Occurrence] = []

  init(limit: Int) { self.limit = limit }

  mutating func add(_ occurrence: Occurrence, _ poll: CallPoll) throws(BertQAError) {
    try kept.makeRoom(for: 1, polling: poll)
    kept.append(occurrence)
    // Truncated now and then, so that the memory stays within a multiple of the limit.
    guard kept.count >= 2 * limit + 1024 else { return }
    let present = kept.capacity
    kept = try sorted(poll)
    poll.ledger.release(present * MemoryLayout<Occurrence>.stride)
  }

  func sorted(_ poll: CallPoll) throws(BertQAError) -> [Occurrence] {
    var order = try kept.checkedSorted(poll) {
      abs($0.weight) != abs($1.weight)
        ? abs($0.weight) > abs($1.weight) : ($0.start, $0.end) < ($1.start, $1.end)
    }
    order.removeLast(max(0, order.count - limit))
    return order
  }
}
