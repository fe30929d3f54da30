extension WordCountModel {
  /// What counts are multiplied with, besides the words' own weights: with TF-IDF, what makes the text's
  /// features a vector of length 1.
  func scale(of counts: WordCounts) -> Double {
    guard settings.usesTFIDF else { return 1 }
    var squares = 0.0
    for feature in counts.features.elements {
      let value = Double(counts[feature]) * Double(idf[Int(feature)])
      squares += value * value
    }
    return squares > 0 ? 1 / squares.squareRoot() : 0
  }

  /// The score of each label. [label]
  func logits(of counts: WordCounts, scale: Double) -> [Double] {
    let labelCount = labelCount
    return [Double](unsafeUninitializedCapacity: labelCount) { logits, count in
      logits.initialize(repeating: 0)
      count = labelCount
      guard let logits = logits.baseAddress else { return }
      for feature in counts.features.elements {
        var value = Double(counts[feature])
        if settings.usesTFIDF { value *= Double(idf[Int(feature)]) }
        let row = weights.base + Int(feature) * labelCount
        for label in 0..<labelCount { logits[label] += value * Double(row[label]) }
      }
      for label in 0..<labelCount { logits[label] = logits[label] * scale + Double(bias[label]) }
    }
  }

  /// The occurrences that weighed most for or against a label, in comparison with the mean of all labels, by
  /// falling magnitude; equal ones in the order of the text.
  func contributions(
    to label: Int, in text: UnsafeBufferPointer<UInt8>, scale: Double, limit: Int, isCancelled: () -> Bool
  ) -> [WordContribution] {
    var heaviest = HeaviestOccurrences(limit: limit)
    forEachOccurrence(in: text, isCancelled: isCancelled) { feature, start, end in
      let row = UnsafeBufferPointer(start: weights.base + feature * labelCount, count: labelCount)
      let mean = row.reduce(0) { $0 + Double($1) } / Double(labelCount)
      let factor = settings.usesTFIDF ? scale * Double(idf[feature]) : 1
      heaviest.add(
        .init(start: start, end: end, weight: Float((Double(row[label]) - mean) * factor)))
    }
    guard let positions = try? TextPositions(text, CallMonitor(CallOptions())) else { return [] }
    return heaviest.sorted().map { occurrence in
      let start = positions.position(ofByte: occurrence.start, in: text)
      let end = positions.position(ofByte: occurrence.end, in: text)
      return WordContribution(
        bytes: TextRange(start: start.byte, end: end.byte),
        codePoints: TextRange(start: start.codePoint, end: end.codePoint),
        utf16: TextRange(start: start.utf16, end: end.utf16), weight: occurrence.weight)
    }
  }

  private func forEachOccurrence(
    in text: UnsafeBufferPointer<UInt8>, isCancelled: () -> Bool,
    _ body: (_ feature: Int, _ start: Int, _ end: Int) -> Void
  ) {
    var scanner = WordScanner(text, minimumLength: settings.minWordLength)
    var previousHash: UInt64?
    var words = 0
    while scanner.next() {
      let hash = table.hash(scanner.bytes, scanner.byteCount)
      let word = WordTable.Key(first: scanner.bytes, firstCount: scanner.byteCount)
      let id = table.id(of: word, hash: hash)
      if id >= 0 { body(id, scanner.start, scanner.end) }
      guard settings.maxNGram > 1 else { continue }
      if let previousHash {
        let pair = WordTable.Key(
          first: scanner.previousBytes, firstCount: scanner.previousByteCount, second: scanner.bytes,
          secondCount: scanner.byteCount)
        let id = table.id(of: pair, hash: table.hash(previousHash, hash))
        if id >= 0 { body(id, scanner.previousStart, scanner.end) }
      }
      previousHash = hash
      words &+= 1
      if words & 0xFFFF == 0, isCancelled() { return }
    }
  }
}

/// Keeps the occurrences of largest magnitude.
private struct HeaviestOccurrences {
  struct Occurrence {
    var start: Int
    var end: Int
    var weight: Float
  }

  private let limit: Int
  private var kept: [Occurrence] = []

  init(limit: Int) { self.limit = limit }

  mutating func add(_ occurrence: Occurrence) {
    kept.append(occurrence)
    // Cut now and then, so that the memory stays within a multiple of the limit.
    if kept.count >= 2 * limit + 1024 { kept = sorted() }
  }

  func sorted() -> [Occurrence] {
    let order = kept.sorted {
      abs($0.weight) != abs($1.weight)
        ? abs($0.weight) > abs($1.weight) : ($0.start, $0.end) < ($1.start, $1.end)
    }
    return Array(order.prefix(limit))
  }
}
