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
    /// Names whose numbers start again in each text.
    case pseudonymInText
  }

  var options = EntityOptions()
  /// nil for none.
  private(set) var patterns: PIIKinds?
  private var regions: [String] = []
  /// What is never touched and what always is, from the files of --allow and --deny.
  private var allowed: [String] = []
  private var denied: [String] = []
  private var lists: TextLists?
  private var rules: [Rule] = []
  /// What tells the rules from others in `meaning`.
  private var rulesMeaning: UInt64 = 0
  private var isEverywhere = false
  private var redaction = Redaction.none
  /// The option that asked for redaction; nil if none did.
  private(set) var redactingOption: Option?
  /// The names of a run; nil unless they are the same in all its texts.
  private(set) var pseudonyms: Pseudonyms?
  /// What tells the redaction from others in `meaning`.
  private var redactionMeaning = ""
  private var namesModel = false

  /// The options that only a model follows.
  private static let modelOptions: [Option] = [.aggregation, .nested, .maxSequenceLength, .documentStride]

  static let aggregations = TokenAggregation.allCases.map { (key: $0.description, value: $0) }

  static let findingRows = [
    OptionRow(
      .labels, value: "LABELS", "find only these labels, separated by commas",
      detail:
        "With or without B- and I-; may be given several times. A GLiNER model needs them, and they may be any words: "
        + "--labels 'product, name of a disease'. A label may have a threshold of its own: 'product, disease=0.7'."
    ),
    OptionRow(.nested, "with a GLiNER model: also find entities within others"),
    OptionRow(
      .patterns, value: "LIST",
      "find personal data by rule: 'all' (the kinds rarely found by mistake), other groups or kinds, "
        + "separated by commas",
      detail:
        "Kinds: \(PIIKinds.names.map(\.key).joined(separator: ", ")). Groups: us, uk, eu, br, in, au. Without --model and --labels no model is used."
    ),
    OptionRow(
      .regions, value: "LIST",
      "find telephone numbers of these countries in every form: codes such as DE,AT",
      detail:
        "Without it numbers are found by their calling code, their usual groups or the words before them."),
    OptionRow(
      .rules, value: "FILE", use: .read,
      "find what the rules in FILE describe: regular expressions with check digits and words",
      detail:
        "A JSON object: {\"rules\": [{\"name\": \"STAFF\", \"expression\": \"E-\\\\d{6}\", \"checksum\": \"luhn\", \"context\": "
        + "[\"staff\"]}]}. name is the label. The expressions are those of PCRE2. checksum and context are optional: checks are "
        + "\(Checksum.names.joined(separator: ", ")); one of the words of context must stand in the 64 characters before, on "
        + "the same line. A text with which an expression takes too many steps, or 10 seconds, fails. Without --model and "
        + "--labels no model is used."),
    OptionRow(
      .allow, value: "FILE", use: .read, "leave the texts in FILE, one per line, untouched",
      detail:
        "What is found within one of them is left out. Texts of --allow and --deny are compared by their words, ignoring case, "
        + "and have at most 16."),
    OptionRow(
      .deny, value: "FILE", use: .read,
      "find the texts in FILE, one per line, wherever they occur, with the label \(TextLists.deniedLabel)",
      detail: "Even if --allow has them. Without --model and --labels no model is used."),
    OptionRow(
      .everywhere, "find what was found once in a text wherever it occurs, ignoring case",
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
      "with --pseudonym: append the names and what they replace to FILE, and reuse those already in it",
      detail:
        "Only its owner can read FILE (mode 0600). 'bertqa restore' puts the texts back. Only one run at a time can use it."
    ),
    OptionRow(
      .aggregation, value: "A", choices: aggregations.map(\.key),
      "how tokens are combined into entities: {}; default model",
      detail:
        "As in Hugging Face's pipeline; model is the method in the model's config.json, or simple if it has none."
    ),
    OptionRow(
      .threshold, value: "P",
      "leave out entities with a score below P, 0 to 1; default 0, with a GLiNER model 0.5",
      detail:
        "Of rules: 1 if the form, or a word before it, leaves little doubt; 0.8 if only the check digits of a register's "
        + "number support it; 0.5 if only its form does."),
    OptionRow(
      .report, value: "FILE", use: .replace, "write the number of entities of each label to FILE, as JSON"),
  ]

  /// The options that control how a model reads a text.
  static let readingRows = [
    OptionRow(
      .maxSequenceLength, value: "N",
      "length of a window; default 0: what the model's files name, else its maximum"),
    OptionRow(
      .documentStride, value: "N",
      "overlap of neighbouring windows; by default they end where paragraphs and sentences do"),
  ]

  /// Sets the option if it is one of these; ignores all others.
  mutating func set(_ given: ParsedOption) throws(ToolError) {
    switch given.option {
    case .model: namesModel = true
    case .labels:
      for text in try given.labels() {
        let (label, threshold) = Self.label(text)
        options.labels.append(label)
        options.thresholds.append(threshold)
      }
    case .nested: options.isNested = true
    case .patterns:
      let kinds = try ofCore(given.command) { () throws(BertQAError) in try PIIKinds(names: given.string) }
      patterns = (patterns ?? []).union(kinds)
    case .regions:
      for code in given.names {
        guard PIIOptions.hasRegion(code) else {
          throw given.wrong("country codes of ISO 3166, such as DE, separated by commas")
        }
        regions.append(code.uppercased())
      }
      patterns = (patterns ?? []).union(.phone)
    case .allow:
      allowed += try Self.lines(given)
      lists = try makeLists(given)
    case .deny:
      denied += try Self.lines(given)
      lists = try makeLists(given)
    case .rules:
      let file = try Self.contents(given)
      rules += try RuleFile.rules(file.bytes, shown: file.shown)
      var hash = ContentHash()
      hash.update("\(rulesMeaning) ")
      file.bytes.withUnsafeBytes { hash.update($0) }
      rulesMeaning = hash.value
    case .everywhere: isEverywhere = true
    case .redact, .mask, .hash, .pseudonym: try setRedaction(given)
    case .aggregation: options.aggregation = try given.choice(from: Self.aggregations)
    case .threshold: options.threshold = try given.number()
    case .maxSequenceLength: options.maxSequenceLength = try given.integer()
    case .documentStride: options.documentStride = try given.integer()
    default: break
    }
  }

  /// Returns a label and the number that may follow it, as in "disease=0.7".
  private static func label(_ text: String) -> (String, threshold: Float) {
    guard let sign = text.lastIndex(of: "=") else { return (text, 0) }
    let number = PlainText.trimmed(String(text[text.index(after: sign)...]))
    let label = PlainText.trimmed(String(text[..<sign]))
    guard !label.isEmpty, number.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 }),
      let threshold = Float(number)
    else { return (text, 0) }
    return (label, threshold)
  }

  private mutating func setRedaction(_ given: ParsedOption) throws(ToolError) {
    if let other = redactingOption, other != given.option {
      throw .usage(
        "use either \(other.spelling) or \(given.option.spelling)", command: given.command)
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
      let scope: PseudonymScope = given.text == nil ? .run : try given.choice()
      pseudonyms = scope == .run ? Pseudonyms() : nil
      redaction = pseudonyms.map { .fixed(.pseudonym($0)) } ?? .pseudonymInText
      redactionMeaning = "pseudonym \(scope)"
    default: redaction = .fixed(given.text.map { .text(Array($0.bytes)) } ?? .label)
    }
  }

  private static func key(_ given: ParsedOption) throws(ToolError) -> RedactionKey {
    var (shown, bytes) = try contents(given)
    for end in [UInt8(ascii: "\n"), UInt8(ascii: "\r")] where bytes.last == end { bytes.removeLast() }
    do throws(BertQAError) {
      return try RedactionKey(bytes)
    } catch {
      throw ToolError(.input, "\(shown): the key \(error.detail)")
    }
  }

  private static let mostFileBytes = 1 << 26

  /// Returns the contents of an option's file, and its name for messages.
  private static func contents(_ given: ParsedOption) throws(ToolError) -> (shown: String, bytes: [UInt8]) {
    guard let file = given.text else { throw given.wrong("a file") }
    let input = try Input(file)
    var bytes: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= mostFileBytes {
      let count = try room.withMutableElements { room throws(ToolError) in
        try input.read(into: UnsafeMutableRawBufferPointer(room))
      }
      if count == 0 { return (input.shown, bytes) }
      bytes += room[..<count]
    }
    throw ToolError(.input, "\(input.shown) has more than 64 MiB, the most for \(given.option.spelling)")
  }

  /// Returns the lines of an option's file that are not blank.
  private static func lines(_ given: ParsedOption) throws(ToolError) -> [String] {
    let file = try contents(given)
    guard let text = String(validating: file.bytes, as: UTF8.self) else {
      throw ToolError(.input, "\(file.shown) is not valid UTF-8")
    }
    return text.unicodeScalars.split(whereSeparator: { $0 == "\n" || $0 == "\r" })
      .map { PlainText.trimmed(String($0)) }.filter { !$0.isEmpty }
  }

  private func makeLists(_ given: ParsedOption) throws(ToolError) -> TextLists {
    do throws(BertQAError) {
      return try TextLists(allow: allowed, deny: denied)
    } catch {
      throw ToolError(.input, "\(given.option.spelling) \(error.detail)")
    }
  }

  /// Throws if options are present that need others.
  func checkTogether(_ arguments: ParsedArguments) throws(ToolError) {
    if arguments.has(.mapping), pseudonyms == nil {
      throw arguments.usage("--mapping needs --pseudonym or --pseudonym=run")
    }
    if !usesModel, let given = arguments.options.first(where: { Self.modelOptions.contains($0.option) }) {
      throw arguments.usage(
        "\(given.option.spelling) needs a model: give --model or --labels too")
    }
    // With a model the library checks it.
    if !usesModel, !(0...1).contains(options.threshold) {
      throw arguments.usage("--threshold is \(options.threshold), but must be 0 to 1")
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
  var usesModel: Bool {
    patterns == nil && rules.isEmpty && denied.isEmpty || namesModel || !options.labels.isEmpty
  }

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
    let isDone = patterns == nil && rules.isEmpty && lists == nil && !isEverywhere
    for (index, text) in texts.enumerated() where !isDone {
      guard case .success(var list) = results[index] else { continue }
      do throws(BertQAError) {
        if patterns != nil {
          let found = try EntityList(piiIn: text, options: own).entities
          list.entities = try merged(list.entities, found.filter { $0.score >= options.threshold }, own.call)
        }
        if !rules.isEmpty {
          list.entities = try merged(list.entities, try rules.entities(of: text, own.call), own.call)
        }
        if let lists { list = try list.applying(lists, in: text, call: own.call) }
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
  private func merged(
    _ first: [Entity], _ second: [Entity], _ call: CallOptions
  ) throws(BertQAError) -> [Entity] {
    if first.isEmpty { return second }
    try CallMonitor(call).hold(first.count + second.count, of: Entity.self)
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
    "\(options) \(patterns?.rawValue ?? 0) \(Set(regions).sorted()) \(allowed) \(denied) \(rulesMeaning) "
      + "\(isEverywhere) \(redactionMeaning) \(usesModel)"
  }
}
