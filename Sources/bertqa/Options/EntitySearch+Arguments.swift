import BertQACore

/// The entities that `bertqa entities` and the filter search for, and their redaction.
struct EntitySearch {
  /// The texts over which the same value has the same name.
  enum PseudonymScope: String, CaseIterable {
    case run, record
  }

  /// The replacement of entities in redacted text.
  private enum Redaction {
    case none
    case fixed(RedactionAction)
    /// Names that start anew in each text.
    case pseudonymInText
  }

  var options = EntityOptions()
  /// nil for none.
  private(set) var patterns: PIIKinds?
  private var regions: [String] = []
  private var isEverywhere = false
  private var redaction = Redaction.none
  /// The option that asked for redaction; nil if none did.
  private(set) var redactingOption: Option?
  /// The names of a run; nil unless they are the same in all its texts.
  private(set) var pseudonyms: Pseudonyms?
  /// What tells the redaction from others in `meaning`.
  private var redactionMeaning = ""
  private var namesModel = false

  static let aggregations = TokenAggregation.allCases.map { (key: $0.description, value: $0) }

  static let findingRows = [
    OptionRow(
      .labels, value: "LABELS", "find only these labels, separated by commas",
      detail: "With or without B- and I-; may be given several times."),
    OptionRow(
      .patterns, value: "LIST",
      "find personal data by rule: all that is safe everywhere, other groups or kinds, separated by commas",
      detail:
        "Kinds: \(PIIKinds.names.map(\.key).joined(separator: ", ")). Groups: us, uk, eu, br, in, au. Without --model and --labels no model is used."
    ),
    OptionRow(
      .regions, value: "LIST",
      "find telephone numbers of these countries in every form: codes such as DE,AT",
      detail:
        "Without it numbers are found by their calling code, their usual groups or the words before them."),
    OptionRow(
      .everywhere, "find what was found once in a text wherever it stands, in any case",
      detail: "Also in capitals, before 's, and where the model or a rule alone did not find it."),
    OptionRow(
      .redact, value: "TEXT", isOptional: true,
      "print the text with each entity replaced by TEXT; default: its label in brackets, such as [PER]"),
    OptionRow(
      .mask, value: "N", isOptional: true,
      "print the text with a star for each letter and digit of an entity but the last N; default 0",
      detail:
        "Spaces and punctuation marks stay: --mask=4 makes ***-**-1234. At most half of an entity's letters and digits stay."
    ),
    OptionRow(
      .hash, value: "FILE", use: .read,
      "print the text with each entity replaced by its label and its hash with the key in FILE",
      detail:
        "The first 32 hexadecimal digits of HMAC-SHA-256: [PER_4b7d...]. The key is the file's content without a line "
        + "end at its end, at least 16 bytes."),
    OptionRow(
      .pseudonym, value: "SCOPE", isOptional: true, choices: PseudonymScope.allCases.map(\.rawValue),
      "print the text with each entity replaced by a numbered name such as [PER_3], the same for the same text in the whole SCOPE: {}; default run"
    ),
    OptionRow(
      .mapping, value: "FILE", use: .state,
      "with --pseudonym: append the names and what they replace to FILE, and keep to those in it",
      detail:
        "Only its owner can read FILE (mode 0600). 'bertqa restore' puts the texts back. Only one run at a time can use it."
    ),
    OptionRow(
      .aggregation, value: "A", choices: aggregations.map(\.key),
      "how tokens are combined into entities: {}; default model",
      detail:
        "As in Hugging Face's pipeline; model is the method in the model's config.json, or simple if it has none."
    ),
    OptionRow(.threshold, value: "P", "leave out entities with a score below P, 0 to 1; default 0"),
  ]

  /// The options that control how a model reads a text.
  static let readingRows = [
    OptionRow(
      .maxSequenceLength, value: "N",
      "length of a window; default 0: the maximum of the model"),
    OptionRow(
      .documentStride, value: "N",
      "overlap of neighbouring windows; by default they end where paragraphs and sentences do"),
  ]

  /// Sets the option if it is one of these; ignores all others.
  mutating func set(_ given: ParsedOption) throws(ToolError) {
    switch given.option {
    case .model: namesModel = true
    case .labels:
      options.labels += given.string.split(separator: ",").map(String.init)
      if options.labels.isEmpty { throw given.wrong("labels, separated by commas") }
    case .patterns:
      let kinds = try ofCore(given.command) { () throws(BertQAError) in try PIIKinds(names: given.string) }
      patterns = (patterns ?? []).union(kinds)
    case .regions:
      for code in given.string.split(separator: ",", omittingEmptySubsequences: false) {
        guard PIIOptions.hasRegion(String(code)) else {
          throw given.wrong("codes of countries of two letters, such as DE, separated by commas")
        }
        regions.append(code.uppercased())
      }
      patterns = (patterns ?? []).union(.phone)
    case .everywhere: isEverywhere = true
    case .redact, .mask, .hash, .pseudonym: try setRedaction(given)
    case .aggregation: options.aggregation = try given.choice(from: Self.aggregations)
    case .threshold: options.threshold = try given.number()
    case .maxSequenceLength: options.maxSequenceLength = try given.integer()
    case .documentStride: options.documentStride = try given.integer()
    default: break
    }
  }

  private mutating func setRedaction(_ given: ParsedOption) throws(ToolError) {
    if let other = redactingOption, other != given.option {
      throw .usage(
        "\(other.spelling) and \(given.option.spelling) exclude each other", command: given.command)
    }
    redactingOption = given.option
    redactionMeaning = "\(given.option) \(given.text.map { "\(Array($0.bytes))" } ?? "")"
    switch given.option {
    case .mask:
      redaction = .fixed(.mask(keep: given.text == nil ? 0 : try given.integer(in: 0...Int(Int32.max))))
    case .hash:
      let key = try Self.key(given)
      redaction = .fixed(.hash(key))
      // A hash of the key itself would help to guess it.
      redactionMeaning =
        "hash \(try ofCore(given.command) { () throws(BertQAError) in try key.digits(of: "key") })"
    case .pseudonym:
      let scopes = PseudonymScope.allCases.map { (key: $0.rawValue, value: $0) }
      let scope = given.text == nil ? .run : try given.choice(from: scopes)
      pseudonyms = scope == .run ? Pseudonyms() : nil
      redaction = pseudonyms.map { .fixed(.pseudonym($0)) } ?? .pseudonymInText
      redactionMeaning = "pseudonym \(scope)"
    default: redaction = .fixed(given.text.map { .text(Array($0.bytes)) } ?? .label)
    }
  }

  private static func key(_ given: ParsedOption) throws(ToolError) -> RedactionKey {
    guard let file = given.text else { throw given.wrong("a file with a key") }
    let input = try Input(file)
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    var count = 0
    while count < bytes.count {
      let start = count
      let read = try bytes.withMutableElements { room throws(ToolError) in
        try input.read(
          into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(room)[start...]))
      }
      if read == 0 { break }
      count += read
    }
    guard count < bytes.count else {
      throw ToolError(.input, "\(input.shown) is no key: it has 64 KiB or more")
    }
    bytes.removeLast(bytes.count - count)
    for end in [UInt8(ascii: "\n"), UInt8(ascii: "\r")] where bytes.last == end { bytes.removeLast() }
    do throws(BertQAError) {
      return try RedactionKey(bytes)
    } catch {
      throw ToolError(.input, "\(input.shown): the key \(error.detail)")
    }
  }

  /// Throws if options are present that need others.
  func checkTogether(_ arguments: ParsedArguments) throws(ToolError) {
    if arguments.has(.mapping), pseudonyms == nil {
      throw arguments.usage("--mapping goes with --pseudonym for the whole run")
    }
  }

  /// True if entities are replaced.
  var redacts: Bool { redactingOption != nil }

  /// Returns what replaces the entities of the next text; nil if redaction is off.
  func action() -> RedactionAction? {
    switch redaction {
    case .none: nil
    case .fixed(let action): action
    case .pseudonymInText: .pseudonym(Pseudonyms())
    }
  }

  /// True if a model reads the texts.
  var usesModel: Bool { patterns == nil || namesModel || !options.labels.isEmpty }

  /// Returns the entities of each text in text order: those of the model and those of PII rules.
  /// - Parameter context: nil if no model is used.
  func results(
    of texts: [UnsafeBufferPointer<UInt8>], _ context: Context?
  ) throws(BertQAError) -> [Result<EntityList, BertQAError>] {
    var results =
      try context?.entitiesEach(of: texts, options: options)
      ?? texts.map { _ in .success(EntityList()) }
    var own = PIIOptions()
    own.kinds = patterns ?? []
    own.regions = regions
    own.call = options.call
    for (index, text) in texts.enumerated() where patterns != nil || isEverywhere {
      guard case .success(var list) = results[index] else { continue }
      do throws(BertQAError) {
        if patterns != nil {
          let found = try EntityList(piiIn: text, options: own)
          if !list.entities.isEmpty {
            try CallMonitor(own.call).hold(list.entities.count + found.entities.count, of: Entity.self)
          }
          list.entities = Self.merged(list.entities, found.entities)
        }
        if isEverywhere { list = try list.everywhere(in: text, call: own.call) }
        results[index] = .success(list)
      } catch {
        guard error.status == .tooLarge else { throw error }
        results[index] = .failure(error)
      }
    }
    return results
  }

  /// Merges two lists in text order. At equal positions, entities of the first list come first.
  private static func merged(_ first: [Entity], _ second: [Entity]) -> [Entity] {
    if first.isEmpty { return second }
    var result: [Entity] = []
    result.reserveCapacity(first.count + second.count)
    var next = 0
    for entity in first {
      while next < second.count, second[next].bytes.start < entity.bytes.start {
        result.append(second[next])
        next += 1
      }
      result.append(entity)
    }
    return result + second[next...]
  }

  /// Returns the text with its entities replaced; nil if redaction is off.
  func redacted(
    _ text: UnsafeBufferPointer<UInt8>, _ entities: [Entity]
  ) throws(BertQAError) -> [UInt8]? {
    guard let action = action() else { return nil }
    return try EntityList.redact(text, entities, action, call: options.call)
  }

  /// A description of everything that affects results. Equivalent arguments have equal descriptions.
  var meaning: String {
    "\(options) \(patterns?.rawValue ?? 0) \(Set(regions).sorted()) \(isEverywhere) \(redactionMeaning) \(usesModel)"
  }
}
