extension Pipeline {
  /// Reads a normalizer: the steps that it comes to, in order.
  static func normalizers(_ step: ObjectReader) throws(BertQAError) -> [any Normalizer] {
    let type = try typeName(of: step, "a normalizer")
    switch type {
    case "Sequence":
      var steps: [any Normalizer] = []
      for part in try step.readers("normalizers") { steps += try normalizers(part) }
      return steps
    case "BertNormalizer": return [try BertNormalizer(TokenizerConfiguration(normalizer: step))]
    case "Lowercase": return [Lowercase()]
    case "StripAccents": return [StripAccents()]
    default:
      if let normalizer = try unicodeNormalizer(step, type) { return [normalizer] }
      throw unsupported(
        step, "the normalizer", type,
        supported: ["BertNormalizer", "Lowercase", "Sequence", "StripAccents"] + unicodeNormalizerTypes)
    }
  }
}
