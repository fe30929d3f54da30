/// The rules of a SentencePiece model as tokenizers applies them: by grapheme clusters of less than six bytes, and
/// by characters else. Its name there: Precompiled.
struct CharacterMapNormalizer: Normalizer {
  private let map: CharacterMap
  private let breaks = GraphemeBreak.shared

  /// Clusters of more bytes are not looked up.
  private static let clusterLimit = 5

  init(_ map: CharacterMap) { self.map = map }

  func leaves(_ text: borrowing NormalizedText) -> Bool {
    plainCount(text, from: 0) == text.count
  }

  /// The ASCII characters from `begin` on that no rule begins with, without the last one before another character.
  private func plainCount(_ text: borrowing NormalizedText, from begin: Int) -> Int {
    var end = begin
    while end < text.count, text.base[end] < 0x80, !map.isMapped[Int(text.base[end])] { end &+= 1 }
    // What follows may be of the same cluster.
    if end < text.count, end > begin { end &-= 1 }
    return end - begin
  }

  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    var writer = CharacterMapWriter(map)
    var scanner = GraphemeBreak.Scanner()
    var nextCheck = CallPoll.textInterval
    // text[cluster ..< position] is the beginning of a cluster.
    var (cluster, position) = (0, 0)
    while position < text.count {
      if position == cluster, !writer.isDisplaced {
        let count = plainCount(text, from: position)
        if count > 0 {
          try writer.copy(text, position..<position + count, into: &target)
          position += count
          cluster = position
          scanner = GraphemeBreak.Scanner()
          continue
        }
      }
      let decoded = UTF8Codec.decode(text.base, at: position, end: text.count)
      if scanner.isBoundary(before: breaks.properties(of: decoded.scalar)), position > cluster {
        try write(text, cluster..<position, &writer, into: &target)
        cluster = position
      }
      position += decoded.size
      if position >= nextCheck {
        try monitor?.check()
        nextCheck = position + CallPoll.textInterval
      }
    }
    if position > cluster { try write(text, cluster..<position, &writer, into: &target) }
    try target.seal()
  }

  private func write(
    _ text: borrowing NormalizedText, _ cluster: Range<Int>, _ writer: inout CharacterMapWriter,
    into target: inout NormalizedText
  ) throws(BertQAError) {
    if cluster.count <= Self.clusterLimit, try writer.replace(text, cluster, into: &target) { return }
    var position = cluster.lowerBound
    while position < cluster.upperBound {
      let end = text.characterEnd(position + 1)
      if try !writer.replace(text, position..<end, into: &target) {
        try writer.keep(text, position..<end, into: &target)
      }
      position = end
    }
  }
}

/// Writes what a charsmap makes of a text.
private struct CharacterMapWriter {
  private let map: CharacterMap
  private var cursor = SourceCursor()
  /// The last character written: its place, what it stands for, and where the cursor was before it.
  private var last: (begin: Int, change: Int, position: Int)?
  /// Whether characters at the beginning were removed: ranges are off by them from there on, as in tokenizers.
  private(set) var isDisplaced = false

  init(_ map: CharacterMap) { self.map = map }

  /// Characters that stay, where nothing is displaced.
  mutating func copy(
    _ text: borrowing NormalizedText, _ range: Range<Int>, into target: inout NormalizedText
  ) throws(BertQAError) {
    try target.append(copying: text, range)
    cursor.position = range.upperBound
    last = (target.count - 1, 0, range.upperBound - 1)
  }

  /// A character that stays.
  mutating func keep(
    _ text: borrowing NormalizedText, _ character: Range<Int>, into target: inout NormalizedText
  ) throws(BertQAError) {
    var utf8: UInt32 = 0
    for (index, place) in character.enumerated() { utf8 |= UInt32(text.base[place]) << UInt32(8 * index) }
    try append(utf8, size: character.count, change: 0, text, into: &target)
  }

  /// Writes the replacement of text[range], if it has one.
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

  /// The last character written stands for `count` more characters of the text.
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
