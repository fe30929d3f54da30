extension Pipeline {
  /// The normalizers beside BERT's: those of Unicode, of SentencePiece, and of plain text. Nil for any other type.
  static func unicodeNormalizer(
    _ step: ObjectReader, _ type: String
  ) throws(BertQAError) -> (any Normalizer)? {
    switch type {
    case "NFC": return FormNormalizer(.nfc)
    case "NFD": return FormNormalizer(.nfd)
    case "NFKC": return FormNormalizer(.nfkc)
    case "NFKD": return FormNormalizer(.nfkd)
    case "Nmt": return ControlNormalizer()
    case "Precompiled":
      let rules = try step.required("precompiled_charsmap", step.string("precompiled_charsmap"))
      return try CharacterMapNormalizer(
        try BertQAError.naming(step.file) { () throws(BertQAError) in try CharacterMap.decode(base64: rules) }
      )
    case "Prepend": return Prepender(try step.required("prepend", step.string("prepend")))
    case "Replace":
      let content = try step.required("content", step.string("content"))
      let pattern = try step.required("pattern", step.reader("pattern"))
      return try BertQAError.naming(step.file) { () throws(BertQAError) in
        if let text = try pattern.string("String") {
          return Replacer(try ReplacementPattern(string: text), with: content)
        }
        let expression = try pattern.required("Regex", pattern.string("Regex"))
        return Replacer(try ReplacementPattern(regularExpression: expression), with: content)
      }
    case "Strip":
      return EdgeStripper(
        left: try step.required("strip_left", step.bool("strip_left")),
        right: try step.required("strip_right", step.bool("strip_right")))
    default: return nil
    }
  }

  static var unicodeNormalizerTypes: [String] {
    ["NFC", "NFD", "NFKC", "NFKD", "Nmt", "Precompiled", "Prepend", "Replace", "Strip"]
  }
}
