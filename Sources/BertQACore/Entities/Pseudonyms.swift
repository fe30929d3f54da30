import Synchronization

/// The names that replace values in redacted texts, such as "[PER_3]", and the values. A value with a label has one
/// name, and a label's names are numbered from 1 in the order in which values are first seen. It never forgets a value.
///
/// Threads may share it; then the numbers depend on which of them is first.
public final class Pseudonyms: Sendable {
  /// A name and the text that it stands for.
  public final class Entry: Sendable {
    public let name: [UInt8]
    public let value: [UInt8]

    init(name: [UInt8], value: [UInt8]) {
      self.name = name
      self.value = value
    }
  }

  private struct Value: Hashable {
    var label: [UInt8]
    var bytes: [UInt8]
  }

  private struct State {
    var entries: [Entry] = []
    var byValue: [Value: Int] = [:]
    var byName: [[UInt8]: Int] = [:]
    /// The largest number of each label's names.
    var numbers: [[UInt8]: Int] = [:]

    /// Checks that there is memory for one more name.
    mutating func makeRoom() throws(BertQAError) {
      try Memory.requireReserve(atItem: entries.count)
      try entries.makeRoom(for: 1)
      try byValue.makeRoom()
      try byName.makeRoom()
    }

    mutating func keep(_ entry: Entry, _ value: Value, _ number: Int) {
      if byValue[value] == nil { byValue[value] = entries.count }
      byName[entry.name] = entries.count
      numbers[value.label] = max(numbers[value.label, default: 0], number)
      entries.append(entry)
    }
  }

  /// The approximate bytes of a name in all tables without its value.
  private static let entryOverhead = 256

  private let state = Mutex(State())

  public init() {}

  /// The number of names.
  public var count: Int { state.withLock { $0.entries.count } }

  /// Returns the names from an index on, in the order in which they were made.
  public func entries(from index: Int = 0) -> [Entry] {
    state.withLock { Array($0.entries.dropFirst(max(0, index))) }
  }

  /// Returns the name of a value, which is a new one if the value is new.
  func name(
    of value: UnsafeBufferPointer<UInt8>, label: String, _ monitor: CallMonitor
  ) throws(BertQAError) -> [UInt8] {
    try Memory.require(2 * value.count)
    let value = Value(label: Self.labelInNames(label), bytes: Array(value))
    return try state.withLock { state throws(BertQAError) in
      if let index = state.byValue[value] { return state.entries[index].name }
      try monitor.hold(Self.entryOverhead + 2 * value.bytes.count)
      try state.makeRoom()
      let number = state.numbers[value.label, default: 0] + 1
      let name = [Self.opening] + value.label + "_\(number)]".utf8
      state.keep(Entry(name: name, value: value.bytes), value, number)
      return name
    }
  }

  /// Adds a name from elsewhere, such as a file that an earlier run has written.
  public func add(name: [UInt8], value: [UInt8]) throws(BertQAError) {
    guard let (label, number) = Self.parts(of: name) else {
      throw BertQAError(
        .invalidArgument, argument: "name",
        "must be a label and a number of at most \(Self.mostDigits) digits in brackets, such as [PER_3]")
    }
    guard number <= Self.largestNumber else {
      throw BertQAError(
        .invalidArgument, argument: "name", "has the number \(number), which is above \(Self.largestNumber)")
    }
    let isKnown = try state.withLock { state throws(BertQAError) in
      if let index = state.byName[name] { return state.entries[index].value == value }
      try state.makeRoom()
      state.keep(Entry(name: name, value: value), Value(label: label, bytes: value), number)
      return true
    }
    guard isKnown else {
      throw BertQAError(.invalidArgument, argument: "name", "has another value already")
    }
  }

  /// Forgets the names from an index on, made for texts that were given up.
  package func removeAll(from index: Int) {
    state.withLock { state in
      guard index < state.entries.count else { return }
      let kept = Array(state.entries[..<index])
      state = State()
      for entry in kept {
        guard let (label, number) = Self.parts(of: entry.name) else { continue }
        state.keep(entry, Value(label: label, bytes: entry.value), number)
      }
    }
  }

  /// Returns the text with each name replaced by its value. Takes time linear in the text and the result.
  /// - Parameter spelling: encodes a value for the text's format; nil leaves it unchanged.
  public func restore(
    _ text: UnsafeBufferPointer<UInt8>, call: CallOptions = CallOptions(),
    spelling: (([UInt8]) -> [UInt8])? = nil
  ) throws(BertQAError) -> [UInt8] {
    let monitor = CallMonitor(call)
    try monitor.checkNow()
    var result: [UInt8] = []
    var position = 0
    func append(_ bytes: some Collection<UInt8>) throws(BertQAError) {
      try result.makeRoom(for: bytes.count, monitor)
      result += bytes
    }
    try Self.forEachName(in: text, monitor) { range throws(BertQAError) in
      let name = Array(text[range])
      guard let value = state.withLock({ state in state.byName[name].map { state.entries[$0].value } }) else {
        return
      }
      try append(text[position..<range.lowerBound])
      try append(spelling?(value) ?? value)
      position = range.upperBound
    }
    try append(text[position...])
    return result
  }

  /// Returns the string with each name replaced by its value.
  public func restore(_ text: String, call: CallOptions = CallOptions()) throws(BertQAError) -> String {
    let bytes = try withBytes(of: text) { bytes throws(BertQAError) in try restore(bytes, call: call) }
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: - The form of names

  private static let opening = UInt8(ascii: "[")
  private static let closing = UInt8(ascii: "]")
  private static let mostLabelBytes = 64
  private static let mostDigits = 15
  /// The largest number of a name from elsewhere. New names, which count on from it, have no more than `mostDigits`.
  private static let largestNumber = 1_000_000_000_000

  /// A label without what would make names ambiguous.
  private static func labelInNames(_ label: String) -> [UInt8] {
    var bytes = label.utf8.map { $0 == opening || $0 == closing || $0 < 0x20 ? UInt8(ascii: "_") : $0 }
    while bytes.count > mostLabelBytes || String(validating: bytes, as: UTF8.self) == nil {
      bytes.removeLast()
    }
    return bytes.isEmpty ? [UInt8(ascii: "_")] : bytes
  }

  /// Returns the label and the number of a name; nil for other texts.
  static func parts(of name: [UInt8]) -> (label: [UInt8], number: Int)? {
    guard name.first == opening, name.last == closing, let line = name.lastIndex(of: UInt8(ascii: "_")) else {
      return nil
    }
    let label = name[1..<max(1, line)]
    let digits = name[(line + 1)...].dropLast()
    guard 1...mostLabelBytes ~= label.count, 1...mostDigits ~= digits.count,
      digits.allSatisfy({ 0x30...0x39 ~= $0 }),
      !label.contains(where: { $0 == opening || $0 == closing || $0 < 0x20 }),
      let number = Int(String(decoding: digits, as: UTF8.self)), number > 0
    else { return nil }
    return (Array(label), number)
  }

  /// Calls a closure with the place of each text that has the form of a name, in the order of the text.
  static func forEachName(
    in text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor,
    _ body: (Range<Int>) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    var poll = TextPoll(monitor)
    var start: Int?
    for position in text.indices {
      try poll.reach(position)
      if text[position] == opening {
        start = position
      } else if text[position] == closing, let begun = start {
        start = nil
        let range = begun..<position + 1
        guard range.count <= mostLabelBytes + mostDigits + 3, parts(of: Array(text[range])) != nil else {
          continue
        }
        try body(range)
      }
    }
  }
}
