import Foundation
import Testing

@testable import BertQACore

@Suite struct ModelLoadTests {
  @Test func aMappedFileThatIsCutIsNoticed() throws {
    try withFile(count: 10_000) { path in
      let file = try ModelFile(path: path)
      #expect(failure { try file.checkIsWhole() } == nil)
      try truncate(path, to: 8200)
      #expect(failure { try file.checkIsWhole() } == nil, "the last page is still there")
      try truncate(path, to: 8192)
      #expect(failure { try file.checkIsWhole() }?.status == (Self.populatesPages ? .io : nil))
      try truncate(path, to: 10_000)
      #expect(failure { try file.checkIsWhole() } == nil)
    }
  }

  /// False before Linux 5.14, where nothing is noticed: it has no MADV_POPULATE_READ.
  private static let populatesPages: Bool = {
    let page = mmap(nil, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    defer { munmap(page, 1) }
    return madvise(page, 1, 22) == 0
  }()

  @Test func aCopyStaysAsItWas() throws {
    try withFile(count: 10_000) { path in
      let file = try ModelFile(path: path, .copy)
      try truncate(path, to: 0)
      #expect(failure { try file.checkIsWhole() } == nil)
      #expect(file.bytes.elementsEqual((0..<10_000).map { UInt8(truncatingIfNeeded: $0) }))
      #expect(UInt(bitPattern: file.bytes.baseAddress) % 64 == 0)
      #expect(try ModelFile(path: path, .copy).bytes.isEmpty)
      #expect(failure { _ = try ModelFile(path: path, limit: 1, .copy) } == nil)
      try truncate(path, to: 2)
      #expect(failure { _ = try ModelFile(path: path, limit: 1, .copy) }?.status == .tooLarge)
      #expect(failure { _ = try ModelFile(path: "/proc", .copy) }?.status == .io)
    }
  }

  @Test func onlyWhatIsInUseIsWatched() throws {
    let mapped = MappedFiles()
    try withFile(count: 10) { path in
      var file: ModelFile? = try ModelFile(path: path)
      if let file { mapped.add(file) }
      #expect(mapped.inUse.count == 1)
      file = nil
      #expect(mapped.inUse.isEmpty)
    }
  }

  @Test func countsTokens() {
    var options = CallOptions()
    let unlimited = CallMonitor(options)
    #expect(failure { try unlimited.check(tokenCount: .max) } == nil)
    options.maxDocumentTokens = 3
    let monitor = CallMonitor(options)
    #expect(failure { try monitor.check(tokenCount: 3) } == nil)
    let error = failure { try monitor.check(tokenCount: 4) }
    #expect(error?.status == .tooLarge && error?.argument == "max_document_tokens")
  }

  private func withFile(count: Int, _ body: (String) throws -> Void) throws {
    let path = NSTemporaryDirectory() + UUID().uuidString
    defer { unlink(path) }
    try Data((0..<count).map { UInt8(truncatingIfNeeded: $0) }).write(to: URL(fileURLWithPath: path))
    try body(path)
  }

  private func truncate(_ path: String, to size: Int) throws {
    try #require(Foundation.truncate(path, off_t(size)) == 0)
  }
}
