/// What the files beside a vocabulary or a `tokenizer.json` say: `tokenizer_config.json` and, unless it has
/// "added_tokens_decoder", `special_tokens_map.json` and `added_tokens.json`.
struct TokenizerSettings: Sendable {
  /// The keys of `tokenizer_config.json`; those of `special_tokens_map.json` go before them.
  let reader: ObjectReader
  /// True if there is a `tokenizer_config.json`.
  let isConfigured: Bool
  /// The files that were read.
  let files: [(name: String, file: ModelFile)]
  /// "added_tokens_decoder", else `added_tokens.json`: by id.
  let listed: [AddedToken]
  /// The tokens that keys such as "mask_token" name, in transformers' order.
  let named: [AddedToken]
  /// The special tokens without a key of their own in `tokenizer_config.json`.
  let additional: [AddedToken]
  /// The same of `special_tokens_map.json`.
  let additionalOfMap: [AddedToken]

  init(_ directory: ModelDirectory) throws(BertQAError) {
    var files: [(name: String, file: ModelFile)] = []
    func read(_ name: String, limit: Int) throws(BertQAError) -> ObjectReader? {
      guard directory.exists(name) else { return nil }
      let file = try directory.file(name, limit: limit)
      files.append((name, file))
      return try ObjectReader(file, directory.monitor)
    }
    let own = try read("tokenizer_config.json", limit: ModelFile.configurationLimit)
    isConfigured = own != nil
    var reader = own ?? ObjectReader(file: directory.name, object: JSON.Object())
    additional = try Self.additional(reader)
    let decoder = try reader.reader("added_tokens_decoder")
    var map: ObjectReader?
    if decoder == nil, let found = try read("special_tokens_map.json", limit: ModelFile.configurationLimit) {
      map = found
      // Of equal keys the last one counts.
      let members = found.object.members.filter { $0.value != .null }
      reader = ObjectReader(
        file: own?.file ?? found.file, object: JSON.Object(members: reader.object.members + members))
    }
    self.reader = reader
    additionalOfMap = try map.map(Self.additional) ?? []
    var named: [AddedToken] = []
    for name in ["bos", "eos", "unk", "sep", "pad", "cls", "mask"] {
      if let token = try Pipeline.token(reader, "\(name)_token") { named.append(token) }
    }
    self.named = named
    var entries: [(id: Int, token: AddedToken)] = []
    if let decoder {
      for member in decoder.object.members {
        guard let id = Int(member.key), case .object(let object) = member.value else {
          throw decoder.mismatch(member.key, member.value, expected: "an id and a token")
        }
        entries.append((id, try AddedToken(ObjectReader(file: decoder.file, object: object))))
      }
    } else if let list = try read("added_tokens.json", limit: ModelFile.jsonLimit) {
      let special = Set((named + additional + additionalOfMap).map { Array($0.content.utf8) })
      for member in list.object.members {
        guard let id = Pipeline.tokenID(member.value) else {
          throw list.mismatch(member.key, member.value, expected: "an id")
        }
        let isSpecial = special.contains(Array(member.key.utf8))
        entries.append((Int(id), AddedToken(member.key, isSpecial: isSpecial)))
      }
    }
    listed = entries.sorted(byKey: { $0.id }).map(\.token)
    self.files = files
  }

  /// Reads lists of tokens; transformers 5 also writes an object whose values are the tokens.
  private static func additional(_ reader: ObjectReader) throws(BertQAError) -> [AddedToken] {
    var tokens: [AddedToken] = []
    for key in ["additional_special_tokens", "extra_special_tokens"] {
      let elements: [JSON]
      switch reader.value(key) {
      case nil: elements = []
      case .array(let array): elements = array
      case .object(let object): elements = object.members.map(\.value)
      case let other?: throw reader.mismatch(key, other, expected: "tokens")
      }
      for element in elements {
        let object = JSON.Object(members: [JSON.Object.Member(key: key, value: element)])
        guard let token = try Pipeline.token(ObjectReader(file: reader.file, object: object), key) else {
          throw reader.mismatch(key, element, expected: "tokens")
        }
        tokens.append(token)
      }
    }
    return tokens
  }
}

extension Pipeline {
  /// Adds the tokens that files list, as transformers does: after `first`, those with ids, then special tokens that are
  /// not among them. `addedTokens` has the special tokens of the class.
  /// - Parameters:
  ///   - first: the added tokens of `tokenizer.json`.
  ///   - additional: special tokens without a key of their own; nil: all that files list.
  mutating func addListed(
    _ settings: TokenizerSettings, after first: [AddedToken] = [], additional: [AddedToken]? = nil
  ) {
    let own = addedTokens
    let special = settings.named + own + (additional ?? settings.additional + settings.additionalOfMap)
    // By bytes: String compares canonically equivalent texts as equal.
    let names = Set(special.filter(\.isSpecial).map { Array($0.content.utf8) })
    addedTokens = first
    for var token in settings.listed {
      if names.contains(Array(token.content.utf8)) { token.isSpecial = true }
      addedTokens.append(token)
    }
    var known = Set(addedTokens.map { Array($0.content.utf8) })
    for token in special where known.insert(Array(token.content.utf8)).inserted { addedTokens.append(token) }
    for token in addedTokens where !own.contains(token) { cover(token.summary) }
  }

  /// Reads a special token: a string, or an object with its content.
  static func token(_ settings: ObjectReader, _ key: String) throws(BertQAError) -> AddedToken? {
    if case .object(let object)? = settings.value(key) {
      var token = try AddedToken(ObjectReader(file: settings.file, object: object))
      token.isSpecial = true
      return token
    }
    return try settings.string(key).map { AddedToken($0, isSpecial: true) }
  }
}
