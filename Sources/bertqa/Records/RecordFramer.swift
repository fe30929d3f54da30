/// Finds where records end.
protocol RecordFramer {
  /// The record that begins at `start`, if it ends within `bytes`. Remembers how far it has looked: to be
  /// asked about the same record again when there are more bytes.
  /// - Parameter isEnd: whether no more bytes will come.
  mutating func frame(in bytes: UnsafeBufferPointer<UInt8>, from start: Int, isEnd: Bool) -> RecordFrame?

  /// What is left at the end of the input.
  mutating func lastFrame(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> RecordFrame

  /// The first `count` bytes of the unfinished record, all of them looked at, are taken away; what follows
  /// them goes on with it.
  mutating func forget(_ count: Int)
}

struct RecordFrame {
  /// With the line end, or the length before it.
  var raw: Range<Int>
  var content: Range<Int>
  /// What `Record.number` grows by.
  var lineCount = 1
  /// Whether the record has the end that its format asks for.
  var isComplete = true
}
