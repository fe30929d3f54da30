import BertQACore
import Glibc

/// The rotated files of a followed one: files in its directory, or in that of the file that it links to, with the names
/// that log rotation gives.
struct RotatedFiles {
  struct File {
    let path: String
    let identity: FileIdentity
    /// The time of the last change in nanoseconds since 1970.
    let changed: Int
    /// The numbers in the name: a generation or a date.
    let numbers: [Int]
    /// The path without an ending such as `.gz`.
    let plainPath: String

    /// The number in `name.1`, `name.2` …: larger numbers are older.
    var generation: Int? { numbers.count == 1 && numbers[0] < 100_000 ? numbers[0] : nil }

    /// Opens the file; nil if the path now has another file or none. Throws if the tool cannot decompress it.
    func open(_ reading: Input.Reading) throws(ToolError) -> Input? {
      if let ending = RotatedFiles.unreadable.first(where: path.hasSuffix) {
        throw ToolError(
          .input,
          "\(path) has records that were not read yet, and is compressed as \(ending.dropFirst()): decompress it "
            + "and run this again")
      }
      guard FileIdentity(path: path) == identity else { return nil }
      let input = try Input(following: path, shown: path)
      guard input.identity == identity else { return nil }
      try input.begin(rotated: reading)
      return input
    }

    fileprivate func isSame(_ other: File) -> Bool { path == other.path && identity == other.identity }

    /// True if the name is that of a later file than `other`. Orders files that changed at the same time.
    fileprivate func isNamedLater(than other: File) -> Bool {
      if let generation, let otherGeneration = other.generation { return generation < otherGeneration }
      return other.numbers.lexicographicallyPrecedes(numbers)
    }
  }

  /// The files, oldest first. A compressed file is left out if the uncompressed one also exists.
  let files: [File]

  private static let unreadable = [".xz", ".bz2", ".lz4", ".lzma", ".Z", ".zip", ".br", ".7z"]

  /// - Parameter path: the path of the followed file.
  init(of path: String) {
    // A listing is complete if no file was renamed meanwhile.
    var found = Self.find(path)
    for _ in 0..<100 {
      let again = Self.find(path)
      if again.count == found.count, zip(again, found).allSatisfy({ $0.isSame($1) }) { break }
      found = again
    }
    let plain = found.filter { $0.path == $0.plainPath }
    files =
      found.filter { file in
        file.path == file.plainPath || !plain.contains { $0.path == file.plainPath }
      }.sorted { first, second in
        first.changed == second.changed
          ? second.isNamedLater(than: first) : first.changed < second.changed
      }
  }

  private static func find(_ path: String) -> [File] {
    var found: [File] = []
    for (index, name) in names(of: path).enumerated() {
      let (directory, last) = FilePath.split(name)
      for entry in FileWriting.names(in: directory) {
        let plain = withoutCompression(entry)
        guard entry != last, let numbers = numbers(in: plain, of: last, isTarget: index > 0) else { continue }
        var status = stat()
        let path = "\(directory)/\(entry)"
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
          let identity = FileIdentity(path: path)
        else { continue }
        found.append(
          File(
            path: path, identity: identity, changed: nanoseconds(status.st_mtim),
            numbers: numbers, plainPath: "\(directory)/\(plain)"))
      }
    }
    return found
  }

  /// Returns the files that came after another one, oldest first.
  /// - Parameter changed: the time of that file's last change.
  func after(_ identity: FileIdentity?, changed: Int) -> [File] {
    let own = files.first { $0.identity == identity }
    return files.filter { file in
      if file.identity == identity { return false }
      if file.changed == changed, let own { return file.isNamedLater(than: own) }
      return file.changed > changed
    }
  }

  /// Returns the files that are later than another one by their names, but changed before it did.
  /// - Parameter changed: the time of that file's last change.
  func misplaced(behind identity: FileIdentity?, changed: Int) -> [File] {
    guard let own = files.first(where: { $0.identity == identity }) else { return [] }
    let alike = files.filter {
      $0.numbers.count == own.numbers.count && ($0.generation == nil) == (own.generation == nil)
    }
    let later = alike.filter { $0.isNamedLater(than: own) }
    // Some programs give the largest number to the newest file.
    guard
      own.generation == nil || later.contains(where: { $0.changed > changed })
        || alike.contains(where: { own.isNamedLater(than: $0) && $0.changed < changed })
    else { return [] }
    return later.filter { $0.changed < changed }
  }

  /// True if a file may be the compressed form of another one. Programs keep its time, some without the nanoseconds.
  func haveCompressed(_ file: File) -> Bool {
    files.contains {
      $0.path != $0.plainPath
        && ($0.changed == file.changed
          || $0.changed % 1000 == 0 && (0..<1_000_000_000).contains(file.changed &- $0.changed))
    }
  }

  /// Returns the paths of missing files between two files, according to the numbers in their names.
  /// - Parameter next: nil for the followed file itself.
  func missing(between former: FileIdentity?, and next: FileIdentity?) -> [String] {
    guard let former = files.first(where: { $0.identity == former }), let last = former.generation else {
      return []
    }
    let first = next.flatMap { next in files.first { $0.identity == next } }?.generation ?? 0
    let present = files.compactMap(\.generation)
    guard first + 1 < last, last - first < 1000 else { return [] }
    let missing = (first + 1..<last).filter { !present.contains($0) }
    let ending = former.plainPath.dropLast("\(last)".utf8.count)
    guard former.plainPath == "\(ending)\(last)", missing.count == last - first - 1 else { return [] }
    return missing.reversed().map { "\(ending)\($0)" }
  }

  static func nanoseconds(_ time: timespec) -> Int {
    time.tv_sec.multipliedReportingOverflow(by: 1_000_000_000).partialValue &+ time.tv_nsec
  }

  /// Returns the path and its symbolic links' targets, with resolved directories. The file need not exist.
  static func names(of path: String) -> [String] {
    (FileWriting.links(from: path) ?? [path]).map { path in
      let (directory, last) = FilePath.split(path)
      return "\(FileWriting.resolved(directory))/\(last)"
    }
  }

  /// True if a file at a path would count as a rotated one of the followed file.
  static func haveName(of path: String, followed: String) -> Bool {
    names(of: path).contains { path in
      let (directory, entry) = FilePath.split(path)
      return names(of: followed).enumerated().contains { index, name in
        let (followedDirectory, last) = FilePath.split(name)
        return directory == followedDirectory && entry != last
          && numbers(in: withoutCompression(entry), of: last, isTarget: index > 0) != nil
      }
    }
  }

  private static func withoutCompression(_ name: String) -> String {
    let endings = Compression.allCases.map(\.suffix) + unreadable
    guard let ending = endings.first(where: name.hasSuffix) else { return name }
    return String(name.dropLast(ending.utf8.count))
  }

  /// Returns the numbers in the name of a rotated file; nil for names of other files.
  /// - Parameters:
  ///   - last: the followed file's name.
  ///   - isTarget: true if a link leads to that name, which may have a date itself.
  private static func numbers(in name: String, of last: String, isTarget: Bool) -> [Int]? {
    if name == last { return [] }
    if isTarget, let form = undated(last), undated(name) == form {
      return name.split { !$0.isNumber }.compactMap { Int($0) }
    }
    if name.hasPrefix(last) {
      let rest = name.dropFirst(last.count)
      return rest == ".old" ? [] : numbers(inStamp: rest)
    }
    // logrotate's option "extension" and many libraries keep the ending: app-20261125.jsonl, app.1.jsonl.
    guard let point = last.lastIndex(of: ".") else { return nil }
    let (stem, ending) = (last[..<point], last[point...])
    guard name.hasPrefix(stem), name.hasSuffix(ending), name.count > last.count else { return nil }
    let stamp = name.dropFirst(stem.count).dropLast(ending.count)
    // app-2.jsonl may be the log of another process.
    let digits = stamp.filter(\.isNumber).count
    guard digits >= 6 || stamp.first == "." else { return nil }
    return numbers(inStamp: stamp)
  }

  /// Returns the name with a mark in place of each date and of the numbers directly after it; nil for a name without a
  /// date. Other numbers may be those of a process or a port, whose log is another one.
  private static func undated(_ name: String) -> String? {
    var rest = name[...]
    var undated = ""
    var hasDate = false
    while let first = rest.first {
      let digits = rest.prefix(while: \.isNumber)
      let stamp = rest.prefix { stampCharacters.contains($0) }
      if !digits.isEmpty, isDate(stamp) {
        hasDate = true
        undated += "0" + stamp.filter { !$0.isNumber }
        rest = rest.dropFirst(stamp.count)
      } else {
        undated += digits.isEmpty ? "\(first)" : digits
        rest = rest.dropFirst(max(1, digits.count))
      }
    }
    return hasDate ? undated : nil
  }

  /// True if the characters begin with a date: six digits or more, or groups as in 2026-11 and 25.11.2026.
  private static func isDate(_ stamp: Substring) -> Bool {
    let groups = stamp.split { !$0.isNumber }
    let counts = groups.map(\.count)
    guard let first = groups.first else { return false }
    return first.count >= 6 || counts.starts(with: [2, 2, 4])
      || counts.starts(with: [4, 2]) && ["19", "20"].contains(first.prefix(2))
  }

  private static let stampCharacters = "0123456789-._:+TZ"

  /// Returns the numbers of a number or date after a separator.
  private static func numbers(inStamp stamp: Substring) -> [Int]? {
    guard let first = stamp.first, "-._".contains(first), stamp.allSatisfy({ stampCharacters.contains($0) })
    else { return nil }
    let numbers = stamp.split { !$0.isNumber }.compactMap { Int($0) }
    return numbers.isEmpty ? nil : numbers
  }
}

extension RotatedFiles {
  /// The position up to which a file was read, and the file's identity.
  struct Place {
    let identity: FileIdentity
    let length: Int
    /// The hash of the first `length` bytes.
    let hash: UInt64
    /// The time of the file's last change at that point.
    let changed: Int
  }

  /// Finds the file under its present name, or a copy of it; nil if it is gone. The contents must begin with what was
  /// read. Throws if it may be one of the files that cannot be read.
  /// - Parameter name: the followed path.
  func find(
    _ place: Place, of name: String, _ reading: Input.Reading
  ) throws(ToolError) -> (input: Input, hash: ContentHash)? {
    func checked(_ input: Input?) -> (input: Input, hash: ContentHash)? {
      guard let input, input.isRegularFile, let hash = try? input.contentHash(upTo: place.length),
        hash.value == place.hash
      else { return nil }
      return (input, hash)
    }
    func renamed() -> (input: Input, hash: ContentHash)? {
      for directory in Set(Self.names(of: name).map { FilePath.split($0).directory }) {
        for entry in FileWriting.names(in: directory) {
          let path = "\(directory)/\(entry)"
          guard FileIdentity(path: path) == place.identity else { continue }
          let shown = path == Self.names(of: name)[0] ? name : path
          if let found = checked(try? Input(following: path, shown: shown)) { return found }
        }
      }
      return nil
    }
    // Without contents only identity and time identify the file.
    if place.length == 0 {
      guard place.hash == ContentHash().value else { return nil }
      let file = files.first { $0.identity == place.identity } ?? files.first { $0.changed > place.changed }
      if let file {
        if let found = checked(try file.open(reading)) { return found }
        return try RotatedFiles(of: name).find(place, of: name, reading)
      }
      if let found = renamed() { return found }
    }
    // Copies come first: where files have no creation times, a new one may seem to be a removed one, and begin
    // with the same records.
    var failure: ToolError?
    for file in files where file.changed >= place.changed {
      do throws(ToolError) {
        guard let input = try file.open(reading) else {
          return try RotatedFiles(of: name).find(place, of: name, reading)
        }
        if let found = checked(input) {
          // The copied file was not truncated.
          if let whole = renamed(), try found.input.isBeginning(of: whole.input) { return whole }
          return found
        }
      } catch {
        failure = failure ?? error
      }
    }
    if place.length > 0 {
      if let found = renamed() ?? checked(try? Input(following: name, shown: name)) { return found }
    }
    if let failure { throw failure }
    return nil
  }
}

extension Input {
  /// Starts to read a file that is compressed or may still grow.
  func begin(rotated reading: Reading) throws(ToolError) {
    var reading = reading
    reading.grows = false
    try begin(reading)
    guard compression == nil else { return }
    reading.grows = true
    try begin(reading)
  }

  /// True if another file begins with all bytes of this one. False if one of them is compressed.
  func isBeginning(of other: Input) throws(ToolError) -> Bool {
    let size = try currentSize()
    guard compression == nil, other.compression == nil, try other.currentSize() >= size else { return false }
    return try contentHash(upTo: size).value == other.contentHash(upTo: size).value
  }

  /// Returns bytes of the contents; fewer at the end.
  func bytes(_ offset: Int, _ count: Int) throws(ToolError) -> [UInt8] {
    try seek(to: offset)
    let buffer = ByteBuffer()
    while buffer.count < count {
      if try buffer.fill(atMost: count - buffer.count, read) == 0 { break }
    }
    return Array(buffer.bytes)
  }

  /// Returns the hash of the first bytes of the contents, or of all if there are fewer.
  func contentHash(upTo count: Int) throws(ToolError) -> ContentHash {
    guard compression != nil else { return try ContentHash(of: descriptor, shown, upTo: count) }
    try seek(to: 0)
    var hash = ContentHash()
    let buffer = ByteBuffer()
    try buffer.reserve(1 << 16)
    var rest = count
    while rest > 0 {
      let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.rawRoom.prefix(rest)))
      if count == 0 { break }
      hash.update(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer.rawRoom).prefix(count)))
      rest -= count
    }
    return hash
  }
}
