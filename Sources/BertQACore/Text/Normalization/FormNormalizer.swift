/// NFC, NFD, NFKC or NFKD. Linear in the text.
struct FormNormalizer: Normalizer {
  let form: NormalizationForm
  private let data = NormalizationData.shared
  private let characters: FormCharacters

  init(_ form: NormalizationForm) {
    self.form = form
    characters = FormCharacters.of(form)
  }

  var readsVerbatim: Bool { true }

  func leaves(_ text: borrowing NormalizedText, _ monitor: CallMonitor?) throws(BertQAError) -> Bool {
    var position = 0
    while position < text.count {
      let limit = min(text.count, position + CallPoll.textInterval)
      position = characters.stableEnd(text.base, from: position, to: limit).end
      if position < limit { return false }
      try monitor?.check()
    }
    return true
  }

  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    var run = NormalizationRun(form: form)
    // `text[copied ..< starter]` remains to be copied; the character at `starter` may compose with the next ones.
    var (copied, starter, position) = (0, 0, 0)
    var poll = TextPoll(monitor)
    while position < text.count {
      try poll.reach(position)
      let limit = min(text.count, poll.next)
      let stable = characters.stableEnd(text.base, from: position, to: limit)
      if stable.end > position { (starter, position) = stable }
      if position >= limit { continue }
      let decoded = UTF8Codec.decode(text.base, at: position, end: text.count)
      let replacement = characters.replacement(of: decoded.scalar)
      let next = position &+ decoded.size
      if replacement != 0,
        next == text.count || characters.standsAlone(text.base, at: next, end: text.count)
      {
        if position > copied { try target.append(copying: text, copied..<position, monitor) }
        try target.append(scalar: replacement, from: text.source(of: position))
        (copied, starter, position) = (next, next, next)
        continue
      }
      if starter > copied { try target.append(copying: text, copied..<starter, monitor) }
      position = starter
      repeat {
        let decoded = UTF8Codec.decode(text.base, at: position, end: text.count)
        if position > starter, data.isStable(decoded.scalar, form) { break }
        try run.append(decoded.scalar, data, monitor)
        position += decoded.size
      } while position < text.count
      try run.write(from: starter, text, into: &target, data, monitor)
      (copied, starter) = (position, position)
    }
    if text.count > copied { try target.append(copying: text, copied..<text.count, monitor) }
    try target.seal()
  }
}

/// Characters that are normalised together: a starter and the characters up to the next stable one.
struct NormalizationRun {
  private struct Part: DecompositionPart {
    var scalar: UInt32
    /// See `SourceCursor`.
    var change: Int32
    var combiningClass: UInt8
  }

  private let form: NormalizationForm
  private var parts: [Part] = []
  /// The number of characters appended.
  private var scalarCount = 0

  init(form: NormalizationForm) { self.form = form }

  mutating func append(
    _ scalar: UInt32, _ data: NormalizationData, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    // A decomposition has at most 18 parts.
    try parts.makeRoom(for: 18, monitor)
    scalarCount += 1
    if scalarCount % CallPoll.elementInterval == 0 { try monitor?.check() }
    var change: Int32 = 0
    func add(_ part: UInt32) {
      let combiningClass = UnicodeData.shared.properties(of: part).combiningClass
      parts.append(Part(scalar: part, change: change, combiningClass: combiningClass))
      change = 1
    }
    if form.isCompatible {
      data.forEachCompatibilityPart(of: scalar, add)
    } else {
      UnicodeData.shared.forEachPart(of: scalar, add)
    }
  }

  /// Sorts the parts into canonical order.
  private mutating func sort(_ monitor: CallMonitor?) throws(BertQAError) {
    var begin = 0
    while begin < parts.count {
      var end = begin + 1
      while end < parts.count, parts[end].combiningClass != 0 {
        end += 1
        if end % CallPoll.elementInterval == 0 { try monitor?.check() }
      }
      try parts.sortByCombiningClass(begin..<end, monitor)
      begin = end
    }
  }

  /// Appends the normalised form of the characters, which begin at `position` of the text, and empties the run.
  mutating func write(
    from position: Int, _ text: borrowing NormalizedText, into target: inout NormalizedText,
    _ data: NormalizationData, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    try sort(monitor)
    let count = form.composes ? try compose(data, monitor) : parts.count
    var cursor = SourceCursor(position: position)
    for index in 0..<count {
      if index % CallPoll.elementInterval == CallPoll.elementInterval - 1 { try monitor?.check() }
      let part = parts[index]
      try target.append(scalar: part.scalar, from: cursor.take(Int(part.change), text))
    }
    parts.removeAll(keepingCapacity: true)
  }

  /// Composes in place (UAX #15, section 1.3). Returns the number of characters left.
  private mutating func compose(
    _ data: NormalizationData, _ monitor: CallMonitor?
  ) throws(BertQAError) -> Int {
    var count = 0
    // The last starter, and the class of the last character kept after it; nil if there is none.
    var starter: Int?
    var lastClass: UInt8?
    for index in parts.indices {
      if index % CallPoll.elementInterval == CallPoll.elementInterval - 1 { try monitor?.check() }
      let part = parts[index]
      if let starter {
        let isBlocked = lastClass.map { $0 >= part.combiningClass } ?? false
        if !isBlocked, let composite = data.composition(parts[starter].scalar, part.scalar) {
          parts[starter].scalar = composite
          parts[starter].change += part.change - 1
          continue
        }
      }
      if part.combiningClass == 0 {
        starter = count
        lastClass = nil
      } else if starter != nil {
        lastClass = part.combiningClass
      }
      parts[count] = part
      count += 1
    }
    return count
  }
}
