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

  func leaves(_ text: borrowing NormalizedText) -> Bool {
    characters.stableEnd(text.base, from: 0, to: text.count).end == text.count
  }

  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    var run = NormalizationRun(form: form)
    // text[copied ..< starter] is to be copied; what begins at `starter` may compose with what follows.
    var (copied, starter, position) = (0, 0, 0)
    var nextCheck = CallPoll.textInterval
    while position < text.count {
      if position >= nextCheck {
        try monitor?.check()
        nextCheck = position + CallPoll.textInterval
      }
      let limit = min(text.count, nextCheck)
      let stable = characters.stableEnd(text.base, from: position, to: limit)
      if stable.end > position { (starter, position) = stable }
      if position >= limit { continue }
      let decoded = UTF8Codec.decode(text.base, at: position, end: text.count)
      let replacement = characters.replacement(of: decoded.scalar)
      let next = position &+ decoded.size
      if replacement != 0,
        next == text.count || characters.standsAlone(text.base, at: next, end: text.count)
      {
        if position > copied { try target.append(copying: text, copied..<position) }
        try target.append(scalar: replacement, from: text.source(of: position))
        (copied, starter, position) = (next, next, next)
        continue
      }
      if starter > copied { try target.append(copying: text, copied..<starter) }
      position = starter
      repeat {
        let decoded = UTF8Codec.decode(text.base, at: position, end: text.count)
        if position > starter, data.isStable(decoded.scalar, form) { break }
        try run.append(decoded.scalar, data, monitor)
        position += decoded.size
      } while position < text.count
      try run.write(from: starter, text, into: &target, data)
      (copied, starter) = (position, position)
    }
    if text.count > copied { try target.append(copying: text, copied..<text.count) }
    try target.seal()
  }
}

/// Characters that become others together: a starter and what follows up to the next one that stays as it is.
struct NormalizationRun {
  /// A character of a decomposition.
  private struct Part {
    var scalar: UInt32
    /// As `SourceCursor` has it.
    var change: Int32
    var combiningClass: UInt8
  }

  private let form: NormalizationForm
  /// In canonical order up to `sortedCount`.
  private var parts: [Part] = []
  private var sortedCount = 0
  private var sorted: [Part] = []

  init(form: NormalizationForm) { self.form = form }

  mutating func append(
    _ scalar: UInt32, _ data: NormalizationData, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    // A decomposition has at most 18 parts.
    if parts.capacity - parts.count < 18 {
      try monitor?.check()
      try parts.makeRoom(for: 18)
    }
    var change: Int32 = 0
    func add(_ part: UInt32) {
      let combiningClass = UnicodeData.shared.properties(of: part).combiningClass
      if combiningClass == 0 { sortPending() }
      parts.append(Part(scalar: part, change: change, combiningClass: combiningClass))
      change = 1
    }
    if form.isCompatible {
      data.forEachCompatibilityPart(of: scalar, add)
    } else {
      UnicodeData.shared.forEachPart(of: scalar, add)
    }
  }

  /// Puts the parts since the last starter in canonical order: by combining class, equal ones as they are.
  private mutating func sortPending() {
    let pending = sortedCount..<parts.count
    sortedCount = parts.count
    if pending.count < 2 { return }
    if pending.count <= 16 {
      for index in pending.dropFirst() {
        var place = index
        while place > pending.lowerBound, parts[place - 1].combiningClass > parts[place].combiningClass {
          parts.swapAt(place - 1, place)
          place -= 1
        }
      }
      return
    }
    var begins = [Int](repeating: 0, count: 257)
    for index in pending { begins[Int(parts[index].combiningClass) + 1] += 1 }
    for order in 1...256 { begins[order] += begins[order - 1] }
    sorted = Array(parts[pending])
    for part in parts[pending] {
      sorted[begins[Int(part.combiningClass)]] = part
      begins[Int(part.combiningClass)] += 1
    }
    parts.replaceSubrange(pending, with: sorted)
  }

  /// Appends what the characters become, which begin at `position` of the text, and empties the run.
  mutating func write(
    from position: Int, _ text: borrowing NormalizedText, into target: inout NormalizedText,
    _ data: NormalizationData
  ) throws(BertQAError) {
    sortPending()
    sortedCount = 0
    var count = parts.count
    if form.composes { count = compose(data) }
    var cursor = SourceCursor(position: position)
    for part in parts[..<count] {
      try target.append(scalar: part.scalar, from: cursor.take(Int(part.change), text))
    }
    parts.removeAll(keepingCapacity: true)
  }

  /// Composes in place (UAX #15, section 1.3). Returns how many characters are left.
  private mutating func compose(_ data: NormalizationData) -> Int {
    var count = 0
    // The last starter, and the class of the last character kept after it; nil where none is.
    var starter: Int?
    var lastClass: UInt8?
    for part in parts {
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
