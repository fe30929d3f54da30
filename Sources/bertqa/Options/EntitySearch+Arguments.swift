import BertQACore

/// The entities that `bertqa entities` and the filter search for, and their redaction.
struct EntitySearch {
  /// The replacement of entities in redacted text.
  enum Redaction: Equatable {
    case none
    /// The entity's label in brackets.
    case labels
    case text(ArgumentBytes)
  }

  /// The value of an argument as bytes.
  struct ArgumentBytes: Equatable, CustomStringConvertible {
    let bytes: [UInt8]

    var description: String { "\(bytes)" }
  }

  var options = EntityOptions()
  /// nil for none.
  private(set) var patterns: PIIKinds?
  private var regions: [String] = []
  private var isEverywhere = false
  private(set) var redaction = Redaction.none
  private var namesModel = false

  private static let patterns = Array(PIIKinds.groups) + Array(PIIKinds.names)
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
      for name in given.string.split(separator: ",", omittingEmptySubsequences: false) {
        guard let pattern = Self.patterns.first(where: { $0.key == name })?.value else {
          throw given.wrong("\(Self.patterns.map(\.key).joined(separator: ", ")), separated by commas")
        }
        patterns = (patterns ?? []).union(pattern)
      }
    case .regions:
      for code in given.string.split(separator: ",", omittingEmptySubsequences: false) {
        guard PIIOptions.hasRegion(String(code)) else {
          throw given.wrong("codes of countries of two letters, such as DE, separated by commas")
        }
        regions.append(code.uppercased())
      }
      patterns = (patterns ?? []).union(.phone)
    case .everywhere: isEverywhere = true
    case .redact: redaction = given.text.map { .text(ArgumentBytes(bytes: Array($0.bytes))) } ?? .labels
    case .aggregation: options.aggregation = try given.choice(from: Self.aggregations)
    case .threshold: options.threshold = try given.number()
    case .maxSequenceLength: options.maxSequenceLength = try given.integer()
    case .documentStride: options.documentStride = try given.integer()
    default: break
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
  /// - Parameter spelling: encodes a replacement for the text's format; nil leaves it unchanged.
  func redacted(
    _ text: UnsafeBufferPointer<UInt8>, _ entities: [Entity], spelling: (([UInt8]) -> [UInt8])? = nil
  ) throws(BertQAError) -> [UInt8]? {
    switch redaction {
    case .none: return nil
    case .labels:
      var entities = entities
      if let spelling {
        for index in entities.indices {
          entities[index].label = String(decoding: spelling(Array(entities[index].label.utf8)), as: UTF8.self)
        }
      }
      return try EntityList.redact(text, entities, call: options.call)
    case .text(let replacement):
      let spelled = spelling?(replacement.bytes) ?? replacement.bytes
      return try spelled.withElements { bytes throws(BertQAError) in
        try EntityList.redact(text, entities, replacement: bytes, call: options.call)
      }
    }
  }

  /// A description of everything that affects results. Equivalent arguments have equal descriptions.
  var meaning: String {
    "\(options) \(patterns?.rawValue ?? 0) \(Set(regions).sorted()) \(isEverywhere) \(redaction) \(usesModel)"
  }
}
