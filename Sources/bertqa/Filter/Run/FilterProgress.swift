import BertQACore
import Glibc

/// Saves the checkpoints of a run with --resume, and decides if a run may resume from one.
final class FilterProgress {
  /// A position in the input.
  struct Position {
    var input: Input
    var offset = 0
    /// The number of lines in the inputs before this one.
    var linesBefore = 0
  }

  private let file: CheckpointFile
  private let settingsHash: UInt64
  private let modelHash: UInt64
  private let outputPath: String
  /// The input up to the last checkpoint.
  private var input: Position?
  private var inputHash = ContentHash()
  /// Of the inputs before that one: how many they are, and the size and hash of each.
  private var doneCount = 0
  private var doneHash = ContentHash()

  init(_ name: ArgumentText, settings: FilterSettings, output: ArgumentText, _ context: Context?)
    throws(ToolError)
  {
    file = try CheckpointFile(name)
    outputPath = output.string
    settingsHash = Self.hash(of: settings, context?.info)
    modelHash =
      try context.map { context throws(ToolError) in try Self.hash(ofModel: context.info.directory) } ?? 0
  }

  /// What a run before this one has done, after all checks; nil if there was none. Opens the input, which may
  /// have another name by now if it is followed.
  func resume(
    _ settings: FilterSettings, _ output: RecordOutput, _ deadLetters: DeadLetters?
  ) throws(ToolError) -> (input: Position, counters: FilterCounters)? {
    guard output.isRegularFile else {
      throw ToolError(.input, "--resume needs --output to be a regular file")
    }
    guard let checkpoint = try file.read() else {
      guard output.currentSize == 0 else {
        throw ToolError(
          .input,
          "\(outputPath) is not empty, but \(file.shown) has no checkpoint of it: remove \(outputPath), or "
            + "name its checkpoint")
      }
      return nil
    }
    func mismatch(_ what: String) -> ToolError {
      ToolError(
        .input, "\(file.shown) is the checkpoint of \(what): remove it and the output to begin afresh")
    }
    guard checkpoint.settings == settingsHash else {
      throw mismatch("a run with other arguments, or of another version or instruction set")
    }
    guard checkpoint.model == modelHash else { throw mismatch("a run with another model") }
    guard checkpoint.output.identity == FileIdentity(descriptor: output.descriptor) else {
      throw mismatch("the output \(checkpoint.outputPath), not of \(outputPath)")
    }
    let length = checkpoint.output.length
    let written = try ContentHash(of: output.descriptor, outputPath, upTo: length)
    guard output.currentSize >= length, written.value == checkpoint.output.hash else {
      throw ToolError(.input, "\(outputPath) was changed since the checkpoint was written")
    }
    guard checkpoint.inputsDone < settings.inputs.count else { throw mismatch("more inputs") }
    for index in 0..<checkpoint.inputsDone {
      try addDone(Input(settings.inputs[index]))
    }
    guard doneHash.value == checkpoint.inputsDoneHash,
      let input = try find(checkpoint.input, settings, checkpoint.inputsDone)
    else { throw mismatch("another input") }
    try deadLetters?.resume(length: checkpoint.deadLetterLength, hash: checkpoint.deadLetterHash)
    output.resume(length: length, hash: written)
    let position = Position(
      input: input, offset: checkpoint.input.length, linesBefore: checkpoint.linesBefore)
    self.input = position
    return (position, checkpoint.counters)
  }

  /// The file that begins with what was read: that of the name, or, if it is followed and another has taken
  /// its name, the one beside it that it was.
  private func find(
    _ extent: FilterCheckpoint.Extent, _ settings: FilterSettings, _ index: Int
  ) throws(ToolError) -> Input? {
    func isRight(_ input: Input) throws(ToolError) -> Bool {
      guard let size = input.size, size >= extent.length || !input.isVerbatim else { return false }
      inputHash = try ContentHash(
        of: input.descriptor, input.shown, upTo: input.isVerbatim ? extent.length : size)
      return inputHash.value == extent.hash
    }
    let name = settings.inputs[index]
    let follows = settings.follows
    let input = try FilterInput.open(settings.inputs, index, settings.reading)
    if !follows || input.identity == extent.identity { return try isRight(input) ? input : nil }
    let directory = FileWriting.split(name.string).directory
    for entry in FileWriting.names(in: directory) {
      let path = "\(directory)/\(entry)"
      guard FileIdentity(path: path) == extent.identity else { continue }
      let former = try Input(path: path)
      try former.begin(settings.reading)
      if try isRight(former) { return former }
    }
    return try isRight(input) ? input : nil
  }

  func save(
    upTo position: Position, _ output: RecordOutput, _ deadLetters: DeadLetters?, _ counters: FilterCounters
  ) throws(ToolError) {
    try hash(upTo: position)
    let unknown = FileIdentity(device: 0, file: 0)
    try file.save(
      FilterCheckpoint(
        settings: settingsHash, model: modelHash,
        input: .init(
          identity: position.input.identity ?? unknown, length: position.offset, hash: inputHash.value),
        inputsDone: doneCount, inputsDoneHash: doneHash.value, linesBefore: position.linesBefore,
        output: .init(
          identity: FileIdentity(descriptor: output.descriptor) ?? unknown, length: output.length,
          hash: output.hash?.value ?? 0),
        outputPath: FileWriting.resolved(outputPath), deadLetterLength: deadLetters?.length ?? 0,
        deadLetterHash: deadLetters?.hash?.value ?? 0, counters: counters))
  }

  /// The input is done as a whole, and so are empty ones behind it: `next` is the one that is read now.
  func finish(_ position: Position, _ names: [ArgumentText], next: Input) throws(ToolError) {
    guard next.index > doneCount else { return }
    if position.input.isVerbatim {
      try hash(upTo: position)
      addDone(size: position.offset, inputHash)
    } else {
      try addDone(position.input)
    }
    while doneCount < next.index { try addDone(Input(names[doneCount])) }
  }

  func abandon() { file.abandon() }

  private func hash(upTo position: Position) throws(ToolError) {
    let input = position.input
    if self.input?.input !== input {
      inputHash = ContentHash()
      self.input = Position(input: input)
      // Where its records are in a compressed file is not known.
      if !input.isVerbatim {
        inputHash = try ContentHash(of: input.descriptor, input.shown, upTo: input.size ?? 0)
      }
    }
    if input.isVerbatim {
      try inputHash.update(from: input.descriptor, input.shown, (self.input?.offset ?? 0)..<position.offset)
    }
    self.input = position
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
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      try add(path, named: "", to: &hash)
      return hash.value
    }
    for name in FileWriting.names(in: path).sorted() where name != "." && name != ".." {
      let entry = "\(path)/\(name)"
      guard stat(entry, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR {
        let inner = "\(entry)/config.json"
        if stat(inner, &status) == 0 { try add(inner, named: "\(name)/config.json", to: &hash) }
      } else if ModelChoice.isFileName(name) {
        try add(entry, named: name, to: &hash)
      }
    }
    return hash.value
  }

  private static func add(_ path: String, named name: String, to hash: inout ContentHash) throws(ToolError) {
    let input = try Input(path: path)
    hash.update("\(name)\n\(input.size ?? 0)\n")
    try hash.update(from: input.descriptor, path, 0..<(input.size ?? 0))
  }
}
