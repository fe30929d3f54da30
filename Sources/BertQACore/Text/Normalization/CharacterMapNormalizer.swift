/// Applies the rules of a SentencePiece model as tokenizers does: to grapheme clusters of less than six bytes, else
/// to characters. tokenizers calls it Precompiled.
struct CharacterMapNormalizer: Normalizer {
  private let map: CharacterMap
  private let breaks = GraphemeBreak.shared
  /// A bit for each code point below U+10000: set if it has no rule and begins a cluster after another such
  /// character.
  private let plain: SharedBuffer<UInt64>

  /// Clusters of more bytes are not looked up.
  private static let clusterLimit = 5

  init(_ map: CharacterMap) throws(BertQAError) {
    self.map = map
    plain = try SharedBuffer(count: 0x10000 / 64)
    for index in 0..<plain.count {
      var bits: UInt64 = 0
      for bit in 0..<64 {
        let scalar = UInt32(64 * index + bit)
        if !GraphemeBreak.joins(breaks.properties(of: scalar)), !map.hasRule(for: scalar) {
          bits |= 1 << UInt64(bit)
        }
      }
      plain.base[index] = bits
    }
  }

  func leaves(_ text: borrowing NormalizedText, _ monitor: CallMonitor?) throws(BertQAError) -> Bool {
    var position = 0
    while position < text.count {
      let limit = min(text.count, position + CallPoll.textInterval)
      position = plainEnd(text, from: position, to: limit).end
      if position < limit { return false }
      try monitor?.check()
    }
    return true
  }

  /// Returns the end of the plain characters from `begin` on, or of the first one that ends at or after `limit`, and
  /// the beginning of the last of them; both are `begin` if the first character is not plain.
  private func plainEnd(
    _ text: borrowing NormalizedText, from begin: Int, to limit: Int
  ) -> (last: Int, end: Int) {
    let (bytes, plain) = (UnsafePointer(text.base), UnsafePointer(plain.base))
    var last = begin
    var end = begin
    while end < limit {
      let lead = UInt32(bytes[end])
      let scalar: UInt32
      let size: Int
      if lead < 0x80 {
        (scalar, size) = (lead, 1)
      } else if lead < 0xE0 {
        (scalar, size) = ((lead & 0x1F) << 6 | UInt32(bytes[end &+ 1]) & 0x3F, 2)
      } else if lead < 0xF0 {
        let middle = (UInt32(bytes[end &+ 1]) & 0x3F) << 6
        (scalar, size) = ((lead & 0xF) << 12 | middle | UInt32(bytes[end &+ 2]) & 0x3F, 3)
      } else {
        break
      }
      if plain[Int(scalar &>> 6)] &>> UInt64(scalar & 63) & 1 == 0 { break }
      last = end
      end &+= size
    }
    return (last, end)
  }

  private func clusterEnd(
    _ text: borrowing NormalizedText, from begin: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> Int {
    var scanner = GraphemeBreak.Scanner()
    var end = begin
    while end < text.count {
      try poll.reach(end)
      let decoded = UTF8Codec.decode(text.base, at: end, end: text.count)
      if scanner.isBoundary(before: breaks.properties(of: decoded.scalar)), end > begin { break }
      end &+= decoded.size
    }
    return end
  }

  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    var writer = CharacterMapWriter(map)
    var position = 0
    var poll = TextPoll(monitor)
    while position < text.count {
      try poll.reach(position)
      if !writer.isDisplaced {
        let plain = plainEnd(text, from: position, to: min(text.count, poll.next))
        // The last one may share a cluster with what follows.
        let end = plain.end == text.count ? plain.end : plain.last
        if end > position {
          try writer.copy(text, position..<end, into: &target, monitor)
          position = end
          continue
        }
      }
      let end = try clusterEnd(text, from: position, &poll)
      try write(text, position..<end, &writer, into: &target, monitor)
      position = end
    }
    try target.seal()
  }

  private func write(
    _ text: borrowing NormalizedText, _ cluster: Range<Int>, _ writer: inout CharacterMapWriter,
    into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    var position = cluster.lowerBound
    var poll = TextPoll(monitor, from: position)
    let isSingle = text.characterEnd(position + 1) == cluster.upperBound
    if !isSingle, cluster.count <= Self.clusterLimit, try writer.replace(text, cluster, into: &target) {
      return
    }
    while position < cluster.upperBound {
      try poll.reach(position)
      let end = text.characterEnd(position + 1)
      if try !writer.replace(text, position..<end, into: &target) {
        try writer.keep(text, position..<end, into: &target)
      }
      position = end
    }
  }
}

/// Writes a text as a charsmap normalises it.
private struct CharacterMapWriter {
  private let map: CharacterMap
  private var cursor = SourceCursor()
  /// The last character written: its place, its change, and the cursor's place before it.
  private var last: (begin: Int, change: Int, position: Int)?
  /// True if characters at the beginning were removed: from there on ranges are off by them, as in tokenizers.
  private(set) var isDisplaced = false

  init(_ map: CharacterMap) { self.map = map }

  /// Copies characters that stay, if nothing is displaced.
  mutating func copy(
    _ text: borrowing NormalizedText, _ range: Range<Int>, into target: inout NormalizedText,
    _ monitor: CallMonitor?
  ) throws(BertQAError) {
    try target.append(copying: text, range, monitor)
    cursor.position = range.upperBound
    let size = range.upperBound - text.characterStart(range.upperBound - 1)
    last = (target.count - size, 0, range.upperBound - size)
  }

  /// Copies a character that stays.
  mutating func keep(
    _ text: borrowing NormalizedText, _ character: Range<Int>, into target: inout NormalizedText
  ) throws(BertQAError) {
    var utf8: UInt32 = 0
    for (index, place) in character.enumerated() { utf8 |= UInt32(text.base[place]) << UInt32(8 * index) }
    try append(utf8, size: character.count, change: 0, text, into: &target)
  }

  /// Writes the replacement of `text[range]`; false if it has none.
  mutating func replace(
    _ text: borrowing NormalizedText, _ range: Range<Int>, into target: inout NormalizedText
  ) throws(BertQAError) -> Bool {
    let old = UnsafeBufferPointer(start: text.base + range.lowerBound, count: range.count)
    guard let new = map.replacement(of: UnsafeBufferPointer(rebasing: old[...])) else { return false }
    let (oldCount, newCount) = (characterCount(old), characterCount(new))
    var position = 0
    for index in 0..<newCount {
      var utf8: UInt32 = 0
      var size = 0
      repeat {
        utf8 |= UInt32(new[position + size]) << UInt32(8 * size)
        size += 1
      } while position + size < new.count && new[position + size] & 0xC0 == 0x80
      position += size
      var change = index < oldCount ? 0 : 1
      if index == newCount - 1, oldCount > newCount { change = newCount - oldCount }
      try append(utf8, size: size, change: change, text, into: &target)
    }
    if newCount == 0 { swallow(oldCount, text, in: &target) }
    return true
  }

  private mutating func append(
    _ utf8: UInt32, size: Int, change: Int, _ text: borrowing NormalizedText,
    into target: inout NormalizedText
  ) throws(BertQAError) {
    last = (target.count, change, cursor.position)
    try target.append(utf8, size: size, from: cursor.take(change, text))
  }

  /// Makes the last character written represent `count` more characters of the text.
  private mutating func swallow(
    _ count: Int, _ text: borrowing NormalizedText, in target: inout NormalizedText
  ) {
    guard let last else {
      isDisplaced = true
      return
    }
    cursor.position = last.position
    let change = last.change - count
    let source = cursor.take(change, text)
    self.last = (last.begin, change, last.position)
    for index in last.begin..<target.count { target.sources[index] = source }
  }

  private func characterCount(_ text: UnsafeBufferPointer<UInt8>) -> Int {
    text.reduce(0) { $1 & 0xC0 == 0x80 ? $0 : $0 + 1 }
  }
}
