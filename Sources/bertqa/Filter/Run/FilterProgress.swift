import BertQACore
import Glibc

/// Saves the checkpoints of a run with --resume, and decides if a run may resume from one.
final class FilterProgress {
  /// A position in the input.
  struct Position {
    var input: Input
    /// The value of `Input.seen` when the last finished record was read.
    var seen = (size: 0, changed: 0)
    /// The reader of a followed input.
    var followed: FollowedFile?
    var offset = 0
    /// The number of lines in the inputs before this one.
    var linesBefore = 0
  }

  /// True if there is no checkpoint yet.
  var isNew: Bool { file.isEmpty }

  private let file: CheckpointFile
  private let settingsHash: UInt64
  private let modelHash: UInt64
  private let outputPath: String
  /// The followed file's path; empty without --follow.
  private let followedPath: String
  /// The hash of the finished part of the input's contents.
  private var inputHash = ContentHash()
  /// The hash of the file of a compressed or converted input.
  private var wholeHash: ContentHash?
  /// The number of inputs before that one, with the size and hash of each.
  private var doneCount = 0
  private var doneHash = ContentHash()

  init(_ name: ArgumentText, settings: FilterSettings, output: ArgumentText, _ context: Context?)
    throws(ToolError)
  {
    file = try CheckpointFile(name)
    outputPath = output.string
    followedPath = settings.follows ? RotatedFiles.names(of: settings.inputs[0].string)[0] : ""
    settingsHash = Self.hash(of: settings, context?.info)
    modelHash =
      try context.map { context throws(ToolError) in try Self.hash(ofModel: context.info.directory) } ?? 0
  }

  private static let unknown = FileIdentity(device: 0, file: 0, born: 0)

  /// Returns the progress of an earlier run after all checks; nil if there was none. Opens the input, which
  /// may have a new name if it is followed.
  /// - Parameter watch: the watch of the followed file.
  func resume(
    _ settings: FilterSettings, _ output: RecordOutput, _ deadLetters: DeadLetters?,
    _ mapping: MappingFile?, _ watch: FileWatch?
  ) throws(ToolError) -> (input: Position, counters: FilterCounters, header: [UInt8])? {
    guard output.isRegularFile else {
      throw ToolError(.input, "--resume needs --output to be a regular file")
    }
    guard let checkpoint = try file.read() else {
      guard output.currentSize == 0 else {
        throw ToolError(
          .input,
          "\(outputPath) is not empty, but \(file.path) has no checkpoint of it: remove \(outputPath), or "
            + "name its checkpoint")
      }
      return nil
    }
    func mismatch(_ what: String) -> ToolError {
      ToolError(
        .input, "\(file.path) is the checkpoint of \(what): remove it and the output to begin afresh")
    }
    guard checkpoint.settings == settingsHash else {
      throw mismatch("a run with other arguments, or of another version or instruction set")
    }
    guard checkpoint.model == modelHash else { throw mismatch("a run with another model") }
    guard checkpoint.output.identity == FileIdentity(descriptor: output.descriptor) else {
      throw mismatch(
        checkpoint.outputPath == PlainText.of(FileWriting.resolved(outputPath))
          ? "an output \(outputPath) that was removed or replaced"
          : "the output \(checkpoint.outputPath), not of \(outputPath)")
    }
    let length = checkpoint.output.length
    let written = try ContentHash(of: output.descriptor, outputPath, upTo: length)
    guard output.currentSize >= length, written.value == checkpoint.output.hash else {
      throw FilterCheckpoint.changed(outputPath)
    }
    guard checkpoint.inputsDone < settings.inputs.count else { throw mismatch("more inputs") }
    for index in 0..<checkpoint.inputsDone {
      try addDone(Input(settings.inputs[index]))
    }
    guard doneHash.value == checkpoint.inputsDoneHash else { throw mismatch("another input") }
    var position: Position
    if let watch {
      guard let start = try findFollowed(checkpoint, settings, watch) else { throw mismatch("another input") }
      let followed = try FollowedFile(start, watch, settings.reading)
      position = Position(input: followed.input, seen: followed.input.seen, followed: followed)
      if case .after = start {
        position.linesBefore = checkpoint.counters.lines
      } else {
        (position.offset, position.linesBefore) = (checkpoint.input.length, checkpoint.linesBefore)
        position.seen = (checkpoint.inputSize, checkpoint.inputChanged)
      }
    } else {
      guard let input = try find(checkpoint.input, settings, checkpoint.inputsDone) else {
        throw mismatch("another input")
      }
      position = Position(
        input: input, offset: checkpoint.input.length, linesBefore: checkpoint.linesBefore)
    }
    try deadLetters?.resume(length: checkpoint.deadLetterLength, hash: checkpoint.deadLetterHash)
    try mapping?.resume(length: checkpoint.mappingLength, hash: checkpoint.mappingHash)
    output.resume(length: length, hash: written)
    return (position, checkpoint.counters, checkpoint.header)
  }

  /// Returns the input if it begins with the data that was read from it.
  private func find(
    _ extent: FilterCheckpoint.Extent, _ settings: FilterSettings, _ index: Int
  ) throws(ToolError) -> Input? {
    let input = try FilterInput.open(settings.inputs, index, settings.reading)
    guard input.isVerbatim else {
      wholeHash = try ContentHash(of: input.descriptor, input.shown, upTo: input.size ?? 0)
      return wholeHash?.value == extent.hash ? input : nil
    }
    guard let size = input.size, size >= extent.length else { return nil }
    inputHash = try ContentHash(of: input.descriptor, input.shown, upTo: extent.length)
    return inputHash.value == extent.hash ? input : nil
  }

  /// Finds the position where a rerun resumes in a followed file. Reports lost data.
  private func findFollowed(
    _ checkpoint: FilterCheckpoint, _ settings: FilterSettings, _ watch: FileWatch
  ) throws(ToolError) -> FollowedFile.Start? {
    let (extent, name) = (checkpoint.input, settings.inputs[0].string)
    if extent.identity == Self.unknown {
      return .after(changed: checkpoint.inputChanged)
    }
    let isSamePath = checkpoint.inputPath == PlainText.of(RotatedFiles.names(of: name)[0])
    // Every file begins with no bytes.
    guard isSamePath || extent.length > 0 else { return nil }
    // A file of which nothing was read may not have changed since.
    let isUnread = extent.length == 0 && checkpoint.inputSize > 0
    let changed = isUnread ? max(checkpoint.inputChanged, .min + 1) - 1 : checkpoint.inputChanged
    let place = RotatedFiles.Place(
      identity: extent.identity, length: extent.length, hash: extent.hash, changed: changed)
    if let found = try RotatedFiles(of: name).find(place, of: name, settings.reading) {
      inputHash = found.hash
      return .file(found.input, changed: changed)
    }
    guard isSamePath else { return nil }
    let unread = checkpoint.inputSize - extent.length
    watch.reportLoss(
      "\(name): the file that was read up to byte \(extent.length) was removed or cut, and there is no copy of it: "
        + "anything written behind that is lost\(unread > 0 ? ", at least \(unread) bytes" : "")")
    return .after(changed: changed)
  }

  /// - Parameter header: a table's first line.
  func save(
    upTo position: Position, _ output: RecordOutput, _ deadLetters: DeadLetters?,
    _ mapping: MappingFile?, _ counters: FilterCounters, header: [UInt8]
  ) throws(ToolError) {
    let input = position.input
    try file.save(
      FilterCheckpoint(
        settings: settingsHash, model: modelHash,
        input: .init(
          identity: input.isRegularFile ? input.identity ?? Self.unknown : Self.unknown,
          length: position.offset, hash: try hash(of: input)),
        inputChanged: position.seen.changed, inputSize: position.seen.size, inputPath: followedPath,
        header: header, inputsDone: doneCount, inputsDoneHash: doneHash.value,
        linesBefore: position.linesBefore,
        output: .init(
          identity: FileIdentity(descriptor: output.descriptor) ?? Self.unknown, length: output.length,
          hash: output.hash?.value ?? 0),
        outputPath: FileWriting.resolved(outputPath), deadLetterLength: deadLetters?.length ?? 0,
        deadLetterHash: deadLetters?.hash?.value ?? 0,
        mappingLength: mapping?.length ?? 0, mappingHash: mapping?.hash.value ?? 0, counters: counters))
  }

  /// Adds finished bytes of the input.
  func add(_ bytes: UnsafeBufferPointer<UInt8>) { inputHash.update(UnsafeRawBufferPointer(bytes)) }

  /// Marks the input as finished, along with empty ones after it. `next` is the input that is read now.
  func finish(_ position: Position, _ names: [ArgumentText], next: Input) throws(ToolError) {
    if next.index > doneCount {
      if position.input.isVerbatim {
        addDone(size: position.offset, inputHash)
      } else {
        try addDone(position.input)
      }
      while doneCount < next.index { try addDone(Input(names[doneCount])) }
    }
    inputHash = ContentHash()
    wholeHash = nil
  }

  /// - Parameter isUnused: true if no run has finished a record.
  func abandon(isUnused: Bool) { file.abandon(isUnused: isUnused) }

  /// A compressed or converted file is hashed as a whole, because the file offset of a record is not known.
  private func hash(of input: Input) throws(ToolError) -> UInt64 {
    guard !input.isVerbatim, followedPath.isEmpty else { return inputHash.value }
    if let wholeHash { return wholeHash.value }
    let hash = try ContentHash(of: input.descriptor, input.shown, upTo: input.size ?? 0)
    wholeHash = hash
    return hash.value
  }

  /// Adds a finished input in its state on disk.
  private func addDone(_ input: Input) throws(ToolError) {
    let size = input.size ?? 0
    addDone(size: size, try ContentHash(of: input.descriptor, input.shown, upTo: size))
  }

  private func addDone(size: Int, _ hash: ContentHash) {
    doneHash.update("\(size) \(hash.value)\n")
    doneCount += 1
  }

  private static func hash(of settings: FilterSettings, _ info: ModelInfo?) -> UInt64 {
    var hash = ContentHash()
    hash.update("\(libraryVersion)\n\(settings.meaning)\n")
    hash.update(spelling(of: info?.precision, in: ModelChoice.precisions))
    hash.update("\n\(info?.instructionSet?.description ?? "")")
    return hash.value
  }

  /// Returns a hash over the names and contents of all files that can belong to a model, independent of its
  /// location.
  private static func hash(ofModel path: String) throws(ToolError) -> UInt64 {
    var hash = ContentHash()
    for file in ModelChoice.parts(of: path).files {
      let input = try Input(path: file)
      hash.update("\(file.dropFirst(path.count))\n\(input.size ?? 0)\n")
      try hash.update(from: input.descriptor, file, 0..<(input.size ?? 0))
    }
    return hash.value
  }
}
