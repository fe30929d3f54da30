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
}
