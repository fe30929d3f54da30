import Synchronization

/// How a model's files get into memory.
public enum ModelLoad: Int32, Sendable, CaseIterable {
  /// Map the files: processes share the pages, and only what is used is read. Truncating a file in place
  /// while a call reads it raises SIGBUS.
  case mmap = 0
  /// Read the files into this process's memory: later changes to the files have no effect.
  case copy = 1
}

/// The mapped weight files that are still in use.
final class MappedFiles: Sendable {
  private struct Reference: Sendable {
    weak var file: ModelFile?
  }

  private let references = Mutex<[Reference]>([])

  func add(_ file: ModelFile) {
    references.withLock { $0.append(Reference(file: file)) }
  }

  var inUse: [ModelFile] { references.withLock { $0.compactMap(\.file) } }
}
