import BertQACore

/// Adds documents to a collection in batches, each one transaction with one block of vectors.
final class CollectionWriter {
  private let collection: PassageCollection
  private let context: Context
  private let hasVectors: Bool
  private let command: String
  private var steps: [Step] = []
  /// The step of a file that has begun and has no documents yet.
  private var beginning: Step?
  private var passages: [Passage] = []
  private var passageBytes = 0
  /// Called while a batch is computed.
  var call: () -> CallOptions = { CallOptions() }
  private(set) var passageCount = 0
  /// True if a batch could not be written: the failure is not that of a file.
  private(set) var hasFailed = false

  private typealias Limits = (passages: Int, bytes: Int, steps: Int)
  /// Vectors are computed batch by batch. Without them a batch may be larger: FTS5 merges what each transaction adds,
  /// which takes a fifth of its time after transactions of 1024 passages.
  private var limits: Limits { hasVectors ? (1024, 1 << 21, 4096) : (8192, 1 << 22, 1 << 15) }
  /// The text that is cut into passages at once.
  private static let pieceBytes = 1 << 20

  private enum Step {
    case beginFile(path: String, SourceStatus, settings: Int64)
    case document(name: [UInt8]?, title: [UInt8]?, fields: [UInt8]?)
    case passage(start: Int, end: Int, line: Int?)
    case endFile(hash: Int64, problems: Int)
    case same(path: String, SourceStatus)
    case remove(file: Int64)
  }

  private struct Passage {
    /// The document's title and a newline, which the vector also covers; or empty.
    var title: [UInt8]
    var text: [UInt8]
  }

  /// - Parameter context: the embedding model, or only its tokenizer for a collection without vectors.
  init(_ collection: PassageCollection, _ context: Context, hasVectors: Bool, command: String)
    throws(ToolError)
  {
    self.collection = collection
    self.context = context
    self.hasVectors = hasVectors
    self.command = command
    try agreeOnModel()
  }

  /// Stores the model's fingerprint, or checks that the collection's vectors are this model's.
  private func agreeOnModel() throws(ToolError) {
    let path = collection.database.path
    let isEmpty =
      try collection.database.integer("SELECT count(*) FROM (SELECT 1 FROM passages LIMIT 1)") == 0
    guard let model = try collection.model() else {
      guard hasVectors else { return }
      guard isEmpty else {
        throw ToolError(
          .input,
          "\(path) has no vectors: index it with \(Option.wordsOnly.spelling) again, or make a new collection"
        )
      }
      let fingerprint = try ofCore(command) { () throws(BertQAError) in try context.vectorFingerprint() }
      try collection.database.change(
        PassageCollection.sql(.setModel),
        [.text(context.info.directory), .integer(Int64(context.info.embeddingLength)), .blob(fingerprint)])
      return
    }
    guard hasVectors else {
      throw ToolError(.input, "\(path) has vectors: index it without \(Option.wordsOnly.spelling)")
    }
    _ = try model.fingerprint.withElements { fingerprint throws(ToolError) in
      try ofCore(command) { () throws(BertQAError) in
        try context.search(question: UnsafeBufferPointer(start: nil, count: 0), fingerprint: fingerprint)
      }
    }
  }

  // MARK: - Files

  /// Begins a file's documents. The first one replaces those that the collection has of the file.
  /// - Parameter settings: those with which it is read, see `SourceReading`.
  func begin(_ path: String, _ status: SourceStatus, settings: Int64) {
    beginning = .beginFile(path: path, status, settings: settings)
  }

  /// True until the file that has begun has a document.
  var hasNoDocument: Bool { beginning != nil }

  /// Removes the documents that the collection has of the file that has begun, if this has not happened.
  func replace() {
    if let step = beginning.take() { steps.append(step) }
  }

  /// Ends a file that was read completely.
  /// - Parameter problems: the number of its records that could not be read.
  func endFile(hash: Int64, problems: Int = 0) throws(ToolError) {
    replace()
    steps.append(.endFile(hash: hash, problems: problems))
    try flushIfLarge()
  }

  /// Notes that a file has another time, but the same bytes.
  func keep(_ path: String, _ status: SourceStatus) throws(ToolError) {
    steps.append(.same(path: path, status))
    try flushIfLarge()
  }

  func remove(file: Int64) throws(ToolError) {
    steps.append(.remove(file: file))
    try flushIfLarge()
  }

  // MARK: - Documents

  /// Adds a document and its text.
  /// - Parameters:
  ///   - title: white space alone counts as none.
  ///   - fields: an object of JSON.
  ///   - hasLines: true if its lines are the file's.
  func add(
    _ text: UnsafeBufferPointer<UInt8>, name: [UInt8]? = nil, title: [UInt8]? = nil, fields: [UInt8]? = nil,
    hasLines: Bool
  ) throws(ToolError) {
    let title = title.flatMap { $0.contains { $0 > UInt8(ascii: " ") } ? $0 : nil }
    replace()
    steps.append(.document(name: name, title: title, fields: fields))
    let heading = title.map { $0 + [UInt8(ascii: "\n")] } ?? []
    var start = 0
    var (line, lineByte) = (1, 0)
    while start < text.count {
      let end = Self.pieceEnd(from: start, in: text)
      let piece = UnsafeBufferPointer(rebasing: text[start..<end])
      let ranges = try ofCore(command) { () throws(BertQAError) in
        try context.passages(of: piece, call: call())
      }
      for range in ranges where range.count > 0 {
        let first = start + range.start
        if hasLines, first > lineByte {
          line += text[lineByte..<first].count { $0 == UInt8(ascii: "\n") }
          lineByte = first
        }
        steps.append(.passage(start: first, end: start + range.end, line: hasLines ? line : nil))
        passages.append(Passage(title: heading, text: Array(piece[range.start..<range.end])))
        passageBytes += range.count
        try flushIfLarge()
      }
      start = end
    }
    try flushIfLarge()
  }

  /// Ends a piece of a long text after a blank line, else after a line, a space, or at the limit before a character.
  private static func pieceEnd(from start: Int, in text: UnsafeBufferPointer<UInt8>) -> Int {
    guard text.count - start > pieceBytes else { return text.count }
    let limit = start + pieceBytes
    let newline = UInt8(ascii: "\n")
    let half = start + pieceBytes / 2
    var (line, space) = (0, 0)
    for end in stride(from: limit, to: half, by: -1) {
      if text[end - 1] == newline {
        if text[end - 2] == newline { return end }
        if line == 0 { line = end }
      } else if space == 0, text[end - 1] == UInt8(ascii: " ") {
        space = end
      }
    }
    if line > 0 || space > 0 { return line > 0 ? line : space }
    var end = limit
    while end > half, text[end] & 0xC0 == 0x80 { end -= 1 }
    return end
  }

  // MARK: - Batches

  private func flushIfLarge() throws(ToolError) {
    let limits = limits
    if passages.count >= limits.passages || passageBytes >= limits.bytes || steps.count >= limits.steps {
      try flush()
    }
  }

  /// Computes the vectors of what was added, and writes all of it.
  func flush() throws(ToolError) {
    guard !steps.isEmpty else { return }
    hasFailed = true
    let vectors = try vectors()
    let database = collection.database
    try database.transaction { () throws(ToolError) in
      try checkContinuation()
      var (document, passage): (Int64, Int) = (lastDocument, 0)
      var file: Int64? = lastFile
      var first: Int64?
      for step in steps {
        switch step {
        case .beginFile(let path, let status, let settings):
          try database.change("DELETE FROM files WHERE path = ?1", [.text(path)])
          try database.change(
            "INSERT INTO files(path, modified, size, settings) VALUES (?1, ?2, ?3, ?4)",
            [.text(path), .integer(status.modified), .integer(status.size), .integer(settings)])
          file = database.lastID
        case .document(let name, let title, let fields):
          let values = [name, title, fields].map { $0.map { SQLiteValue.text($0) } ?? .null }
          try database.change(
            PassageCollection.sql(.addDocument), [file.map { .integer($0) } ?? .null] + values)
          document = database.lastID
        case .passage(let start, let end, let line):
          try database.change(
            PassageCollection.sql(.addPassage),
            [
              .integer(document), .integer(Int64(start)), .integer(Int64(end)),
              line.map { .integer(Int64($0)) } ?? .null, .text(passages[passage].text),
            ])
          first = first ?? database.lastID
          passage += 1
        case .endFile(let hash, let problems):
          try database.change(
            "UPDATE files SET hash = ?2, problems = ?3 WHERE id = ?1",
            [file.map { .integer($0) } ?? .null, .integer(hash), .integer(Int64(problems))])
        case .same(let path, let status):
          try database.change(
            "UPDATE files SET modified = ?2 WHERE path = ?1", [.text(path), .integer(status.modified)])
        case .remove(let file): try database.change("DELETE FROM files WHERE id = ?1", [.integer(file)])
        }
      }
      if let first {
        let count = Int64(passages.count)
        try database.change(
          PassageCollection.sql(.addWords), [.integer(first), .integer(first + count - 1)])
        if let vectors {
          try database.change(
            PassageCollection.sql(.addVectors),
            [.integer(first), .integer(count), .blob(vectors.rows), .blob(vectors.scales)])
        }
      }
      (lastDocument, lastFile) = (document, file)
    }
    passageCount += passages.count
    steps.removeAll(keepingCapacity: true)
    passages.removeAll(keepingCapacity: true)
    passageBytes = 0
    hasFailed = false
  }

  /// Throws if the batch continues a file or document that another program has removed.
  private func checkContinuation() throws(ToolError) {
    var open = [("files", lastFile)]
    switch steps.first {
    case .passage: open.append(("documents", lastDocument))
    case .document, .endFile: break
    case .beginFile, .same, .remove, nil: return
    }
    for case (let table, let id?) in open {
      let count = try collection.database.integer(
        "SELECT count(*) FROM \(table) WHERE id = ?1", [.integer(id)])
      guard count == 1 else {
        throw ToolError(
          .input,
          "\(collection.database.path): another program removed the file that is being read: index it again")
      }
    }
  }

  /// The document and the file that the next batch may continue.
  private var lastDocument: Int64 = 0
  private var lastFile: Int64?

  /// Returns the passages' vectors; nil if there are none.
  private func vectors() throws(ToolError) -> (rows: [UInt8], scales: [UInt8])? {
    guard hasVectors, !passages.isEmpty else { return nil }
    let length = context.info.embeddingLength
    var options = EmbedOptions()
    options.call = call()
    options.promptName = PromptName.document
    // Searches compare cosines, also those of models that leave vectors as they are.
    options.normalizes = true
    // One block of memory for all texts.
    let texts = passages.flatMap { $0.title + $0.text }
    let floats = try texts.withElements { texts throws(ToolError) in
      var start = 0
      let pairs = passages.map { passage in
        let end = start + passage.title.count + passage.text.count
        defer { start = end }
        return TextPair(text: UnsafeBufferPointer(rebasing: texts[start..<end]))
      }
      return try ofCore(command) { () throws(BertQAError) in try context.embed(pairs, options: options) }
    }
    var rows = [Int8](repeating: 0, count: floats.count)
    var scales = [Float](repeating: 0, count: passages.count)
    try rows.withMutableElements { rows throws(ToolError) in
      try scales.withMutableElements { scales throws(ToolError) in
        try floats.withElements { floats throws(ToolError) in
          guard let rows = rows.baseAddress, let scales = scales.baseAddress else { return }
          try ofCore(command) { () throws(BertQAError) in
            try VectorRows.quantize(floats, length: length, rows: rows, scales: scales)
          }
        }
      }
    }
    return (rows.map { UInt8(bitPattern: $0) }, scales.withUnsafeBytes { Array($0) })
  }
}
