extension Pipeline {
  /// A split at the matches of a regular expression: one of those in use, told by its text.
  static func splitStep(
    _ expression: String, _ behavior: SplitBehavior, inverted: Bool, file: String
  ) throws(BertQAError) -> any PreTokenizer {
    if expression == GPT2Pattern.expression { return SplitStep(GPT2Pattern(), behavior, inverted: inverted) }
    if expression == O200KPattern.expression {
      return SplitStep(O200KPattern(), behavior, inverted: inverted)
    }
    if let pattern = TiktokenPattern(expression) { return SplitStep(pattern, behavior, inverted: inverted) }
    if let (characters, limit) = runs[expression] {
      return limit == 1
        ? SplitStep(ClassPattern(characters), behavior, inverted: inverted)
        : SplitStep(RunPattern(characters, limit: limit), behavior, inverted: inverted)
    }
    // Nothing in it that means anything but itself.
    if !expression.isEmpty, !expression.utf8.contains(where: { #"\^$.|?*+()[]{}"#.utf8.contains($0) }) {
      return SplitStep(TextPattern(expression), behavior, inverted: inverted)
    }
    throw BertQAError(
      .unsupported,
      "\(file): a Split has the regular expression \(quoted(expression)), which is not supported; supported: "
        + "those of GPT-2, cl100k (Llama 3), Qwen 2 and o200k, \(runs.keys.sorted().joined(separator: ", ")), "
        + "and texts without special characters")
  }

  private static var runs: [String: (CharacterClass, Int)] {
    [
      #"\s"#: (.space, 1), #"\s+"#: (.space, .max),
      #"\d"#: (.digit, 1), #"\d+"#: (.digit, .max), #"\d{1,3}"#: (.digit, 3),
      #"\p{N}"#: (.number, 1), #"\p{N}+"#: (.number, .max), #"\p{N}{1,3}"#: (.number, 3),
      #"\p{L}+"#: (.letter, .max),
    ]
  }
}
