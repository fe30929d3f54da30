/// Splits a table into rows that end with a line feed, a carriage return, or both. Line ends inside quotes
/// belong to the row. Malformed CSV is read as Python's csv module reads it: a quote inside an unquoted field
/// is text, and so is what follows a closing quote.
struct RowFramer: RecordFramer {
  private enum State {
    case fieldStart, unquoted, quoted
    /// After a quote inside quotes: either the closing quote or the first of a doubled one.
    case quote
  }

  private let dialect: TableDialect
  private var state = State.fieldStart
  /// The number of bytes of the unfinished row that were scanned.
  private var looked = 0
  private var lineCount = 0
  /// True if the last scanned byte is a carriage return: a line feed after it is part of the same line end.
  private var isBehindReturn = false

  init(_ dialect: TableDialect) { self.dialect = dialect }

  mutating func frame(in bytes: UnsafeBufferPointer<UInt8>, from start: Int, isEnd: Bool) -> RecordFrame? {
    var position = start + looked
    while position < bytes.count {
      let byte = bytes[position]
      if isBehindReturn {
        isBehindReturn = false
        if byte == UInt8(ascii: "\n") { position &+= 1 }
        if state != .quoted { return row(bytes, start..<position) }
        if byte == UInt8(ascii: "\n") { continue }
      }
      position &+= 1
      switch byte {
      case UInt8(ascii: "\r"):
        lineCount += 1
        isBehindReturn = true
      case UInt8(ascii: "\n"):
        lineCount += 1
        if state != .quoted { return row(bytes, start..<position) }
      case UInt8(ascii: "\"") where dialect.hasQuotes:
        switch state {
        case .fieldStart, .quote: state = .quoted
        case .quoted: state = .quote
        case .unquoted: break
        }
      default:
        if state != .quoted { state = byte == dialect.delimiter ? .fieldStart : .unquoted }
      }
    }
    looked = bytes.count - start
    return isEnd && isBehindReturn && state != .quoted ? row(bytes, start..<position) : nil
  }

  mutating func lastFrame(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> RecordFrame {
    defer { restart() }
    let range = start..<bytes.count
    return RecordFrame(
      raw: range, content: range, lineCount: lineCount + 1, isComplete: state != .quoted)
  }

  mutating func forget(_ count: Int) { looked -= count }

  private mutating func row(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> RecordFrame {
    defer { restart() }
    var content = range
    // After `forget`, the rest of a row may be only its line end, or a part of it.
    for end in [UInt8(ascii: "\n"), UInt8(ascii: "\r")] {
      if let last = content.last, bytes[last] == end { content = content.dropLast() }
    }
    return RecordFrame(raw: range, content: content, lineCount: lineCount)
  }

  private mutating func restart() { (state, looked, lineCount, isBehindReturn) = (.fieldStart, 0, 0, false) }
}
