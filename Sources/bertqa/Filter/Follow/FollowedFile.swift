import Glibc

/// Reads a growing file, and then the files that take its name, in order. Reports data lost in between.
final class FollowedFile {
  private(set) var input: Input
  private let watch: FileWatch
  private let reading: Input.Reading
  /// True while rotated files of the time before this run may follow.
  private var isCatchingUp = false
  /// True if another file follows and only bytes that were appended since are left to read.
  private var isLeft = false
  /// The truncated followed file, while a copy of it is read.
  private var cut: Input?
  /// The number of bytes of the file that were read; 0 for compressed files.
  private var position = 0
  /// The first and the last of these bytes. The last alone may be the same in a later file, as a row of spaces.
  private var head: [UInt8] = []
  private var tail: [UInt8] = []
  /// Time of the file's last change in the checkpoint of an earlier run.
  private var changedBefore: Int?
  /// The file before this one, with the bytes that were read of it. A program may still write to it.
  private var former: (input: Input, size: Int)?
  /// The rotated files from before this run that are still to be read.
  private var backlog: [RotatedFiles.File] = []

  private static let tailLength = 256

  enum Start {
    /// The file that has the name, or will have it.
    case present
    /// A file under any name, and the time of its last change in the checkpoint.
    case file(Input, changed: Int)
    /// The files that changed after this time.
    case after(changed: Int)
  }

  init(_ start: Start, _ watch: FileWatch, _ reading: Input.Reading) throws(ToolError) {
    self.watch = watch
    self.reading = reading
    switch start {
    case .file(let input, let changed):
      self.input = input
      isCatchingUp = !watch.isReading(input)
      changedBefore = changed
      backlog = RotatedFiles(of: watch.name.string).after(input.identity, changed: changed)
    case .after(let changed):
      input = try Input(awaiting: watch.name.string, since: changed)
      isCatchingUp = true
      backlog = RotatedFiles(of: watch.name.string).after(nil, changed: changed)
    case .present:
      if let present = watch.next() {
        input = present
      } else {
        let rotated = RotatedFiles(of: watch.name.string).files
        input = try Input(awaiting: watch.name.string, since: rotated.last?.changed ?? 0)
      }
    }
    if input.isRegularFile { input.seen = Self.state(of: input) }
  }

  private static func state(of input: Input) -> (size: Int, changed: Int) {
    var status = stat()
    guard fstat(input.descriptor, &status) == 0 else { return (0, 0) }
    return (Int(status.st_size), RotatedFiles.nanoseconds(status.st_mtim))
  }

  /// True for an uncompressed file, which may grow, be truncated and be copied.
  private var isPlain: Bool { input.isRegularFile && input.compression == nil }

  /// Returns nil if there is nothing to read yet.
  func read(into buffer: ByteBuffer, atMost count: Int) throws(ToolError) -> RecordReader.Reading? {
    if isPlain { rememberPosition() }
    let wasRead = input.hasMore
    try buffer.reserve(count)
    guard
      let read = try input.readAvailable(
        into: UnsafeMutableRawBufferPointer(rebasing: buffer.rawRoom.prefix(count)))
    else { return nil }
    if isPlain, !wasRead {
      // This check comes after the read: bytes from before a truncation are in the copy, too.
      let state = Self.state(of: input)
      guard state.size >= position, bytes(of: input, upTo: head.count) == head,
        bytes(of: input, upTo: position) == tail
      else {
        return try goOnAfterCut()
      }
      if state.changed != input.seen.changed {
        if try isBegunAgain() { return try goOnAfterCut() }
        if position == 0, let missed = try firstMissed() {
          // Bytes of it may have been read.
          if cut == nil { cut = try fromBeginning() }
          begin(missed, Self.state(of: missed))
          return .nextFile
        }
      }
      input.seen = state
      if read > 0, input.isVerbatim {
        let new = buffer.rawRoom.prefix(read)
        head += new.prefix(Self.tailLength - head.count)
        tail = Array((tail + new.suffix(Self.tailLength)).suffix(Self.tailLength))
        position += read
      }
    }
    guard read > 0 else { return try end() }
    buffer.extend(by: read)
    isLeft = false
    return .bytes
  }

  /// Follows the file's offset, which the record reader may have changed.
  private func rememberPosition() {
    let present = Int(lseek(input.descriptor, 0, SEEK_CUR))
    guard present != position else { return }
    position = present
    head = bytes(of: input, upTo: min(present, Self.tailLength))
    tail = bytes(of: input, upTo: present)
  }

  private func bytes(of input: Input, upTo end: Int) -> [UInt8] {
    let count = min(end, Self.tailLength)
    var bytes = [UInt8](repeating: 0, count: count)
    let read = pread(input.descriptor, &bytes, count, off_t(end - count))
    return Array(bytes.prefix(max(0, read)))
  }

  /// The files without those that are open or finished.
  private func others(_ files: [RotatedFiles.File]) -> [RotatedFiles.File] {
    let held = (watch.held + [input, cut, former?.input].compactMap { $0 }).map(\.identity)
    let finished = watch.finished
    return files.filter { !held.contains($0.identity) && !finished.contains($0.identity) }
  }

  /// The next rotated file that was not seen in time: a copy that was made before a byte of the file was read, or a
  /// file from before this run.
  private func firstMissed() throws(ToolError) -> Input? {
    let files = missed
    let next = next
    for file in files {
      guard let input = try file.open(reading) else { return try firstMissed() }
      backlog.removeAll { $0.identity == file.identity }
      if try isCompressedForm(input) { continue }
      // The copied file was not truncated. A file from before this run is a copy only if the other one existed then.
      if let next, !isCatchingUp || next.identity?.existed(at: file.changed) == true,
        try input.isBeginning(of: next)
      {
        continue
      }
      return input
    }
    return nil
  }

  /// True if another file has the first and the last bytes that were read of this one, at the same places.
  private func holdsRead(_ other: Input) -> Bool {
    guard !tail.isEmpty, input.isVerbatim else { return false }
    if other.compression == nil {
      return bytes(of: other, upTo: head.count) == head && bytes(of: other, upTo: position) == tail
    }
    return (try? other.bytes(0, head.count)) == head
      && (try? other.bytes(position - tail.count, tail.count)) == tail
  }

  /// True if the file has the contents of an open file that was compressed and removed.
  private func isCompressedForm(_ other: Input) throws(ToolError) -> Bool {
    guard other.compression != nil else { return false }
    let removed = (watch.held + [input, former?.input].compactMap { $0 }).filter { input in
      var status = stat()
      return input.compression == nil && fstat(input.descriptor, &status) == 0 && status.st_nlink == 0
    }
    for input in removed {
      let size = Self.state(of: input).size
      let hash = try ContentHash(of: input.descriptor, input.shown, upTo: size)
      if try other.contentHash(upTo: size + 1).value == hash.value { return true }
    }
    try other.seek(to: 0)
    return false
  }

  /// True if the file was copied and cut, and begins again with the few bytes that were read of it, such as the first
  /// line of a table. Then the copy has others behind them.
  private func isBegunAgain() throws(ToolError) -> Bool {
    guard position > 0, position <= Self.tailLength else { return false }
    for file in others(RotatedFiles(of: watch.name.string).files) where file.changed > input.seen.changed {
      guard let copy = try file.open(reading) else { return try isBegunAgain() }
      if holdsRead(copy), try !copy.isBeginning(of: input), try !isCompressedForm(copy) { return true }
    }
    return false
  }

  private func fromBeginning() throws(ToolError) -> Input {
    let again = try Input(again: input)
    try again.begin(rotated: reading)
    return again
  }

  /// Continues with the copy of a truncated file, or with the file's beginning.
  private func goOnAfterCut() throws(ToolError) -> RecordReader.Reading {
    // A copy may be truncated, too: by the next copy.
    let again = try fromBeginning()
    let rotated = others(RotatedFiles(of: watch.name.string).files).filter {
      $0.changed >= input.seen.changed
    }
    for file in rotated {
      guard let copy = try file.open(reading) else { return try goOnAfterCut() }
      guard holdsRead(copy) else { continue }
      try copy.seek(to: position)
      copy.original = input
      copy.seen = Self.state(of: copy)
      cut = cut ?? again
      input = copy
      isLeft = false
      return .continued
    }
    let unread = input.seen.size - position
    watch.reportLoss(
      "\(input.shown) was cut, and there is no copy of it: anything written behind byte \(position) before that "
        + "is lost\(unread > 0 ? ", at least \(unread) bytes" : ""); it is read from its beginning")
    if cut == nil, let next = try rotated.first(where: { $0.changed > input.seen.changed })?.open(reading) {
      cut = again
      begin(next, Self.state(of: next))
    } else {
      begin(again, Self.state(of: again))
    }
    return .nextFile
  }

  /// - Parameter state: the file's state from before the search for others.
  private func begin(_ next: Input, _ state: (size: Int, changed: Int)) {
    if let identity = input.identity, identity != next.identity, identity != cut?.identity {
      watch.finish(identity)
    }
    next.seen = state
    input = next
    (position, head, tail, changedBefore) = (0, [], [], nil)
    isLeft = false
  }

  /// Moves to the next file, or waits.
  private func end() throws(ToolError) -> RecordReader.Reading? {
    if isLeft {
      isLeft = false
      if let (next, state) = try successor() {
        let mayGrow = isPlain && input.original == nil && !isCatchingUp
        former = mayGrow ? (input, position) : nil
        begin(next, state)
        watch.isReading(next)
        return .nextFile
      }
    } else {
      // Bytes that were written so far are read first.
      switch watch.waiting {
      case .nothing: isLeft = isCatchingUp || cut != nil || !input.isRegularFile && !missed.isEmpty
      case .last(let size): isLeft = isCatchingUp || cut != nil || size > 0 || !missed.isEmpty
      case .several: isLeft = true
      }
      // Nobody writes to a file that was rotated long ago.
      if isCatchingUp || cut != nil || watch.waiting == .several { return nil }
    }
    checkFormer()
    watch.wait()
    return nil
  }

  /// Rotated files that come after this one and before the next open one.
  private var missed: [RotatedFiles.File] {
    let rotated = RotatedFiles(of: watch.name.string)
    watch.keepFinished(of: rotated.files)
    let files = others(rotated.after(input.identity, changed: changed))
    let until = next.map { Self.state(of: $0).changed } ?? Int.max
    return files.filter { $0.changed <= until }
  }

  /// The time after which the next files changed.
  private var changed: Int {
    // The file before this one may have changed after this one.
    changedBefore ?? max(input.seen.changed, former.map { Self.state(of: $0.input).changed } ?? 0)
  }

  /// The first open file with a byte to read.
  private var next: Input? {
    let files = [isPlain && position == 0 ? input : nil, cut] + watch.held
    return files.compactMap { $0 }.first { Self.state(of: $0).size > 0 }
  }

  /// The next file: one that was rotated unseen, the file that was cut, or the one that took the name.
  private func successor() throws(ToolError) -> (Input, (size: Int, changed: Int))? {
    let next = cut ?? watch.held.first
    let state = next.map { Self.state(of: $0) } ?? (0, 0)
    if let missed = try firstMissed() {
      sayMissing(before: missed)
      return (missed, Self.state(of: missed))
    }
    // The file that has the name now is next when it has a byte.
    if cut == nil, isCatchingUp {
      sayMissing(before: nil)
      isCatchingUp = false
      return nil
    }
    guard let next else { return nil }
    cut = nil
    return (next, state)
  }

  /// Reports files from before this run that are not read.
  private func sayMissing(before next: Input?) {
    guard isCatchingUp else { return }
    let rotated = RotatedFiles(of: watch.name.string)
    let removed = others(backlog).filter { file in
      !rotated.files.contains { $0.identity == file.identity } && !rotated.haveCompressed(file)
    }
    for file in removed {
      backlog.removeAll { $0.identity == file.identity }
      watch.reportLoss("\(file.path) was removed before it was read: it is lost")
    }
    for file in others(rotated.misplaced(behind: input.identity, changed: changed)) {
      watch.finish(file.identity)
      watch.reportLoss(
        "\(file.path) has the name of a later file than \(input.shown), but changed before it: it is not read, and "
          + "what was not read of it is lost")
    }
    let missing = rotated.missing(between: input.identity, and: next?.identity)
    // Each removed file may have had one of these names.
    guard missing.count > removed.count else { return }
    watch.reportLoss(
      "\(watch.name.string): \(missing.joined(separator: ", ")) \(missing.count == 1 ? "is" : "are") not there: "
        + "what was written between \(input.shown) and \(next?.shown ?? watch.name.string) is lost")
  }

  private func checkFormer() {
    var status = stat()
    guard let former, fstat(former.input.descriptor, &status) == 0 else { return }
    let size = Int(status.st_size)
    // A removed file is closed, so that its disk space is released.
    self.former = status.st_nlink == 0 ? nil : (former.input, max(size, former.size))
    guard size > former.size else { return }
    watch.reportLoss(
      "\(watch.name.string): \(size - former.size) bytes that were written to the file before, after this one was "
        + "begun, are lost")
  }
}
