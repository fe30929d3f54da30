import Glibc

/// Rows of CSV: line ends inside quotes belong to the row. Reads what is not quite CSV as Python's module
/// does: a quote inside an unquoted field is text, and so is what follows a closing quote.
struct CSVFramer: RecordFramer {
  private enum State {
    case fieldStart, unquoted, quoted
    /// Behind a quote inside quotes: the closing one, or the first of two.
    case quote
  }

  let delimiter: UInt8
  private var state = State.fieldStart
  /// Bytes of the unfinished row that were looked at.
  private var looked = 0
  private var lineCount = 0

  init(delimiter: UInt8) { self.delimiter = delimiter }

  mutating func frame(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> RecordFrame? {
    var position = start + looked
    while position < bytes.count {
      let byte = bytes[position]
      position &+= 1
      if byte == UInt8(ascii: "\n") {
        lineCount += 1
        guard state == .quoted else {
          let content = LineFramer.withoutReturn(bytes, start..<position - 1)
          defer { restart() }
          return RecordFrame(raw: start..<position, content: content, lineCount: lineCount)
        }
      } else if byte == UInt8(ascii: "\"") {
        switch state {
        case .fieldStart, .quote: state = .quoted
        case .quoted: state = .quote
        case .unquoted: break
        }
      } else if state != .quoted {
        state = byte == delimiter ? .fieldStart : .unquoted
      }
    }
    looked = bytes.count - start
    return nil
  }

  mutating func lastFrame(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> RecordFrame {
    defer { restart() }
    let range = start..<bytes.count
    return RecordFrame(
      raw: range, content: LineFramer.withoutReturn(bytes, range), lineCount: lineCount + 1,
      isComplete: state != .quoted)
  }

  mutating func forget(_ count: Int) { looked -= count }

  private mutating func restart() { (state, looked, lineCount) = (.fieldStart, 0, 0) }
}
