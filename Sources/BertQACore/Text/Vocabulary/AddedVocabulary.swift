/// A token that is found by its spelling, in addition to the model's pieces: `added_tokens` of `tokenizer.json`.
struct AddedToken: Sendable, Equatable {
  var content: String
  /// True for a control token such as "[SEP]", which in a text is text unless the caller requests the token.
  var isSpecial = false
  /// True if it is found in the normalised text rather than in the caller's, by its normalised spelling.
  var isNormalized = true
  /// True if it is found only without an adjacent letter, digit, mark or connector.
  var isSingleWord = false
  /// True if it includes the white space before it.
  var stripsLeft = false
  /// True if it includes the white space after it.
  var stripsRight = false

  /// Differs for tokens that differ.
  var summary: String {
    let switches = [isSpecial, isNormalized, isSingleWord, stripsLeft, stripsRight]
    return switches.map { $0 ? "+" : "-" }.joined() + content
  }

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

/// The added tokens of a pipeline with their ids and matchers.
struct AddedVocabulary: Sendable {
  /// Finds tokens in the caller's text.
  private(set) var verbatim = AddedTokenMatcher()
  /// Finds tokens in the normalised text.
  private(set) var normalized = AddedTokenMatcher()
  /// The number of ids of the model and of added tokens.
  let size: Int
  /// By the bytes of their spelling.
  private let ids: [[UInt8]: Int32]
  /// The spellings of the tokens that spell no piece of the model, each followed by a NUL.
  private let spellings: Vocabulary
  /// Their places in `spellings` by id.
  private let positions: [Int32: Int32]

  /// Assigns ids as tokenizers does when it reads the file: that of the model's piece of the same spelling, else the
  /// next one, from the number of the model's pieces on.
  init(_ pipeline: Pipeline, _ monitor: CallMonitor?) throws(BertQAError) {
    let vocabulary = pipeline.model.vocabulary
    var nextID = Int32(clamping: pipeline.model.pieceCount)
    var order: [Int32] = []
    var own: [Int32] = []
    var tokens: [Int32: AddedToken] = [:]
    var ids: [[UInt8]: Int32] = [:]
    for (index, token) in pipeline.addedTokens.enumerated() where !token.content.isEmpty {
      if index % Pipeline.checkInterval == 0 { try monitor?.check() }
      var token = token
      let content = Array(token.content.utf8)
      let id: Int32
      if let known = ids[content] ?? vocabulary.id(of: token.content) {
        id = known
      } else {
        id = nextID
        own.append(id)
        nextID += 1
      }
      if tokens[id] == nil { order.append(id) }
      if let earlier = tokens[id], earlier.isSpecial { token.isSpecial = true }
      tokens[id] = token
      ids[content] = id
    }
    for (index, id) in order.enumerated() {
      if index % Self.checkInterval == 0 { try monitor?.check() }
      guard let token = tokens[id] else { continue }
      if token.isNormalized {
        try normalized.add(token, id: id, spelling: Self.normalized(token.content, pipeline.normalizers))
      } else {
        try verbatim.add(token, id: id, spelling: Array(token.content.utf8))
      }
    }
    size = max(vocabulary.count, Int(tokens.keys.max() ?? -1) + 1)
    self.ids = ids
    try monitor?.check()
    spellings = try Vocabulary(pieces: own.map { id in Array((tokens[id]?.content ?? "").utf8) }, monitor)
    positions = Dictionary(uniqueKeysWithValues: zip(own, 0...))
  }

  /// The number of tokens that are normalised between two polls of the monitor.
  private static let checkInterval = 256

  private static func normalized(
    _ content: String, _ normalizers: [any Normalizer]
  ) throws(BertQAError) -> [UInt8] {
    try withBytes(of: content) { bytes throws(BertQAError) in
      var preTokens = PreTokens()
      try preTokens.text.load(bytes, 0..<bytes.count, nil)
      for normalizer in normalizers { try preTokens.normalize(with: normalizer, nil) }
      return Array(UnsafeBufferPointer(start: preTokens.text.base, count: preTokens.text.count))
    }
  }

  /// Returns the spellings of the tokens from an id on.
  func contents(from id: Int) -> Set<[UInt8]> { Set(ids.filter { Int($0.value) >= id }.keys) }

  func id(of piece: UnsafeBufferPointer<UInt8>) -> Int32? { ids[Array(piece)] }

  /// Returns the spelling, followed by a NUL, of a token that spells no piece of the model; nil for any other id.
  func piece(_ id: Int32) -> UnsafeBufferPointer<UInt8>? { positions[id].map { spellings.piece($0) } }
}
