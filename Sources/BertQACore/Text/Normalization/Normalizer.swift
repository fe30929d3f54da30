/// One step of normalisation: a normalizer of tokenizers. A sequence is several of them.
///
/// To add one, add a conformance in this folder and a case in `Pipeline.normalizers`.
protocol Normalizer: Sendable {
  /// Returns true if `text` stays as it is: a quick check, for example for ASCII. False if that is unknown.
  func leaves(_ text: borrowing NormalizedText, _ monitor: CallMonitor?) throws(BertQAError) -> Bool

  /// True if it does not read the `sources` of a verbatim text.
  var readsVerbatim: Bool { get }

  /// Appends the normalised `text` to `target`, which is empty and of the same part, and seals it. `text` has
  /// `sources` unless it is verbatim and `readsVerbatim`. Linear in the text.
  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError)

  /// True if upper and lower case become the same.
  var lowercases: Bool { get }

  /// The table that it applies, if it is BERT's normalizer.
  var characterTable: NormalizationTable? { get }
}

extension Normalizer {
  func leaves(_ text: borrowing NormalizedText, _ monitor: CallMonitor?) throws(BertQAError) -> Bool { false }
  var lowercases: Bool { false }
  var readsVerbatim: Bool { false }
  var characterTable: NormalizationTable? { nil }
}

extension Pipeline {
  /// Reads a normalizer as its steps, in order.
  static func normalizers(_ step: ObjectReader) throws(BertQAError) -> [any Normalizer] {
    let type = try typeName(of: step, "a normalizer")
    switch type {
    case "Sequence":
      var steps: [any Normalizer] = []
      for part in try step.readers("normalizers") { steps += try normalizers(part) }
      return steps
    case "BertNormalizer": return [try BertNormalizer(TokenizerConfiguration(normalizer: step))]
    case "ByteLevel": return [ByteSpeller()]
    case "Lowercase": return [Lowercase()]
    case "StripAccents": return [StripAccents()]
    case "NFC": return [FormNormalizer(.nfc)]
    case "NFD": return [FormNormalizer(.nfd)]
    case "NFKC": return [FormNormalizer(.nfkc)]
    case "NFKD": return [FormNormalizer(.nfkd)]
    case "Nmt": return [ControlNormalizer()]
    case "Precompiled":
      let rules = try step.required("precompiled_charsmap", step.string)
      return [
        try CharacterMapNormalizer(
          BertQAError.naming(step.file) { () throws(BertQAError) in try CharacterMap.decode(base64: rules) })
      ]
    case "Prepend": return [Prepender(try step.required("prepend", step.string))]
    case "Replace": return [try replacer(step)]
    case "Strip":
      return [
        EdgeStripper(
          left: try step.required("strip_left", step.bool),
          right: try step.required("strip_right", step.bool))
      ]
    default:
      throw unsupported(
        step, "the normalizer", type,
        supported: [
          "BertNormalizer", "ByteLevel", "Lowercase", "Sequence", "StripAccents", "NFC", "NFD", "NFKC",
          "NFKD", "Nmt", "Precompiled", "Prepend", "Replace", "Strip",
        ])
    }
  }

  private static func replacer(_ step: ObjectReader) throws(BertQAError) -> Replacer {
    let content = try step.required("content", step.string)
    let pattern = try step.required("pattern", step.reader)
    return try BertQAError.naming(step.file) { () throws(BertQAError) in
      if let text = try pattern.string("String") {
        return Replacer(try ReplacementPattern(string: text), with: content)
      }
      let expression = try pattern.required("Regex", pattern.string)
      return Replacer(try ReplacementPattern(regularExpression: expression), with: content)
    }
  }
}
