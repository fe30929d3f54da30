/// A check of the characters of a number or code, for rules of callers.
public struct Checksum: Sendable {
  private enum Kind: Sendable {
    case luhn, mod97, verhoeff, iban, crypto
    /// Of a register's numbers.
    case identifier(PIIKinds)
  }

  private let kind: Kind

  private static let general: KeyValuePairs<String, Kind> = [
    "luhn": .luhn, "mod97": .mod97, "verhoeff": .verhoeff, "iban": .iban, "crypto": .crypto,
  ]

  /// The names of kinds of PII whose numbers have check digits.
  private static let identifiers = PIIKinds.names.filter { _, kind in
    TextBytes.identifierRules.contains { $0.kind == kind && $0.hasCheckDigits }
  }

  /// "luhn", "mod97" (ISO 7064, the check digits at the end), "verhoeff", and kinds of PII whose numbers have check
  /// digits.
  public static var names: [String] { general.map(\.key) + identifiers.map(\.key) }

  public init(named name: String) throws(BertQAError) {
    if let kind = Self.general.first(where: { $0.key == name })?.value {
      self.kind = kind
    } else if let kind = Self.identifiers.first(where: { $0.key == name })?.value {
      self.kind = .identifier(kind)
    } else {
      throw BertQAError(
        .invalidArgument, argument: "checksum",
        "is \(quoted(name)), but must be one of \(Self.names.joined(separator: ", "))")
    }
  }

  /// The name of a kind's check, as entities give it.
  static func name(of kind: PIIKinds) -> String? {
    kind == .inAadhaar ? "verhoeff" : identifiers.first { $0.value == kind }?.key
  }

  /// Longer texts are not numbers or codes.
  private static let mostBytes = 1024

  /// True if the check digits are right. Characters that are neither ASCII letters nor digits, after digits of other
  /// scripts have been read as ASCII's, do not count. False for a text of more than 1024 bytes.
  public func accepts(_ text: UnsafeBufferPointer<UInt8>) throws(BertQAError) -> Bool {
    guard text.count <= Self.mostBytes else { return false }
    let read = try FoldedText(text, CallMonitor(CallOptions()))?.bytes ?? Array(text)
    let characters = read.filter { TextBytes.isDigit($0) || TextBytes.isLetter($0) }
    return try characters.withElements { bytes throws(BertQAError) in accepts(TextBytes(bytes: bytes)) }
  }

  private func accepts(_ text: TextBytes) -> Bool {
    let isDigits = text.bytes.allSatisfy(TextBytes.isDigit)
    let whole = 0..<text.count
    return switch kind {
    case .luhn:
      isDigits && text.count > 1
        && TextBytes.luhnSum(text.count) { text[text.count - 1 - $0] - UInt8(ascii: "0") } % 10 == 0
    case .mod97: text.remainder97(whole) == 1
    case .verhoeff: isDigits && text.count > 1 && IdentifierChecks.verhoeff(text.bytes) == 0
    case .iban: text.iban(at: 0) == whole
    case .crypto: text.cryptoAddress(at: 0) == whole
    case .identifier(let kind): text.identifier(at: 0, kind)?.range == whole
    }
  }
}
