/// Finds the ends of records.
protocol RecordFramer {
  /// Returns the record that begins at `start` if it ends within `bytes`. The framer remembers how far it has
  /// scanned; call it again for the same record when more bytes are available.
  /// - Parameter isEnd: true if no more bytes will come.
  mutating func frame(in bytes: UnsafeBufferPointer<UInt8>, from start: Int, isEnd: Bool) -> RecordFrame?

  /// Returns the rest of the input at its end as a record.
  mutating func lastFrame(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> RecordFrame

  /// Tells the framer that the first `count` bytes of the unfinished record, all of them scanned, were
  /// dropped. The following bytes continue the record.
  mutating func forget(_ count: Int)
}

struct RecordFrame {
  /// The complete record, with the line end or the length prefix.
  var raw: Range<Int>
  var content: Range<Int>
  /// The increment of `Record.number`.
  var lineCount = 1
  /// True if the record ends as its format requires.
  var isComplete = true
  /// nil for a complete record.
  var part: Part?

  /// A part of a record above the size limit.
  struct Part {
    let isFirst: Bool
    let isLast: Bool
  }
}

/// Splits the input into records, and those above the size limit into parts.
struct PartFramer {
  /// True if a part was returned and the record's last part was not.
  private(set) var isInsideRecord = false
  private var framer: any RecordFramer
  /// The maximum size of a record's content in bytes.
  private let limit: Int

  /// The size in bytes above which the next part of a record is returned.
  private static let partSize = 1 << 16

  init(_ framer: any RecordFramer, limit: Int) {
    self.framer = framer
    self.limit = limit
  }

  /// Returns the record or part that begins at `start`; nil if more bytes are needed. The parameters are those of
  /// `RecordFramer.frame`.
  mutating func frame(in bytes: UnsafeBufferPointer<UInt8>, from start: Int, isEnd: Bool) -> RecordFrame? {
    if let frame = framer.frame(in: bytes, from: start, isEnd: isEnd) { return ending(frame) }
    let count = bytes.count - start
    guard count > (isInsideRecord ? Self.partSize : limit + LengthFramer.prefixSize) else { return nil }
    framer.forget(count)
    let part = RecordFrame.Part(isFirst: !isInsideRecord, isLast: false)
    isInsideRecord = true
    return RecordFrame(raw: start..<bytes.count, content: 0..<0, lineCount: 0, part: part)
  }

  /// Returns the rest of the input at its end as a record or as its last part.
  mutating func lastFrame(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> RecordFrame {
    ending(framer.lastFrame(in: bytes, from: start))
  }

  private mutating func ending(_ frame: RecordFrame) -> RecordFrame {
    guard isInsideRecord || frame.content.count > limit else { return frame }
    var frame = frame
    frame.part = RecordFrame.Part(isFirst: !isInsideRecord, isLast: true)
    isInsideRecord = false
    return frame
  }
}
