import BertQACore

/// The limits of a library call, from the options of a command.
struct CallLimits {
  /// In seconds; nil for no limit.
  private(set) var timeout: Double?
  /// 0 for no limit.
  private(set) var maxBytes = 0
  /// 0 for no limit.
  private(set) var maxDocumentTokens = 0

  /// The title of the section in commands that continue with the next text.
  static let title = "Limits; exceeding one is a failure with exit code 3"

  /// - Parameter work: the unit of work of one call, such as "a text".
  static func rows(_ work: String) -> [OptionRow] {
    [timeoutRow(work), maxBytesRow(work), maxDocumentTokensRow]
  }

  static func timeoutRow(_ work: String, includesLoading: Bool = false) -> OptionRow {
    OptionRow(
      .timeout, value: "SECONDS", "maximum time for \(work); default: none",
      detail: includesLoading
        ? "It includes loading the model." : "The time for loading the model does not count.")
  }

  static func maxBytesRow(_ work: String) -> OptionRow {
    OptionRow(
      .maxBytes, value: "N", "maximum memory for \(work); default: none",
      detail:
        "Only memory that grows with the input counts, not that of the model. In bytes, or as 64K, 64M or 1G."
    )
  }

  static let maxDocumentTokensRow = OptionRow(
    .maxDocumentTokens, value: "N", "maximum number of tokens of a text; default: none",
    detail: "Models that read words count words.")

  init(_ arguments: ParsedArguments) throws(ToolError) {
    for given in arguments.options { try set(given) }
    try arguments.check(.partial, goWith: [.timeout])
  }

  /// Sets the option if it is one of these; ignores all others.
  mutating func set(_ given: ParsedOption) throws(ToolError) {
    switch given.option {
    case .timeout: timeout = try given.seconds()
    case .maxBytes: maxBytes = try given.byteCount(in: 1...1 << 50)
    case .maxDocumentTokens: maxDocumentTokens = try given.integer(in: 1...Int.max)
    default: break
    }
  }

  /// Applies the limits to a call that begins now.
  func limit(_ call: inout CallOptions) {
    if let timeout { call.deadline = UInt64((Clock.seconds() + timeout) * 1e9) }
    call.maxBytes = maxBytes
    // The core's calls and the results that are made of theirs are one account.
    call.ledger = MemoryLedger(limit: maxBytes)
    call.maxDocumentTokens = maxDocumentTokens
  }

  /// Options for a call that begins now.
  var call: CallOptions {
    var call = CallOptions()
    limit(&call)
    return call
  }

  /// Options for several calls. The time begins now, for all together; each has the memory for itself.
  var calls: CallOptions {
    var calls = call
    calls.ledger = nil
    return calls
  }
}

extension BertQAError {
  /// True if the call failed because it exceeded a limit.
  var isAboveLimit: Bool { status == .deadlineExceeded || status == .tooLarge }
}
