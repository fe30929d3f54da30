/// How a model of late interaction (ColBERT: Khattab and Zaharia 2020, https://arxiv.org/abs/2004.12832) reads queries
/// and documents.
struct LateInteraction: Sendable, Equatable {
  /// How one of the two is read.
  struct Side: Sendable, Equatable {
    /// The piece after the template's beginning; nil if there is none.
    var marker: String?
    /// The number of tokens in a window, including special tokens.
    var length: Int
  }

  var query: Side
  var document: Side
  /// The piece that pads queries to their length; nil: they are not padded.
  var expansion: String?
  /// True if tokens attend to these pieces.
  var attendsToExpansion = false
  /// The pieces of documents that have no vector.
  var skipped: [String] = []

  private enum Key {
    static let own = "late_interaction"
    static let expansion = "mask_token"
  }

  /// The keys of the settings in a file.
  private struct Keys {
    var queryMarker: String
    var documentMarker: String
    var queryLength: String
    var documentLength: String
    var attends: String

    /// `config_sentence_transformers.json` as PyLate writes it. The "bertqa" object of `config.json` has the same.
    static let pylate = Keys(
      queryMarker: "query_prefix", documentMarker: "document_prefix", queryLength: "query_length",
      documentLength: "document_length", attends: "attend_to_expansion_tokens")

    /// `artifact.metadata` of ColBERT's authors.
    static let colbert = Keys(
      queryMarker: "query_token_id", documentMarker: "doc_token_id", queryLength: "query_maxlen",
      documentLength: "doc_maxlen", attends: "attend_to_mask_tokens")
  }

  /// string.punctuation of Python.
  private static let punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~".map { String($0) }

  private init(
    query: Side, document: Side, expansion: String?, attendsToExpansion: Bool, skipped: [String]
  ) {
    (self.query, self.document, self.expansion) = (query, document, expansion)
    (self.attendsToExpansion, self.skipped) = (attendsToExpansion, skipped)
  }

  /// - Parameters:
  ///   - query, document: the values for absent keys.
  private init(
    _ reader: ObjectReader, _ keys: Keys, query: Side, document: Side
  ) throws(BertQAError) {
    func side(_ side: Side, _ marker: String, _ length: String) throws(BertQAError) -> Side {
      Side(
        marker: try reader.string(marker) ?? side.marker,
        length: try reader.integer(length, in: 1...(1 << 20)) ?? side.length)
    }
    self.query = try side(query, keys.queryMarker, keys.queryLength)
    self.document = try side(document, keys.documentMarker, keys.documentLength)
    attendsToExpansion = try reader.bool(keys.attends) ?? false
  }

  /// Reads the settings of PyLate.
  static func pylate(_ directory: ModelDirectory, mask: String) throws(BertQAError) -> LateInteraction {
    let name = "config_sentence_transformers.json"
    let reader =
      directory.exists(name)
      ? try directory.object(in: name) : ObjectReader(file: directory.path(of: name), object: JSON.Object())
    if let name = try reader.string("similarity_fn_name"), name.lowercased() != "maxsim" {
      throw reader.mismatch("similarity_fn_name", .string(name), expected: "\"MaxSim\"")
    }
    var found = try LateInteraction(
      reader, .pylate, query: Side(marker: "[Q] ", length: 32), document: Side(marker: "[D] ", length: 180))
    if try reader.bool("do_query_expansion") ?? true { found.expansion = mask }
    found.skipped = try Self.pieces(reader, "skiplist_words") ?? punctuation
    return found
  }

  /// Reads `artifact.metadata`.
  static func colbert(_ directory: ModelDirectory, mask: String) throws(BertQAError) -> LateInteraction {
    let reader = try directory.object(in: fileName)
    if let name = try reader.string("similarity"), name != "cosine" {
      throw reader.mismatch("similarity", .string(name), expected: "\"cosine\"")
    }
    var found = try LateInteraction(
      reader, .colbert, query: Side(marker: "[unused0]", length: 32),
      document: Side(marker: "[unused1]", length: 220))
    found.expansion = mask
    if try reader.bool("mask_punctuation") ?? true { found.skipped = punctuation }
    return found
  }

  /// Reads what MultiVectorEncoder of sentence-transformers 6 saves.
  /// - Parameters:
  ///   - module: the file of its module MultiVectorMask.
  ///   - transformer: the file of its module Transformer.
  ///   - prompts: texts before queries and documents. Their first pieces become markers.
  ///   - length: the most tokens of a window.
  static func multiVector(
    _ module: ObjectReader, _ transformer: ObjectReader, _ prompts: inout EmbeddingPrompts, length: Int,
    mask: String, isPiece: (String) -> Bool
  ) throws(BertQAError) -> LateInteraction {
    try module.require("skiplist_tasks", .array([.string(PromptName.document)]))
    try module.require("keep_only_token_ids", .null)
    let expansion = try transformer.reader("query_expansion")
    try expansion?.require("strategy", .string("fixed"))
    func side(_ name: String, _ length: Int) -> Side {
      Side(marker: prompts.takeMarker(name, isPiece: isPiece), length: length)
    }
    func number(_ reader: ObjectReader?, _ key: String) throws(BertQAError) -> Int? {
      try reader?.integer(key, in: 1...(1 << 20)).map { min($0, length) }
    }
    let own = try number(transformer, "query_length")
    return LateInteraction(
      query: side(PromptName.query, try number(expansion, "length") ?? own ?? length),
      document: side(PromptName.document, try number(transformer, "document_length") ?? length),
      expansion: try expansion.map { expansion throws(BertQAError) in try expansion.string("token") ?? mask },
      attendsToExpansion: try expansion?.bool("attend") ?? false,
      skipped: try pieces(module, "skiplist_words") ?? [])
  }

  static let fileName = "artifact.metadata"

  /// Reads the "bertqa" object of `config.json`; nil if it has no such settings.
  static func own(_ reader: ObjectReader) throws(BertQAError) -> LateInteraction? {
    guard let reader = try reader.reader(Key.own) else { return nil }
    var found = try LateInteraction(
      reader, .pylate, query: Side(marker: nil, length: 32), document: Side(marker: nil, length: 180))
    found.expansion = try reader.string(Key.expansion)
    found.skipped = try Self.pieces(reader, "skiplist_words") ?? []
    return found
  }

  /// Writes the settings as a member of "bertqa".
  func write(to own: inout JSON.Object) {
    var object = JSON.Object()
    let keys = Keys.pylate
    if let marker = query.marker { object[keys.queryMarker] = .string(marker) }
    if let marker = document.marker { object[keys.documentMarker] = .string(marker) }
    object[keys.queryLength] = .number(query.length)
    object[keys.documentLength] = .number(document.length)
    object[keys.attends] = .bool(attendsToExpansion)
    if let expansion { object[Key.expansion] = .string(expansion) }
    object["skiplist_words"] = .array(skipped.map { .string($0) })
    own[Key.own] = .object(object)
  }

  private static func pieces(_ reader: ObjectReader, _ key: String) throws(BertQAError) -> [String]? {
    guard let value = reader.value(key), value != .null else { return nil }
    guard case .array(let elements) = value else {
      throw reader.mismatch(key, value, expected: "an array of strings")
    }
    var pieces: [String] = []
    for case .string(let piece) in elements { pieces.append(piece) }
    return pieces
  }
}
