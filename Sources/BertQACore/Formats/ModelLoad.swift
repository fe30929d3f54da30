import Synchronization

/// How the files of a model come into memory.
public enum ModelLoad: Int32, Sendable, CaseIterable {
  /// Mapped: processes share the pages, and only what is used is read. A file that is cut short in place, while a
  /// call reads it, raises SIGBUS.
  case mmap = 0
  /// Read into memory of this process: what happens to the files afterwards changes nothing.
  case copy = 1
}

/// The mapped files of a model's weights, as far as something still uses them.
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
