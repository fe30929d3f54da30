extension BytePairModel {
  /// Reads the model of a `tokenizer.json`.
  /// - Parameter spelled: true if pre-tokens are bytes spelled in `ByteAlphabet`.
  init(_ model: ObjectReader, spelled: Bool, _ monitor: CallMonitor?) throws(BertQAError) {
    if let dropout = try model.number("dropout"), dropout != 0 {
      throw BertQAError(
        .unsupported,
        "\(model.file): \"dropout\" is \(dropout), which makes tokens random; only null and 0 are supported")
    }
    var settings = BytePairSettings()
    settings.unknownToken = try model.string("unk_token")
    settings.continuingPrefix = Array((try model.string("continuing_subword_prefix") ?? "").utf8)
    settings.endOfWordSuffix = Array((try model.string("end_of_word_suffix") ?? "").utf8)
    settings.fusesUnknown = try model.bool("fuse_unk") ?? false
    settings.fallsBackToBytes = try model.bool("byte_fallback") ?? false
    settings.ignoresMerges = try model.bool("ignore_merges") ?? false
    let pieces = try Pipeline.pieces(of: model, monitor)
    let merges = try Self.merges(model, monitor)
    try self.init(pieces: pieces, merges: merges, settings, spelled: spelled, file: model.file, monitor)
  }

  /// The model reads bytes instead of their spelling if that is equivalent.
  init(
    pieces: [[UInt8]], merges: [(left: [UInt8], right: [UInt8])], _ settings: BytePairSettings, spelled: Bool,
    file: String, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    let hasAffixes = !settings.continuingPrefix.isEmpty || !settings.endOfWordSuffix.isEmpty
    guard !(hasAffixes && settings.fallsBackToBytes) else {
      throw BertQAError(
        .unsupported,
        "\(file): \"byte_fallback\" together with \"continuing_subword_prefix\" or \"end_of_word_suffix\" is "
          + "not supported")
    }
    self = try BertQAError.naming(file) { () throws(BertQAError) in
      try BytePairModel(
        pieces: pieces, merges: merges, settings,
        readsBytes: spelled && !hasAffixes && SymbolTable.hasAllBytes(pieces), monitor)
    }
  }

  /// Reads the merges, each "a b" or ["a", "b"].
  private static func merges(
    _ model: ObjectReader, _ monitor: CallMonitor?
  ) throws(BertQAError) -> [(left: [UInt8], right: [UInt8])] {
    let value = try model.required("merges", model.value)
    guard case .array(let elements) = value else {
      throw model.mismatch("merges", value, expected: "an array")
    }
    // Two arrays and their bytes for each merge.
    try Memory.require(256 * elements.count)
    var merges = try [(left: [UInt8], right: [UInt8])](checkedCapacity: elements.count)
    for (index, element) in elements.enumerated() {
      if index % Pipeline.checkInterval == 0 { try monitor?.check() }
      switch element {
      case .string(let text):
        if text.hasPrefix("#version") { continue }
        guard let pair = pair(text.utf8) else {
          throw model.mismatch("merges", element, expected: "two pieces with a space between them")
        }
        merges.append(pair)
      case .array(let pair):
        guard pair.count == 2, case .string(let left) = pair[0], case .string(let right) = pair[1] else {
          throw model.mismatch("merges", element, expected: "two pieces")
        }
        merges.append((Array(left.utf8), Array(right.utf8)))
      default: throw model.mismatch("merges", element, expected: "two pieces")
      }
    }
    return merges
  }

  /// Splits a line at its only space; nil if it has none or several.
  static func pair(_ line: some Collection<UInt8>) -> (left: [UInt8], right: [UInt8])? {
    let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
    return parts.count == 2 ? (Array(parts[0]), Array(parts[1])) : nil
  }
}
