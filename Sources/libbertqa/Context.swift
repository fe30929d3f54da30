import BertQACore
import CBertQAHeader
import Glibc

/// A context and its C views, which live as long.
final class ContextHandle: Handle {
  let context: Context
  let info: CArray<bertqa_model_info>
  let labels: CStrings
  /// The names and texts of an embedding model's prompts.
  let promptNames: CStrings
  let prompts: CStrings
  let sequenceInfo: SequenceInfoView?
  private let directory: CString
  private let architecture: CString

  /// - Parameter isInMemory: true if the model has no directory. The core's name for it is for messages only.
  init(_ context: Context, isInMemory: Bool) throws(BertQAError) {
    self.context = context
    directory = CString(isInMemory ? "" : context.info.directory)
    architecture = CString(context.info.architecture)
    info = try CArray([
      bertqa_model_info(context.info, directory: directory.pointer, architecture: architecture.pointer)
    ])
    labels = try CStrings(context.info.labels)
    let prompts = context.info.embedding?.prompts ?? []
    promptNames = try CStrings(prompts.map(\.name))
    self.prompts = try CStrings(prompts.map(\.text))
    sequenceInfo = try context.sequenceInfo.map { info throws(BertQAError) in try SequenceInfoView(info) }
  }
}

@_cdecl("bertqa_context_create")
public func bertqa_context_create(
  _ model_directory: UnsafePointer<CChar>?, _ options: UnsafePointer<bertqa_context_options>?,
  _ context: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  create(context, options) { options throws(BertQAError) in
    guard let model_directory else { return try Context(defaultModelWithOptions: options) }
    return try Context(
      modelDirectory: pathArgument(model_directory, "model_directory"), options: options)
  }
}

@_cdecl("bertqa_context_create_from_files")
public func bertqa_context_create_from_files(
  _ files: UnsafePointer<bertqa_file>?, _ count: Int,
  _ options: UnsafePointer<bertqa_context_options>?, _ context: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  create(context, options, isInMemory: true) { options throws(BertQAError) in
    try Context(model: ModelDirectory(borrowing: fileArguments(files, count)), options: options)
  }
}

@_cdecl("bertqa_context_create_at")
public func bertqa_context_create_at(
  _ directory_fd: Int32, _ name: UnsafePointer<CChar>?,
  _ options: UnsafePointer<bertqa_context_options>?, _ context: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  create(context, options) { options throws(BertQAError) in
    try Context(model: directory(at: directory_fd, name), options: options)
  }
}

private func create(
  _ context: UnsafeMutablePointer<OpaquePointer?>?, _ options: UnsafePointer<bertqa_context_options>?,
  isInMemory: Bool = false, _ load: (ContextOptions) throws(BertQAError) -> Context
) -> bertqa_status {
  created(context, "context") { () throws(BertQAError) in
    try ContextHandle(load(contextOptions(options)), isInMemory: isInMemory)
  }
}

/// Returns the files by name. The caller keeps their bytes.
func fileArguments(
  _ files: UnsafePointer<bertqa_file>?, _ count: Int
) throws(BertQAError) -> [String: UnsafeRawBufferPointer] {
  try checkCount(count)
  guard count > 0 else {
    throw BertQAError(.invalidArgument, argument: "count", "is 0; pass the files of a model")
  }
  var result: [String: UnsafeRawBufferPointer] = [:]
  for (index, file) in try elements(files, count, "files").enumerated() {
    do throws(BertQAError) {
      let name = try pathArgument(file.name, "name")
      if name.isEmpty { throw BertQAError(.invalidArgument, argument: "name", "is empty") }
      guard file.size >= 0 else {
        throw BertQAError(
          .tooLarge, argument: "size", "is \(UInt(bitPattern: file.size)); pass the file's size in bytes")
      }
      let data = file.size > 0 ? try required(file.data, "data") : nil
      guard result.updateValue(UnsafeRawBufferPointer(start: data, count: file.size), forKey: name) == nil
      else { throw BertQAError(.invalidArgument, argument: "name", "is also the name of an earlier file") }
    } catch {
      throw error.of(item: index, in: "files")
    }
  }
  return result
}

/// Returns the directory that the descriptor is open on, or the directory `name` below it.
private func directory(
  at descriptor: Int32, _ name: UnsafePointer<CChar>?
) throws(BertQAError) -> ModelDirectory {
  guard descriptor >= 0 else {
    throw BertQAError(.invalidArgument, argument: "directory_fd", "is \(descriptor); pass an open directory")
  }
  guard let name, name.pointee != 0 else { return try ModelDirectory(descriptor: descriptor) }
  let path = try pathArgument(name, "name")
  guard !path.utf8.starts(with: "/".utf8) else {
    throw BertQAError(
      .invalidArgument, argument: "name", "is an absolute path; pass one relative to directory_fd")
  }
  let opened = openat(descriptor, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard opened >= 0 else {
    throw errno == EBADF
      ? BertQAError(.invalidArgument, argument: "directory_fd", "is \(descriptor), which is not open")
      : .system("open the directory", path)
  }
  defer { close(opened) }
  return try ModelDirectory(descriptor: opened, name: path)
}

@_cdecl("bertqa_context_free")
public func bertqa_context_free(_ context: OpaquePointer?) {
  ContextHandle.release(context)
}
