import Foundation
import Testing

@testable import BertQACore

struct ModelDirectoryTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    _ = try directory.write(Array("{}".utf8), to: "config.json")
    try FileManager.default.createDirectory(
      atPath: directory.file("1_Pooling"), withIntermediateDirectories: false)
    _ = try directory.write(Array("[]".utf8), to: "1_Pooling/config.json")
  }

  private func withDescriptor<Result>(_ body: (Int32) throws -> Result) throws -> Result {
    let descriptor = open(directory.path, O_RDONLY | O_DIRECTORY)
    defer { close(descriptor) }
    return try body(descriptor)
  }

  private func check(_ model: ModelDirectory) throws {
    #expect(model.exists("config.json"))
    #expect(model.exists("1_Pooling/config.json"))
    #expect(!model.exists("vocab.txt"))
    #expect(try model.file("config.json").withBytes { Array($0) } == Array("{}".utf8))
    #expect(try model.file("1_Pooling/config.json").withBytes { Array($0) } == Array("[]".utf8))
    #expect(try model.file("config.json").path == "\(model.name)/config.json")
    let missing = failure { _ = try model.file("vocab.txt") }
    #expect(missing?.status == .io)
    #expect(missing?.message.hasPrefix("\(model.name)/vocab.txt: ") == true)
  }

  @Test func readsByPathByDescriptorAndFromMemory() throws {
    try check(ModelDirectory(path: directory.path))
    let opened = try withDescriptor { try ModelDirectory(descriptor: $0, name: "sandbox") }
    // The caller's descriptor is closed by now.
    try check(opened)
    let files = ["config.json": Array("{}".utf8), "1_Pooling/config.json": Array("[]".utf8)]
    try check(ModelDirectory(files: files))
    let (first, second) = (Array("{}".utf8), Array("[]".utf8))
    try first.withUnsafeBytes { first in
      try second.withUnsafeBytes { second in
        let files = ["config.json": first, "1_Pooling/config.json": second]
        let borrowed = try ModelDirectory(borrowing: files, name: "mine")
        try check(borrowed)
        #expect(try borrowed.file("config.json").bytes.baseAddress == first.baseAddress)
      }
    }
  }

  @Test func aPathIsOpenedOnce() throws {
    let path = directory.file("model")
    for (name, text) in [("model", "{}"), ("other", "[]")] {
      try FileManager.default.createDirectory(
        atPath: directory.file(name), withIntermediateDirectories: false)
      _ = try directory.write(Array(text.utf8), to: "\(name)/config.json")
    }
    let model = ModelDirectory(path: path)
    #expect(rename(path, directory.file("old")) == 0 && rename(directory.file("other"), path) == 0)
    #expect(try model.file("config.json").withBytes { Array($0) } == Array("{}".utf8))
    #expect(try ModelDirectory(path: path).file("config.json").withBytes { Array($0) } == Array("[]".utf8))
    // One that is made afterwards is another one.
    let missing = ModelDirectory(path: directory.file("new"))
    #expect(mkdir(directory.file("new"), 0o700) == 0)
    #expect(missing.isUnopened && failure { _ = try missing.file("config.json") }?.status == .io)
  }

  @Test(arguments: ["", ".", "..", "../config.json", "/etc/passwd", "a/b/c", "a//b", "a/", "a/..", "a\0b"])
  func namesStayInTheDirectory(_ name: String) throws {
    #expect(failure { _ = try ModelDirectory(files: [name: []]) }?.status == .invalidArgument)
    let models = [
      ModelDirectory(path: directory.path), try withDescriptor { try ModelDirectory(descriptor: $0) },
      try ModelDirectory(files: [:]),
    ]
    for model in models {
      #expect(!model.exists(name))
      #expect(failure { _ = try model.file(name) }?.status == .invalidModel)
    }
  }

  @Test func refusesDescriptorsOfOtherKinds() throws {
    let file = open(directory.file("config.json"), O_RDONLY)
    defer { close(file) }
    #expect(failure { _ = try ModelDirectory(descriptor: file) }?.status == .invalidArgument)
    #expect(failure { _ = try ModelDirectory(descriptor: -1) }?.status == .invalidArgument)
    let model = try withDescriptor { try ModelDirectory(descriptor: $0) }
    #expect(mkfifo(directory.file("fifo"), 0o600) == 0)
    #expect(failure { _ = try model.file("fifo") }?.status == .io)
    #expect(failure { _ = try model.file("1_Pooling") }?.status == .io)
  }
}
