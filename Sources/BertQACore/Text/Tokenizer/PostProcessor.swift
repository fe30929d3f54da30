/// The post-processor of a text's tokens, or a sequence of them.
struct PostProcessor: Sendable {
  /// How special tokens frame a text or a pair.
  private(set) var template = Template.none
  /// `add_prefix_space` of each post-processor that trims offsets.
  var trimming: [Bool] = []
  private(set) var tokenTypes = TokenTypes.zero

  /// The token types of a framed text or pair.
  enum TokenTypes: Sendable, Equatable {
    case zero
    /// 1 for a pair's second text and the special tokens after it, else 0.
    case ofSegments
    case other
  }

  init() {}

  init(_ template: Template, trimming: [Bool], tokenTypes: TokenTypes = .zero) {
    self.template = template
    self.trimming = trimming
    self.tokenTypes = tokenTypes
  }

  init(_ step: ObjectReader) throws(BertQAError) { try read(step) }

  private mutating func read(_ step: ObjectReader) throws(BertQAError) {
    let type = try Pipeline.typeName(of: step, "a post-processor")
    switch type {
    case "Sequence":
      for part in try step.readers("processors") { try read(part) }
    case "TemplateProcessing":
      try addTemplate(try Self.template(step), try Self.tokenTypes(step), step)
    case "BertProcessing":
      let (cls, sep) = try Self.classAndSeparator(step)
      try addTemplate(Template(prefix: [cls], separator: [sep], suffix: [sep]), .ofSegments, step)
    case "RobertaProcessing":
      let (cls, sep) = try Self.classAndSeparator(step)
      try addTemplate(Template(prefix: [cls], separator: [sep, sep], suffix: [sep]), .zero, step)
      if try step.bool("trim_offsets") ?? true { trimming.append(try step.bool("add_prefix_space") ?? true) }
    case "ByteLevel":
      if try step.bool("trim_offsets") ?? true { trimming.append(try step.bool("add_prefix_space") ?? true) }
    default:
      throw Pipeline.unsupported(
        step, "the post-processor", type,
        supported: ["BertProcessing", "ByteLevel", "RobertaProcessing", "Sequence", "TemplateProcessing"])
    }
  }

  private mutating func addTemplate(
    _ added: Template, _ types: TokenTypes, _ step: ObjectReader
  ) throws(BertQAError) {
    guard template.isEmpty else {
      throw BertQAError(
        .unsupported,
        "\(step.file): two post-processors add special tokens; only one that does is supported")
    }
    template = added
    tokenTypes = types
  }

  /// Returns the ids of "cls" and "sep", which are pairs of a spelling and an id.
  private static func classAndSeparator(_ step: ObjectReader) throws(BertQAError) -> (Int32, Int32) {
    func id(_ key: String) throws(BertQAError) -> Int32 {
      let value = try step.required(key, step.value)
      guard case .array(let pair) = value, pair.count == 2, let id = Pipeline.tokenID(pair[1]) else {
        throw step.mismatch(key, value, expected: "a token and its id")
      }
      return id
    }
    return (try id("cls"), try id("sep"))
  }

  /// Reads a template: "single" must be special tokens around A, "pair" the same around A and B with others between
  /// them.
  private static func template(_ step: ObjectReader) throws(BertQAError) -> Template {
    let specialTokens = try specialTokens(step)
    let single = try ids(step, "single", specialTokens)
    let pair = try ids(step, "pair", specialTokens)
    guard single.count == 2, pair.count == 3, pair[0] == single[0], pair[2] == single[1] else {
      throw BertQAError(
        .unsupported,
        "\(step.file): TemplateProcessing has another form than is supported: special tokens around one text, "
          + "\"single\", the same around two, \"pair\", and others between the two")
    }
    return Template(prefix: pair[0], separator: pair[1], suffix: pair[2])
  }

  /// Reads the "type_id" of a template's elements.
  private static func tokenTypes(_ step: ObjectReader) throws(BertQAError) -> TokenTypes {
    var hasSecond = false
    var (types, segments): ([Int], [Int]) = ([], [])
    for key in ["single", "pair"] {
      hasSecond = false
      for piece in try step.readers(key) {
        var element = try piece.reader("Sequence")
        if let element, try element.string("id") == "B" { hasSecond = true }
        if element == nil { element = try piece.reader("SpecialToken") }
        types.append(try element?.integer("type_id", in: 0...255) ?? 0)
        segments.append(hasSecond ? 1 : 0)
      }
    }
    if types.allSatisfy({ $0 == 0 }) { return .zero }
    return types == segments ? .ofSegments : .other
  }

  /// Returns the special tokens before, between and after the sequences of a template.
  private static func ids(
    _ step: ObjectReader, _ key: String, _ specialTokens: [[UInt8]: [Int32]]
  ) throws(BertQAError) -> [[Int32]] {
    var parts: [[Int32]] = [[]]
    var count = 0
    for piece in try step.readers(key) {
      if let sequence = try piece.reader("Sequence") {
        guard try sequence.string("id") == (parts.count == 1 ? "A" : "B") else { return [] }
        parts.append([])
        continue
      }
      let special = try piece.required("SpecialToken", piece.reader)
      let name = try special.required("id", special.string)
      guard let ids = specialTokens[Array(name.utf8)] else {
        throw BertQAError(
          .invalidModel,
          "\(step.file): \(quoted(key)) has \(quoted(name)), which is not in \"special_tokens\"")
      }
      count += ids.count
      guard count <= idLimit else {
        throw BertQAError(
          .tooLarge, "\(step.file): \(quoted(key)) has more than \(idLimit) special tokens")
      }
      parts[parts.count - 1] += ids
    }
    return parts
  }

  /// Far above the special tokens of any window. A short list can name the same long token again and again.
  private static let idLimit = 1024

  /// Returns the ids of a template's special tokens by the bytes of their names.
  private static func specialTokens(_ step: ObjectReader) throws(BertQAError) -> [[UInt8]: [Int32]] {
    let tokens = try step.required("special_tokens", step.reader)
    try Memory.require(160 * tokens.object.members.count)
    var result: [[UInt8]: [Int32]] = [:]
    for member in tokens.object.members {
      guard case .object(let token) = member.value, case .array(let values)? = token["ids"] else {
        throw BertQAError(
          .invalidModel, "\(step.file): the special token \(quoted(member.key)) has no \"ids\"")
      }
      var ids: [Int32] = []
      for value in values {
        guard let id = Pipeline.tokenID(value) else {
          throw tokens.mismatch("ids", value, expected: "ids")
        }
        ids.append(id)
      }
      result[Array(member.key.utf8)] = ids
    }
    return result
  }
}
