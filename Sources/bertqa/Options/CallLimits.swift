import BertQACore

/// What a call of the library may take, as the options of a command say it.
struct CallLimits {
  /// Seconds; nil: any time.
  private(set) var timeout: Double?
  /// 0: any number.
  private(set) var maxBytes = 0
  /// 0: any number.
  private(set) var maxDocumentTokens = 0

  /// Of a section with the rows of a command that goes on with the next text.
  static let title = "Limits; what is above one fails, with code 3"

  /// - Parameter work: what one call does, such as "a text".
  static func rows(_ work: String) -> [OptionRow] {
    [timeoutRow(work), maxBytesRow(work), maxDocumentTokensRow]
  }

  static func timeoutRow(_ work: String) -> OptionRow {
    OptionRow(
      .timeout, value: "SECONDS", "most time for \(work); default: any",
      detail: "Without the time for loading the model.")
  }

  static func maxBytesRow(_ work: String) -> OptionRow {
    OptionRow(
      .maxBytes, value: "N", "most memory for \(work); default: any",
      detail: "Of that which grows with the input, beside the model's. In bytes, or as 64K, 64M or 1G.")
  }

  static let maxDocumentTokensRow = OptionRow(
    .maxDocumentTokens, value: "N", "most tokens of a text; default: any number",
    detail: "Of words, for models that read words.")

  init(_ arguments: ParsedArguments) throws(ToolError) {
    for given in arguments.options { try set(given) }
  }

  /// Takes the options that are its own and leaves the others.
  mutating func set(_ given: ParsedOption) throws(ToolError) {
    switch given.option {
    case .timeout: timeout = try given.seconds()
    case .maxBytes: maxBytes = try given.byteCount(in: 1...1 << 50)
    case .maxDocumentTokens: maxDocumentTokens = try given.integer(in: 1...Int.max)
    default: break
    }
  }

  /// Limits a call that begins now.
  func limit(_ call: inout CallOptions) {
    if let timeout { call.deadline = UInt64((Clock.seconds() + timeout) * 1e9) }
    call.maxBytes = maxBytes
    call.maxDocumentTokens = maxDocumentTokens
  }

  /// Options of a call that begins now.
  var call: CallOptions {
    var call = CallOptions()
    limit(&call)
    return call
  }
}

extension BertQAError {
  /// Whether a call would have taken more than it may.
  var isAboveLimit: Bool { status == .deadlineExceeded || status == .tooLarge }
}
