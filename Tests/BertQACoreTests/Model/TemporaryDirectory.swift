import Foundation

/// A directory that goes away with its last reference.
final class TemporaryDirectory {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "bertqa-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  func write(_ bytes: [UInt8], to name: String) throws -> String {
    // A fresh file, and not by Foundation's Data, which waits for the disk each time.
    try? FileManager.default.removeItem(atPath: file(name))
    guard let stream = fopen(file(name), "wb") else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    let written = fwrite(bytes, 1, bytes.count, stream)
    guard fclose(stream) == 0, written == bytes.count else { throw POSIXError(.EIO) }
    return file(name)
  }

  @discardableResult
  func write(_ text: String, to name: String) throws -> String {
    try write(Array(text.utf8), to: name)
  }

  /// Copies a checkpoint of Fixtures/ here.
  func copyFiles(ofTiny model: String) throws {
    let source = TinyModel.path(model)
    for name in try FileManager.default.contentsOfDirectory(atPath: source) {
      try FileManager.default.copyItem(atPath: "\(source)/\(name)", toPath: file(name))
    }
  }

  /// A directory within it, unless it is there.
  func makeDirectory(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: true)
  }

  /// Removes the directory now.
  func discard() throws { try FileManager.default.removeItem(atPath: path) }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: file(name)) }

  func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: file(name))))
  }

  func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }
}

func bytes(ofFile path: String) throws -> [UInt8] {
  Array(try Data(contentsOf: URL(fileURLWithPath: path)))
}
