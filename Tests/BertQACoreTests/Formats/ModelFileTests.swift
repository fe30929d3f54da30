import Foundation
import Testing

@testable import BertQACore

struct ModelFileTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test func mapsContents() throws {
    let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let file = try ModelFile(path: directory.write(bytes, to: "f"))
    #expect(try file.withBytes { Array($0) } == bytes)
    let empty = try ModelFile(path: directory.write([], to: "empty"))
    #expect(empty.bytes.isEmpty)
  }

  @Test func saysWhyAFileCannotBeOpened() throws {
    let missing = directory.file("missing")
    #expect(
      failure { _ = try ModelFile(path: missing) }
        == BertQAError(.io, "\(missing): cannot open: No such file or directory"))
    #expect(
      failure { _ = try ModelFile(path: directory.path) }
        == BertQAError(.io, "\(directory.path): not a regular file"))
    #expect(failure { _ = try ModelFile(path: "a\0b") }?.status == .invalidArgument)
  }

  @Test func doesNotWaitForAWriter() throws {
    let path = directory.file("fifo")
    #expect(mkfifo(path, 0o600) == 0)
    #expect(
      failure { _ = try ModelFile(path: path) } == BertQAError(.io, "\(path): not a regular file"))
  }

  /// 3,000 files are more than a process may have open or a leak would leave unseen.
  @Test func closesAndUnmaps() throws {
    let path = try directory.write(Array(repeating: 7, count: 5000), to: "f")
    for _ in 0..<3000 { _ = try ModelFile(path: path) }
    let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
    #expect(!maps.contains(path))
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    let links = descriptors.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    #expect(!links.contains(path))
  }
}
