extension Pipeline {
  /// Reads a pre-tokenizer as its steps, in order.
  static func preTokenizers(_ step: ObjectReader) throws(BertQAError) -> [any PreTokenizer] {
    let type = try typeName(of: step, "a pre-tokenizer")
    switch type {
    case "Sequence":
      var steps: [any PreTokenizer] = []
      for part in try step.readers("pretokenizers") { steps += try preTokenizers(part) }
      return steps
    case "BertPreTokenizer": return [BertPreTokenizer()]
    case "WhitespaceSplit": return [SplitStep(SpacePattern(), .removed)]
    case "Whitespace": return [SplitStep(WordPattern(), .removed, inverted: true)]
    case "Punctuation":
      let name = try step.string("behavior") ?? SplitBehavior.isolated.rawValue
      return [SplitStep(ClassPattern(.punctuation), try behavior(name, step))]
    case "Digits":
      let isolates = try step.bool("individual_digits") ?? false
      return [SplitStep(ClassPattern(.numeric), isolates ? .isolated : .contiguous)]
    case "CharDelimiterSplit":
      let delimiter = try step.required("delimiter", step.string)
      guard delimiter.unicodeScalars.count == 1 else {
        throw step.mismatch("delimiter", .string(delimiter), expected: "one character")
      }
      return [SplitStep(TextPattern(delimiter), .removed)]
    case "FixedLength":
      let length = try step.integer("length", in: 1...Int(Int32.max)) ?? 5
      return [SplitStep(AnyPattern(count: length), .isolated)]
    case "Split": return try split(step)
    case "ByteLevel": return [try ByteLevel(step)]
    case "Metaspace": return [try Metaspace(step)]
    default:
      throw unsupported(
        step, "the pre-tokenizer", type,
        supported: [
          "BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Digits", "FixedLength", "Metaspace",
          "Punctuation", "Sequence", "Split", "Whitespace", "WhitespaceSplit",
        ])
    }
  }

  private static func behavior(_ name: String, _ step: ObjectReader) throws(BertQAError) -> SplitBehavior {
    if let behavior = SplitBehavior(rawValue: name) { return behavior }
    throw unsupported(step, "the behavior", name, supported: SplitBehavior.allCases.map(\.rawValue))
  }

  private static func split(_ step: ObjectReader) throws(BertQAError) -> [any PreTokenizer] {
    let behavior = try behavior(step.required("behavior", step.string), step)
    let inverted = try step.bool("invert") ?? false
    let pattern = try step.required("pattern", step.reader)
    let string = try pattern.string("String")
    let expression = if let string { string } else { try pattern.required("Regex", pattern.string) }
    if expression.isEmpty {
      // It matches between all characters: the matches are empty, and the characters are the text between them.
      return [SplitStep(AnyPattern(), behavior == .removed && inverted ? .removed : .isolated)]
    }
    if let string { return [SplitStep(TextPattern(string), behavior, inverted: inverted)] }
    return [try splitStep(expression, behavior, inverted: inverted, file: step.file)]
  }
}

extension Pipeline {
  /// Makes a split at the matches of a regular expression, which must be one of those in use.
  private static func splitStep(
    _ expression: String, _ behavior: SplitBehavior, inverted: Bool, file: String
  ) throws(BertQAError) -> any PreTokenizer {
    if expression == GPT2Pattern.expression { return SplitStep(GPT2Pattern(), behavior, inverted: inverted) }
    if expression == O200KPattern.expression {
      return SplitStep(O200KPattern(), behavior, inverted: inverted)
    }
    if let pattern = TiktokenPattern(expression) { return SplitStep(pattern, behavior, inverted: inverted) }
    if let (characters, limit) = run(expression) {
      return limit == 1
        ? SplitStep(ClassPattern(characters), behavior, inverted: inverted)
        : SplitStep(RunPattern(characters, limit: limit), behavior, inverted: inverted)
    }
    // No special characters: a plain text.
    if !expression.utf8.contains(where: { #"\^$.|?*+()[]{}"#.utf8.contains($0) }) {
      return SplitStep(TextPattern(expression), behavior, inverted: inverted)
    }
    throw BertQAError(
      .unsupported,
      "\(file): a Split has the regular expression \(quoted(expression)), which is not supported; supported: "
        + "those of GPT-2, cl100k (Llama 3), Qwen 2 and o200k, \(classes.map(\.name).joined(separator: ", ")), "
        + "each of these with + or {1,3}, and texts without special characters")
  }

  /// Returns the class of characters and the length of the longest run that an expression such as `\d{1,3}` matches.
  private static func run(_ expression: String) -> (CharacterClass, limit: Int)? {
    for (name, characters) in classes where expression.hasPrefix(name) {
      switch expression.dropFirst(name.count) {
      case "": return (characters, 1)
      case "+": return (characters, .max)
      case "{1,3}": return (characters, 3)
      default: return nil
      }
    }
    return nil
  }

  private static var classes: [(name: String, characters: CharacterClass)] {
    [
      (#"\s"#, .space), (#"\w"#, .regexWord), (#"\d"#, .digit), ("[0-9]", .asciiDigit), (#"\p{L}"#, .letter),
      (#"\p{N}"#, .number), (#"\p{P}"#, .regexPunctuation),
    ]
  }
}
