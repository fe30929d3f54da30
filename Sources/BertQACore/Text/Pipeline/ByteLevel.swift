/// GPT-2's pre-tokenizer: a space before the first word, words by a pattern, and bytes spelled in `ByteAlphabet`.
struct ByteLevel: PreTokenizer {
  private let addsPrefixSpace: Bool
  /// Whether words are cut by GPT-2's pattern.
  private let usesPattern: Bool
  /// Whether the text changes to the alphabet's characters. A model that reads bytes spares this step.
  private(set) var spellsBytes = true

  init(addsPrefixSpace: Bool, usesPattern: Bool) {
    self.addsPrefixSpace = addsPrefixSpace
    self.usesPattern = usesPattern
  }

  init(_ step: ObjectReader) throws(BertQAError) {
    self.init(
      addsPrefixSpace: try step.bool("add_prefix_space") ?? true,
      usesPattern: try step.bool("use_regex") ?? true)
  }

  var wordMark: WordMark? { .byteLevel }

  func leaving(_ part: TakenStep) -> any PreTokenizer {
    var step = self
    if case .spelling = part { step.spellsBytes = false }
    return step
  }

  func cut(_ words: inout Words, _ monitor: CallMonitor?) throws(BertQAError) {
    if addsPrefixSpace { try words.addPrefixSpaces(monitor) }
    if usesPattern { try SplitStep(GPT2Pattern(), .isolated).cut(&words, monitor) }
    if spellsBytes { try words.spell(monitor) }
  }
}

extension Words {
  /// Puts a space before each word that has none.
  fileprivate mutating func addPrefixSpaces(_ monitor: CallMonitor?) throws(BertQAError) {
    var hasAll = true
    for index in 0..<ranges.count where text.base[Int(ranges[index].start)] != 0x20 { hasAll = false }
    if hasAll { return }
    try text.writeSources(monitor)
    newText.removeAll(begin: text.begin)
    for index in 0..<ranges.count {
      if index % CallPoll.elementInterval == 0 { try monitor?.check() }
      let word = Int(ranges[index].start)..<Int(ranges[index].end)
      let start = newText.count
      if text.base[word.lowerBound] != 0x20 {
        // It counts as made from the first character.
        try newText.append(0x20, size: 1, from: text.sources[word.lowerBound])
      }
      try newText.append(copying: text, word, monitor)
      try newRanges.append(ByteRange(start, newText.count))
    }
    try newText.seal()
    takeNewText()
    takeNewRanges()
  }

  /// Replaces each byte of the words by its character in `ByteAlphabet`.
  fileprivate mutating func spell(_ monitor: CallMonitor?) throws(BertQAError) {
    let alphabet = ByteAlphabet.scalars
    try text.writeSources(monitor)
    newText.removeAll(begin: text.begin)
    for index in 0..<ranges.count {
      let start = newText.count
      for position in Int(ranges[index].start)..<Int(ranges[index].end) {
        try newText.append(scalar: alphabet[Int(text.base[position])], from: text.sources[position])
        if position % CallPoll.textInterval == 0 { try monitor?.check() }
      }
      try newRanges.append(ByteRange(start, newText.count))
    }
    try newText.seal()
    takeNewText()
    takeNewRanges()
  }
}
