/// Splits text into the words of a recurrent language model's training text.
///
/// A word is a run of letters, digits and their marks. An apostrophe or hyphen between two of these is part
/// of the word, and so is one apostrophe at its end (`death-mark'd`, `parents'`). The typographic apostrophe
/// counts as `'`. Any other punctuation mark is a separate word. Apostrophes and quotation marks outside of
/// words, and control and format characters, are dropped unless the vocabulary has them. Case is kept.
struct WordSplitter {
  private enum Kind {
    case space, letter, apostrophe, hyphen, quotation, mark, ignored
  }

  private let words: WordVocabulary
  private let unicode = UnicodeData.shared
  private(set) var ids: [Int32] = []
  private(set) var unknownCount = 0
  private let monitor: CallMonitor
  /// The bytes that `monitor` accounts for.
  var heldBytes: Int { ids.capacity * MemoryLayout<Int32>.stride }
  /// The byte of the text at which the monitor is polled next.
  private var nextPoll = CallPoll.textInterval

  private init(_ words: WordVocabulary, _ monitor: CallMonitor) {
    self.words = words
    self.monitor = monitor
  }

  /// Returns the ids of a text's words.
  static func split(
    _ text: UnsafeBufferPointer<UInt8>, _ words: WordVocabulary, _ monitor: CallMonitor
  ) throws(BertQAError) -> WordSplitter {
    var splitter = WordSplitter(words, monitor)
    let before = monitor.heldBytes
    switch words.units {
    case .words: try splitter.readWords(text)
    case .characters: try splitter.readCharacters(text)
    }
    try splitter.poll(at: text.count)
    monitor.release(monitor.heldBytes - before - splitter.heldBytes)
    return splitter
  }

  /// Polls the monitor.
  private mutating func poll(at position: Int) throws(BertQAError) {
    try monitor.check()
    try monitor.check(tokenCount: ids.count)
    nextPoll = position + CallPoll.textInterval
  }

  private mutating func readCharacters(_ text: UnsafeBufferPointer<UInt8>) throws(BertQAError) {
    guard let base = text.baseAddress else { return }
    var position = 0
    while position < text.count {
      let unit = UTF8Codec.decode(base, at: position, end: text.count)
      try append(Self.bytes(of: unit.scalar))
      position += unit.size
      if position >= nextPoll { try poll(at: position) }
    }
  }

  private mutating func readWords(_ text: UnsafeBufferPointer<UInt8>) throws(BertQAError) {
    guard let base = text.baseAddress else { return }
    var word: [UInt8] = []
    // An apostrophe or hyphen after a letter. The next character decides whether it belongs to the word.
    var joint: Kind?
    var position = 0
    while position < text.count {
      let unit = UTF8Codec.decode(base, at: position, end: text.count)
      position += unit.size
      if position >= nextPoll { try poll(at: position) }
      let kind = kind(of: unit.scalar)
      if kind == .ignored { continue }
      if kind == .letter {
        try word.makeRoom(for: 8, monitor)
        if let joint { word.append(Self.byte(of: joint)) }
        joint = nil
        word += Self.bytes(of: unit.scalar)
        continue
      }
      if joint == nil, !word.isEmpty, kind == .apostrophe || kind == .hyphen {
        joint = kind
        continue
      }
      try finish(&word, &joint)
      switch kind {
      case .mark: try append(Self.bytes(of: unit.scalar))
      case .hyphen: try append([Self.byte(of: .hyphen)])
      case .apostrophe: try append([Self.byte(of: .apostrophe)], onlyIfKnown: true)
      case .quotation: try append(Self.bytes(of: unit.scalar), onlyIfKnown: true)
      case .space, .letter, .ignored: break
      }
    }
    try finish(&word, &joint)
  }

  /// Ends a word. An apostrophe after it belongs to it, unless the vocabulary has only the word without the
  /// apostrophe: then it closed a quotation.
  private mutating func finish(_ word: inout [UInt8], _ joint: inout Kind?) throws(BertQAError) {
    guard !word.isEmpty else { return }
    if joint == .apostrophe {
      try monitor.hold(word.count)
      defer { monitor.release(word.count) }
      let longer = word + [Self.byte(of: .apostrophe)]
      if isKnown(longer) || !isKnown(word) { word = longer }
    }
    try append(word)
    if joint == .hyphen { try append([Self.byte(of: .hyphen)]) }
    word.removeAll(keepingCapacity: true)
    joint = nil
  }

  private func isKnown(_ word: [UInt8]) -> Bool {
    word.withUnsafeBufferPointer { words.vocabulary.id(of: $0) } != nil
  }

  private mutating func append(_ word: [UInt8], onlyIfKnown: Bool = false) throws(BertQAError) {
    if onlyIfKnown, !isKnown(word) { return }
    let read = try word.withElements { word throws(BertQAError) in try words.id(reading: word) }
    try ids.makeRoom(for: 1, monitor)
    ids.append(read.id)
    if read.isUnknown { unknownCount += 1 }
  }

  private func kind(of scalar: UInt32) -> Kind {
    switch scalar {
    case 0x27, 0x2019, 0x2BC: return .apostrophe
    case 0x2D, 0x2010, 0x2011: return .hyphen
    case 0x22, 0xAB, 0xBB, 0x2018, 0x201A...0x201F, 0x2039, 0x203A: return .quotation
    case 0xFFFD: return .mark
    default: break
    }
    let properties = unicode.properties(of: scalar)
    if properties.isWhitespace { return .space }
    if properties.isRemoved { return .ignored }
    return properties.isPunctuation ? .mark : .letter
  }

  private static func byte(of joint: Kind) -> UInt8 { joint == .hyphen ? 0x2D : 0x27 }

  private static func bytes(of scalar: UInt32) -> [UInt8] {
    let (bytes, count) = UTF8Codec.encode(scalar)
    return (0..<count).map { UInt8(truncatingIfNeeded: bytes >> UInt32(8 * $0)) }
  }
}
