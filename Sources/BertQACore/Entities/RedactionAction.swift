/// What a redaction writes in place of an entity.
public enum RedactionAction: Sendable {
  /// The entity's label in brackets, such as "[PER]".
  case label
  /// The same text for every entity.
  case text([UInt8])
  /// A star for each letter, digit and other character; spaces and punctuation marks stay: "***-**-1234". The last
  /// `keep` of these characters also stay, but at most half of an entity's.
  case mask(keep: Int)
  /// The label and a hash of the entity's text, such as "[PER_4b7d…]". The same text always has the same hash;
  /// without the key, it does not help to guess the text.
  case hash(RedactionKey)
  /// The label and a number, such as "[PER_3]", always the same for the same text and label.
  case pseudonym(Pseudonyms)
}

/// The key of the hashes that replace entities.
public struct RedactionKey: Sendable {
  private let start: HMAC

  /// A shorter key could be guessed.
  private static let fewestBytes = 16

  /// - Parameter bytes: at least 16.
  public init(_ bytes: [UInt8]) throws(BertQAError) {
    guard bytes.count >= Self.fewestBytes else {
      throw BertQAError(
        .invalidArgument, argument: "key",
        "has \(bytes.count) bytes, but needs at least \(Self.fewestBytes) so that nobody guesses it")
    }
    start = HMAC(key: bytes)
  }

  /// Returns the first 32 hexadecimal digits of HMAC-SHA-256 of a text with the key.
  package func digits(of text: String) throws(BertQAError) -> String {
    let digits = try withBytes(of: text) { bytes throws(BertQAError) in
      try self.digits(of: bytes, CallMonitor(CallOptions()))
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// Returns the first 32 hexadecimal digits of HMAC-SHA-256 of a text with the key.
  package func digits(
    of text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor
  ) throws(BertQAError) -> [UInt8] {
    var code = start
    for part in stride(from: 0, to: text.count, by: CallPoll.textInterval) {
      try monitor.check()
      code.update(
        UnsafeBufferPointer(rebasing: text[part..<min(part + CallPoll.textInterval, text.count)]))
    }
    let digits = Array("0123456789abcdef".utf8)
    return code.finish().prefix(16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
  }
}
