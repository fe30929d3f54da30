/// Reads the input on a thread of its own, cuts it into records, finds their fields and hands them over in
/// blocks.
final class InputReader: @unchecked Sendable {  // used by one thread once that has started
  private let source: InputSource
  private var framer: any RecordFramer
  private var scanner: any RecordScanner
  private let queue: BlockQueue
  private let settings: FilterSettings
  private let form: RecordForm
  private var block = Block()
  /// Of the unfinished record, in the block.
  private var start = 0
  /// What comes before it in the input.
  private var offset = 0
  private var number = 0
  private var hasHeader: Bool
  /// Whether a part of the unfinished record, which is too large, was handed over.
  private var isInParts = false
  private static let partSize = 1 << 16

  /// - Parameter resumed: the bytes and lines of the input that were done before.
  init(
    _ source: InputSource, _ settings: FilterSettings, _ form: RecordForm, to queue: BlockQueue,
    resumed: (offset: Int, number: Int)?
  ) throws(ToolError) {
    self.source = source
    self.settings = settings
    self.queue = queue
    self.form = form
    framer = form.makeFramer()
    scanner = form.makeScanner()
    hasHeader = form.format.isTable
    guard let resumed, resumed.offset > 0 else { return }
    if hasHeader { try readHeaderAgain() }
    try source.seek(to: resumed.offset)
    (offset, number) = resumed
  }

  /// Reads until the end; to be called on the reader's thread.
  func run() {
    do throws(ToolError) {
      try readAll()
      queue.end(nil)
    } catch {
      if !block.records.isEmpty { queue.put(block) }
      queue.end(error)
    }
  }

  private func readAll() throws(ToolError) {
    while try source.read(into: block.input) > 0 {
      try takeRecords()
      try handOver()
    }
    while source.isStopped, start < block.input.count || isInParts {
      guard try source.readOne(into: block.input) > 0 else { break }
      try takeRecords()
    }
    if start < block.input.count || isInParts {
      // A resumable run finds it in the file again.
      guard !(source.isStopped && settings.checkpoint != nil) else { return try handOver() }
      var frame = framer.lastFrame(in: block.input.bytes, from: start)
      if source.isStopped { frame.isComplete = false }
      try add(frame)
    }
    try handOver()
  }

  private func takeRecords() throws(ToolError) {
    while let frame = framer.frame(in: block.input.bytes, from: start) { try add(frame) }
    let count = block.input.count - start
    let limit = isInParts ? Self.partSize : settings.maximumRecordBytes + LengthFramer.prefixSize
    guard count > limit else { return }
    if hasHeader { throw ToolError(.input, "\(source.shown): the first line is above --max-record-bytes") }
    framer.forget(count)
    addPart(RecordFrame(raw: start..<block.input.count, content: 0..<0), isLast: false)
  }

  private func add(_ frame: RecordFrame) throws(ToolError) {
    if isInParts { return addPart(frame, isLast: true) }
    var record = record(frame)
    if number == 0 { skipByteOrderMark(&record) }
    if hasHeader {
      hasHeader = false
      record.kind = .header
      try scanner.readHeader(record.content, in: block)
    } else if frame.isComplete, isBlank(record.content) {
      record.kind = .blank
    } else if record.content.count > settings.maximumRecordBytes {
      return addPart(frame, isLast: true)
    } else if frame.isComplete {
      try scanner.scan(&record, in: block)
    } else {
      record.problem = RecordProblem(
        .truncated, source.isStopped ? "stopped inside the record" : "the input ends inside the record")
      record.missingColumns = scanner.columnCount
    }
    finish(record)
  }

  /// A part of a record that is too large; its bytes stay only where they are to be written somewhere.
  private func addPart(_ frame: RecordFrame, isLast: Bool) {
    var record = record(frame)
    record.kind = .part(isFirst: !isInParts, isLast: isLast)
    record.problem = RecordProblem(
      .recordTooLarge,
      "the record has more than \(settings.maximumRecordBytes) bytes, see --max-record-bytes")
    record.missingColumns = scanner.columnCount
    if !isLast { record.endNumber = number }
    isInParts = !isLast
    if !settings.policy.keepsBytes { record.raw = 0..<0 }
    start = frame.raw.upperBound
    offset = record.endOffset
    number = record.endNumber
    block.records.append(record)
  }

  private func record(_ frame: RecordFrame) -> FilterRecord {
    FilterRecord(
      kind: .data, raw: frame.raw, content: frame.content, number: number + 1,
      endOffset: offset + frame.raw.count, endNumber: number + frame.lineCount)
  }

  private func finish(_ record: FilterRecord) {
    start = record.raw.upperBound
    offset = record.endOffset
    number = record.endNumber
    block.records.append(record)
  }

  /// Hands the block over if a record ends in it, and goes on with a fresh one.
  private func handOver() throws(ToolError) {
    guard !block.records.isEmpty else { return }
    let fresh = Block()
    try fresh.input.append(block.bytes(start..<block.input.count))
    queue.put(block)
    block = fresh
    start = 0
  }

  private func isBlank(_ content: Range<Int>) -> Bool {
    switch settings.format {
    case .lines: block.bytes(content).allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    case .table: content.isEmpty
    case .lengthPrefixed: false
    }
  }

  /// U+FEFF, which some programs put before a text.
  private func skipByteOrderMark(_ record: inout FilterRecord) {
    guard settings.format.isText, block.bytes(record.content).starts(with: [0xEF, 0xBB, 0xBF])
    else { return }
    record.content = record.content.dropFirst(3)
  }

  private func readHeaderAgain() throws(ToolError) {
    try source.seek(to: 0)
    while hasHeader, try source.read(into: block.input) > 0 { try takeRecords() }
    framer = form.makeFramer()
    block = Block()
    start = 0
    isInParts = false
  }
}
