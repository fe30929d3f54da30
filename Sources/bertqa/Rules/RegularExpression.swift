import BertQACore
import Glibc

/// A regular expression of a rule, matched by PCRE2 within limits. One thread at a time may use it.
final class RegularExpression {
  /// A mistake in an expression.
  struct Mistake: Error {
    let what: String
    /// The byte of the expression.
    let offset: Int
  }

  private let pcre2: PCRE2Library
  private let code: PCRE2Library.Handle
  private let data: PCRE2Library.Handle
  private let context: PCRE2Library.Handle

  /// Backtracking steps from one place of a text, which PCRE2 calls match limit, and the nesting of these.
  private static let mostSteps: UInt32 = 1_000_000
  private static let mostKilobytes: UInt32 = 20_000
  /// The places at which a match may begin that are tried before the clock is read: few at first, twice as many after
  /// each time that this was fast, because PCRE2 may look at the rest of the text each time.
  private static let firstWindow = 4096
  private static let fastSeconds = 0.05
  /// Processor time of an expression in one text. Steps that PCRE2 does not count, such as those of `\d+` over many
  /// digits, could take hours.
  private static let mostSeconds = 10.0

  init(_ expression: [UInt8], isCaseless: Bool = false, _ pcre2: PCRE2Library) throws(Mistake) {
    var number: Int32 = 0
    var offset = 0
    let options =
      PCRE2Library.utf | PCRE2Library.ucp | PCRE2Library.neverBackslashC | PCRE2Library.useOffsetLimit
      | (isCaseless ? PCRE2Library.caseless : 0)
    guard let code = pcre2.compile(expression, expression.count, options, &number, &offset, nil) else {
      throw Mistake(what: pcre2.text(number), offset: offset)
    }
    guard let data = pcre2.makeMatchData(code, nil), let context = pcre2.makeMatchContext(nil) else {
      throw Mistake(what: "there is not enough memory", offset: 0)
    }
    _ = pcre2.setMatchLimit(context, Self.mostSteps)
    _ = pcre2.setDepthLimit(context, Self.mostSteps)
    _ = pcre2.setHeapLimit(context, Self.mostKilobytes)
    self.pcre2 = pcre2
    self.code = code
    self.data = data
    self.context = context
  }

  deinit {
    pcre2.freeMatchContext(context)
    pcre2.freeMatchData(data)
    pcre2.freeCode(code)
  }

  /// Calls a closure with each match that is not empty and begins in a range, in the order of the text.
  /// - Parameters:
  ///   - text: valid UTF-8.
  ///   - rule: the rule's name, for messages.
  func forEachMatch(
    in text: UnsafeBufferPointer<UInt8>, from range: Range<Int>, rule: String, _ monitor: CallMonitor,
    _ body: (Range<Int>) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    var position = range.lowerBound
    var window = Self.firstWindow
    let start = Clock.processorSeconds()
    var before = start
    while position < range.upperBound {
      try monitor.check()
      let last = position + min(window, range.upperBound - position) - 1
      _ = pcre2.setOffsetLimit(context, last)
      let result = pcre2.match(
        code, text.baseAddress, text.count, position, PCRE2Library.noUTFCheck | PCRE2Library.notEmpty, data,
        context)
      let now = Clock.processorSeconds()
      guard now - start < Self.mostSeconds else {
        throw tooSlow(rule, "it takes more than \(Int(Self.mostSeconds)) seconds")
      }
      if now - before < Self.fastSeconds, window < text.count { window *= 2 }
      before = now
      if result == PCRE2Library.noMatch {
        position = Self.characterStart(text, after: last)
        continue
      }
      guard result > 0, let offsets = pcre2.offsets(data) else { throw tooSlow(rule, pcre2.text(result)) }
      // \K may move the start of a match.
      if offsets[0] < offsets[1] { try body(offsets[0]..<offsets[1]) }
      position = max(offsets[1], Self.characterStart(text, after: position))
    }
  }

  private func tooSlow(_ rule: String, _ what: String) -> BertQAError {
    BertQAError(.tooLarge, "the rule \(rule) cannot be matched with this text: \(what)")
  }

  /// Returns the beginning of the character after the one at a place.
  static func characterStart(_ text: UnsafeBufferPointer<UInt8>, after position: Int) -> Int {
    var next = position + 1
    while next < text.count, text[next] & 0xC0 == 0x80 { next += 1 }
    return next
  }
}
