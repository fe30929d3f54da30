/// A source of bytes for a reader of records.
protocol RecordSource: AnyObject {
  /// The file that is being read.
  var input: Input { get }

  /// True if the input ended because reading was told to stop.
  var isStopped: Bool { get }

  /// Appends available bytes and waits if there are none.
  /// - Parameter insideRecord: true if a record has begun, so that its end is needed even after a stop.
  func read(into buffer: ByteBuffer, insideRecord: Bool) throws(ToolError) -> RecordReader.Reading
}

/// Reads records of any format: splits the input into records, finds their fields and returns them in blocks.
/// It uses memory for one record and one chunk of the input.
final class RecordReader: @unchecked Sendable {  // used by one thread at a time
  enum Reading {
    case bytes
    case end
    /// The file ended, and reading continues in the next one.
    case nextFile
    /// Another file begins with the same bytes, and reading continues in it at the same offset.
    case continued
  }

  struct Limits {
    /// The maximum size of a record. Larger records are passed on in parts.
    var recordBytes: Int
    /// True keeps the bytes of larger records.
    var keepsLargeRecords = false
    /// True leaves an unfinished record at the end for another run.
    var leavesUnfinished = false
  }

  /// The number of bytes of an unfinished record that was left after the last block.
  private(set) var unfinishedBytes = 0

  private let source: any RecordSource
  private let form: RecordForm
  private let limits: Limits
  private var framer: PartFramer
  private var scanner: any RecordScanner
  private var block: Block
  /// The start of the unfinished record in the block.
  private var start = 0
  /// The number of bytes before it in the file.
  private var offset = 0
  /// The number of lines before it in all files.
  private var number = 0
  private var awaitsHeader: Bool
  /// True if the file is the first of the output; its byte order mark is passed through.
  private var isFirstFile: Bool
  /// The first header as its scanner reads it. The headers of later files must equal it.
  private var header: [UInt8]?
  /// The first header line, for a run that resumes after it; empty before it is read.
  private(set) var headerLine: [UInt8] = []
  private var hasEnded = false
  /// The error that follows the records of the block.
  private var failure: ToolError?

  /// The maximum number of records in a block, which bounds the memory for very short records.
  private static let blockRecords = 1024
  /// The maximum size of a table's first line, which checkpoints contain.
  private static let largestHeader = 16 << 20
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// - Parameter resumed: the bytes and lines of the file that earlier runs finished, and a table's header.
  init(
    _ source: any RecordSource, _ form: RecordForm, _ limits: Limits,
    resumed: (offset: Int, number: Int, header: [UInt8])? = nil
  ) throws(ToolError) {
    self.source = source
    self.form = form
    self.limits = limits
    framer = form.makeFramer(limit: limits.recordBytes)
    scanner = form.makeScanner()
    block = Block(source.input)
    awaitsHeader = form.format.isTable
    isFirstFile = source.input.index == 0 && resumed?.number ?? 0 == 0
    guard let resumed else { return }
    if awaitsHeader, !resumed.header.isEmpty {
      try resumed.header.withElements { header throws(ToolError) in try block.input.append(header) }
      // No more of it will come. A carriage return at its end is the whole line end.
      try takeRecords(isAll: true)
      beginFile()
      awaitsHeader = resumed.offset == 0
    }
    number = resumed.number
    guard resumed.offset > 0 else { return }
    try source.input.seek(to: resumed.offset)
    offset = resumed.offset
  }

  /// Returns the next records; nil at the end. Waits only for the first of them.
  func next() throws(ToolError) -> Block? {
    if let failure { throw failure }
    do throws(ToolError) {
      while true {
        try takeRecords()
        if !block.records.isEmpty { return try handOver() }
        if hasEnded { return nil }
        switch try source.read(into: block.input, insideRecord: isInsideRecord) {
        case .bytes: continue
        case .end: try takeLast(isEnd: true)
        case .continued:
          let finished = try handOver()
          if !finished.records.isEmpty { return finished }
        case .nextFile:
          try takeLast(isEnd: false)
          let finished = try handOver()
          beginFile()
          if !finished.records.isEmpty { return finished }
        }
      }
    } catch {
      guard !block.records.isEmpty else { throw error }
      failure = error
      block.seen = block.source.seen
      return block
    }
  }

  /// True if a record has begun whose end was not found.
  private var isInsideRecord: Bool { start < block.input.count || framer.isInsideRecord }

  private var byteOrderMarkLength: Int {
    guard offset == 0, form.format.isText,
      block.bytes(start..<block.input.count).starts(with: Self.byteOrderMark)
    else { return 0 }
    return Self.byteOrderMark.count
  }

  private var mayBecomeByteOrderMark: Bool {
    guard offset == 0, form.format.isText else { return false }
    let first = block.bytes(start..<block.input.count)
    return first.count < Self.byteOrderMark.count && Self.byteOrderMark.starts(with: first)
  }

  /// Drops a byte order mark that does not belong in the output because another file precedes it or the
  /// encoding was converted.
  private func dropByteOrderMark() {
    guard !isFirstFile || source.input.encoding != nil else { return }
    let mark = byteOrderMarkLength
    start += mark
    offset += mark
  }

  /// - Parameter isAll: true if no more bytes of the file will come.
  private func takeRecords(isAll: Bool = false) throws(ToolError) {
    if !isAll, mayBecomeByteOrderMark { return }
    dropByteOrderMark()
    var mark = byteOrderMarkLength
    while block.records.count < Self.blockRecords {
      guard var frame = framer.frame(in: block.input.bytes, from: start + mark, isEnd: isAll) else { break }
      frame.raw = start..<frame.raw.upperBound
      mark = 0
      try add(frame)
    }
  }

  /// Takes the rest at the end of a file.
  private func takeLast(isEnd: Bool) throws(ToolError) {
    hasEnded = isEnd
    try takeRecords(isAll: true)
    guard isInsideRecord else { return }
    // A compressed or converted file is either complete or invalid.
    if isEnd, limits.leavesUnfinished, source.input.isVerbatim {
      // After a stop they may be a part of a record that is in the file.
      if !source.isStopped { unfinishedBytes = block.input.count - start }
      block.input.truncate(to: start)
      return
    }
    let mark = byteOrderMarkLength
    var frame = framer.lastFrame(in: block.input.bytes, from: start + mark)
    frame.raw = start..<frame.raw.upperBound
    try add(frame, isStopped: source.isStopped)
  }

  /// Continues at the beginning of the source's next file.
  private func beginFile() {
    block = Block(source.input)
    framer = form.makeFramer(limit: limits.recordBytes)
    (start, offset) = (0, 0)
    isFirstFile = false
    awaitsHeader = form.format.isTable
  }

  /// - Parameter isStopped: true if the frame is all that was read of a record before a stop.
  private func add(_ frame: RecordFrame, isStopped: Bool = false) throws(ToolError) {
    if awaitsHeader {
      guard frame.part == nil, frame.raw.count <= Self.largestHeader else { throw headerTooLarge }
      awaitsHeader = false
      return try takeHeader(record(frame))
    }
    if let part = frame.part { return add(part, frame) }
    var record = record(frame)
    let isComplete = frame.isComplete && !isStopped
    if isComplete, isBlank(record.content) {
      return addBlank(record)
    } else if isComplete {
      try scanner.scan(&record, in: block)
      if record.problem == nil { record.problem = encodingProblem(record.content) }
    } else {
      record.problem = RecordProblem(
        .truncated, isStopped ? "stopped inside the record" : "the input ends inside the record")
      record.missingColumns = scanner.columnCount
    }
    finish(record)
  }

  /// Returns the problem if the record is invalid in an encoding that is converted or checked.
  private func encodingProblem(_ content: Range<Int>) -> RecordProblem? {
    let isConverted = block.source.encoding != nil
    guard isConverted ? block.source.hasInvalid : form.isChecked, !block.bytes(content).isValidUTF8 else {
      return nil
    }
    return block.source.encodingProblem
  }

  private var headerTooLarge: ToolError {
    let most = min(limits.recordBytes, Self.largestHeader)
    return ToolError(.input, "\(source.input.shown): the first line has more than \(most) bytes")
  }

  private func takeHeader(_ record: Record) throws(ToolError) {
    var record = record
    if let problem = encodingProblem(record.content) {
      throw ToolError(.input, "\(source.input.shown): its first line: \(problem.message)")
    }
    let names = try scanner.names(record.content, in: block)
    if let header {
      guard names == header else {
        throw ToolError(
          .input, "\(source.input.shown): its first line names other columns than the file before it")
      }
      record.kind = .repeatedHeader
      record.raw = record.raw.upperBound..<record.raw.upperBound
      return finish(record)
    }
    header = names
    headerLine = Array(block.bytes(record.raw))
    record.kind = .header
    try scanner.readHeader(record.content, in: block)
    finish(record)
  }

  /// Adds consecutive blank lines as one record, as there may be very many.
  private func addBlank(_ record: Record) {
    if let last = block.records.last, case .blank(let lineCount) = last.kind {
      block.records.removeLast()
      var run = last
      run.kind = .blank(lineCount: lineCount + 1)
      run.raw = last.raw.lowerBound..<record.raw.upperBound
      (run.endOffset, run.endNumber) = (record.endOffset, record.endNumber)
      return finish(run)
    }
    var record = record
    record.kind = .blank(lineCount: 1)
    finish(record)
  }

  /// Adds a part of a record that is too large. Its bytes are kept only if they will be written somewhere.
  private func add(_ part: RecordFrame.Part, _ frame: RecordFrame) {
    var record = record(frame)
    record.kind = .part(isFirst: part.isFirst, isLast: part.isLast)
    record.problem = RecordProblem(
      .recordTooLarge, "the record has more than \(limits.recordBytes) bytes, see --max-record-bytes")
    record.missingColumns = scanner.columnCount
    let end = frame.raw.upperBound
    if !limits.keepsLargeRecords { record.raw = end..<end }
    finish(record, at: end)
  }

  private func record(_ frame: RecordFrame) -> Record {
    Record(
      kind: .data, raw: frame.raw, content: frame.content, number: number + 1, isCut: !frame.isComplete,
      endOffset: offset + frame.raw.count, endNumber: number + frame.lineCount)
  }

  private func finish(_ record: Record, at end: Int? = nil) {
    start = end ?? record.raw.upperBound
    offset = record.endOffset
    number = record.endNumber
    block.records.append(record)
  }

  /// Returns the block and starts a new one with the bytes after its records.
  private func handOver() throws(ToolError) -> Block {
    block.seen = block.source.seen
    let fresh = Block(source.input)
    try fresh.input.append(block.bytes(start..<block.input.count))
    defer {
      block = fresh
      start = 0
    }
    return block
  }

  private func isBlank(_ content: Range<Int>) -> Bool {
    switch form.format {
    case .jsonLines: block.bytes(content).allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    case .table: content.isEmpty
    case .lengthPrefixed: false
    }
  }
}

/// A file that is read once, to its end.
final class WholeFile: RecordSource {
  let input: Input
  let isStopped = false
  /// The number of bytes read so far.
  private(set) var byteCount = 0

  private static let chunk = 1 << 16

  init(_ name: ArgumentText, _ encoding: TextEncoding?) throws(ToolError) {
    input = try Input(name)
    try input.begin(Input.Reading(encoding: encoding))
  }

  func read(into buffer: ByteBuffer, insideRecord: Bool) throws(ToolError) -> RecordReader.Reading {
    let count = try buffer.fill(atMost: Self.chunk, input.read)
    byteCount += count
    return count > 0 ? .bytes : .end
  }
}
