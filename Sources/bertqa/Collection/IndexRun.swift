import BertQACore
import Glibc

/// One run of 'bertqa index': brings a collection up to date with files.
final class IndexRun {
  struct Summary {
    var added = 0
    var changed = 0
    var unchanged = 0
    var removed = 0
  }

  private(set) var summary = Summary()
  private let collection: PassageCollection
  private let writer: CollectionWriter
  private let reading: SourceReading
  private let progress: Progress?
  private let start = Clock.seconds()
  /// The paths by which the collection knows the files that exist.
  private var paths: [FileIdentity: String] = [:]
  /// Files and records that could not be read, with the reasons.
  private(set) var problems: [String] = []
  private(set) var problemCount = 0
  /// True if Markdown was read as plain text.
  private(set) var hasMarkdownWithMarks = false

  /// Further problems are only counted.
  private static let mostProblems = 1000

  init(_ collection: PassageCollection, _ writer: CollectionWriter, _ reading: SourceReading) {
    self.collection = collection
    self.writer = writer
    self.reading = reading
    progress = Progress(subject: "indexing")
    writer.call = { [progress] in
      var call = CallOptions()
      call.cancellation = Cancellation {
        progress?.tick()
        return false
      }
      return call
    }
  }

  func run(_ sources: SourceFiles, readsStandardInput: Bool) throws(ToolError) {
    defer { progress?.clear() }
    for problem in sources.problems { note("\(problem.path): \(problem.reason)") }
    try removeMissing()
    // Sparse files may be larger together than an integer.
    let total = sources.files.reduce(0) { $0 + Double($1.status.size) + 1 }
    var done = 0.0
    for (index, file) in sources.files.enumerated() {
      let rate = done / max(Clock.seconds() - start, 1e-3) / 1e6
      progress?.update(
        "\(index) of \(sources.files.count) files, \(writer.passageCount) passages, \(decimal(rate, digits: 1)) MB/s",
        fraction: done / max(1, total))
      try add(paths[file.identity] ?? file.path, file.status)
      done += Double(file.status.size) + 1
    }
    if readsStandardInput { try addStandardInput() }
    try writer.flush()
  }

  /// Removes the files that no longer exist or are no longer files, and further names of the same file.
  private func removeMissing() throws(ToolError) {
    var missing: [Int64] = []
    let files = try collection.database.statement("SELECT id, path FROM files ORDER BY path")
    while try files.next() {
      guard let id = files.integer(0), let path = files.string(1), path != Self.standardInput else {
        continue
      }
      var status = stat()
      let isMissing =
        stat(path, &status) == 0
        ? status.st_mode & S_IFMT != S_IFREG : [ENOENT, ENOTDIR, ELOOP].contains(errno)
      guard !isMissing, let identity = FileIdentity(path: path) else {
        if isMissing { missing.append(id) }
        continue
      }
      if paths[identity] == nil { paths[identity] = path } else { missing.append(id) }
    }
    for id in missing { try writer.remove(file: id) }
    summary.removed = missing.count
  }

  /// Reads a file if it is new or has changed.
  private func add(_ path: String, _ status: SourceStatus) throws(ToolError) {
    let settings = reading.settings(for: path)
    let known = try known(path)
    // Other options may make other texts of the same bytes.
    let isKnown = known?.settings == settings
    if let known, isKnown, known.problems == 0, known.status == status {
      summary.unchanged += 1
      return
    }
    let name = strdup(path)
    defer { free(name) }
    guard let name else { throw ToolError(.resources, "out of memory") }
    // Until other bytes are found.
    var isSame = true
    writer.begin(path, status, settings: settings)
    do throws(ToolError) {
      let file = try Input(path: path)
      var hash: Int64?
      if known?.status != status {
        if known?.hash != nil, known?.status.size == status.size {
          hash = try Self.hash(of: file, path, status)
        }
        isSame = hash != nil && hash == known?.hash
      }
      // Only of this file's bytes with these options.
      let read = isSame && isKnown && known?.hash != nil ? known : nil
      if let read, read.problems == 0 {
        summary.unchanged += 1
        return try writer.keep(path, status)
      }
      // Before the hash, for which all of it is read: most large files are no texts.
      let source = try reading.source(ArgumentText(pointer: name), shown: path)
      let (count, listed) = (problemCount, problems.count)
      if let read {
        try self.read(source, path, to: nil)
        if Int64(problemCount - count) == read.problems {
          summary.unchanged += 1
          return try writer.keep(path, status)
        }
        problems.removeLast(problems.count - listed)
        problemCount = count
      }
      let newHash: Int64
      if let hash { newHash = hash } else { newHash = try Self.hash(of: file, path, status) }
      try self.read(source, path, to: writer)
      if isSame, known?.hasDocuments == true, writer.hasNoDocument, problemCount > count {
        throw ToolError(.input, "no record was read")
      }
      if reading.isMarkdownWithMarks(source) { hasMarkdownWithMarks = true }
      try writer.endFile(hash: newHash, problems: problemCount - count)
      if known == nil { summary.added += 1 } else { summary.changed += 1 }
    } catch {
      guard error.code != .resources, !writer.hasFailed else { throw error }
      let hasOld = known?.hasDocuments == true && writer.hasNoDocument
      note(error.message(about: path) + (isSame && hasOld ? "; what was read of it earlier stays" : ""))
      if isSame { return }
      // The next run tries again.
      writer.replace()
      if hasOld { summary.removed += 1 }
    }
  }

  /// Reads a file and notes its problems. What was read before an error stays.
  /// - Parameter target: nil: only looks for problems.
  private func read(
    _ source: SourceReading.Source, _ path: String, to target: CollectionWriter?
  ) throws(ToolError) {
    do throws(ToolError) {
      try reading.read(source, to: target) { note("\(path): \($0)") }
    } catch {
      guard error.code != .resources, !writer.hasFailed, target?.hasNoDocument != true else { throw error }
      note(error.message(about: path))
    }
  }

  private static func hash(of file: Input, _ path: String, _ status: SourceStatus) throws(ToolError) -> Int64
  {
    Int64(bitPattern: try ContentHash(of: file.descriptor, path, upTo: Int(status.size)).value)
  }

  /// The path of the document that standard input is.
  private static let standardInput = "-"

  private func addStandardInput() throws(ToolError) {
    writer.begin(Self.standardInput, SourceStatus(modified: 0, size: 0), settings: 0)
    do throws(ToolError) {
      let source = try reading.source(.standardInput, shown: Self.standardInput)
      try reading.read(source, to: writer) { note("standard input: \($0)") }
      try writer.endFile(hash: 0)
      summary.added += 1
    } catch {
      guard error.code != .resources, !writer.hasFailed else { throw error }
      writer.replace()
      note(error.message)
    }
  }

  private func known(
    _ path: String
  ) throws(ToolError) -> (
    status: SourceStatus, settings: Int64?, hash: Int64?, problems: Int64?, hasDocuments: Bool
  )? {
    let row = try collection.database.statement(
      "SELECT modified, size, settings, hash, problems, EXISTS (SELECT 1 FROM documents WHERE file = files.id) "
        + "FROM files WHERE path = ?1", [.text(path)])
    defer { row.end() }
    guard try row.next() else { return nil }
    let status = SourceStatus(modified: row.integer(0) ?? 0, size: row.integer(1) ?? 0)
    return (status, row.integer(2), row.integer(3), row.integer(4), row.integer(5) == 1)
  }

  private func note(_ problem: String) {
    problemCount += 1
    if problems.count < Self.mostProblems { problems.append(problem) }
  }
}
