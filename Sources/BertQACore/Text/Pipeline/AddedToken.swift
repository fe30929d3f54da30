/// A token with a spelling of its own beside the model's pieces: `added_tokens` of `tokenizer.json`.
struct AddedToken: Sendable, Equatable {
  var content: String
  /// A control token such as "[SEP]", which in a text is text unless the caller asks for the token.
  var isSpecial = false
  /// Found in the normalised text rather than in the caller's, spelled as normalisation spells it.
  var isNormalized = true
  /// Found only where no letter, digit, mark or connector is beside it.
  var isSingleWord = false
  /// Takes the white space before it.
  var stripsLeft = false
  /// Takes the white space behind it.
  var stripsRight = false

  init(_ content: String, isSpecial: Bool = false) {
    self.content = content
    self.isSpecial = isSpecial
    isNormalized = !isSpecial
  }

  /// Reads an element of `added_tokens`, or a token of `tokenizer_config.json`.
  init(_ reader: ObjectReader) throws(BertQAError) {
    guard let content = try reader.string("content") else {
      throw BertQAError(.invalidModel, "\(reader.file): an added token has no \"content\"")
    }
    self.content = content
    isSpecial = try reader.bool("special") ?? false
    isNormalized = try reader.bool("normalized") ?? !isSpecial
    isSingleWord = try reader.bool("single_word") ?? false
    stripsLeft = try reader.bool("lstrip") ?? false
    stripsRight = try reader.bool("rstrip") ?? false
  }
}
