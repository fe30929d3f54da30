/// Files of `torch.save`: `pytorch_model.bin`. A ZIP archive of a pickle, `data.pkl`, and the bytes of each storage in
/// `data/KEY`; or, from before PyTorch 1.6, a stream of pickles and storages. Tensors are used in place, as those of a
/// safetensors file.
extension Safetensors {
  /// The pickle of a stream's magic number, 0x1950a86a20f9469cfc6c.
  private static let streamMagic: [UInt8] = [
    0x80, 2, 0x8A, 10, 0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19, 0x2E,
  ]

  /// - Parameter headerLimit: the maximum size of the pickles in bytes.
  init(
    torch file: ModelFile, headerLimit: Int = Safetensors.headerLimit, _ monitor: CallMonitor? = nil
  ) throws(BertQAError) {
    let (pickle, root, storages, headerCount) =
      StoredArchive.begins(file.bytes) ? try Self.archive(file, monitor) : try Self.stream(file, monitor)
    guard headerCount <= headerLimit else {
      throw BertQAError(
        .invalidModel, "\(file.path): pickles of \(headerCount) bytes, expected at most \(headerLimit)")
    }
    guard case .container(let index) = root else {
      throw BertQAError(.unsupported, "\(file.path): contains something other than a dictionary of tensors")
    }
    var entries: [String: Entry] = [:]
    for (key, value) in pickle.containers[index] {
      guard case .string(let name) = key, case .tensor(let tensor) = value else { continue }
      let entry = try Self.entry(tensor, named: name, storages[tensor.storage.key], file.path)
      entries[name] = entry
    }
    self.init(file, entries: entries, headerCount: headerCount)
  }

  private typealias Contents = (Pickle, root: Pickle.Value, storages: [String: Range<Int>], headerCount: Int)

  private static func archive(_ file: ModelFile, _ monitor: CallMonitor?) throws(BertQAError) -> Contents {
    let archive = try StoredArchive(file, monitor)
    guard let name = archive.entries.keys.filter({ $0.hasSuffix("/data.pkl") }).min(),
      let range = archive.entries[name]
    else {
      throw BertQAError(.invalidModel, "\(file.path): the archive has no data.pkl: not a PyTorch checkpoint")
    }
    let top = name.dropLast("data.pkl".count)
    if let order = archive.entries["\(top)byteorder"] {
      guard file.bytes[order].elementsEqual("little".utf8) else {
        throw BertQAError(
          .unsupported, "\(file.path): was saved on a big-endian machine; save the model as safetensors")
      }
    }
    var pickle = Pickle(UnsafeRawBufferPointer(rebasing: file.bytes[range]), file: file.path)
    let root = try pickle.read(monitor)
    var storages: [String: Range<Int>] = [:]
    for (entry, range) in archive.entries where entry.hasPrefix("\(top)data/") {
      storages[String(entry.dropFirst(top.count + 5))] = range
    }
    return (pickle, root, storages, range.count)
  }

  private static func stream(_ file: ModelFile, _ monitor: CallMonitor?) throws(BertQAError) -> Contents {
    let bytes = file.bytes
    guard bytes.starts(with: streamMagic) else {
      throw BertQAError(
        .invalidModel, "\(file.path): is not a PyTorch checkpoint; save the model as safetensors")
    }
    /// Reads the pickle that begins at a byte.
    func next(_ position: Int) throws(BertQAError) -> (Pickle, Pickle.Value) {
      var pickle = Pickle(bytes, at: position, file: file.path)
      let value = try pickle.read(monitor)
      return (pickle, value)
    }
    let (version, number) = try next(streamMagic.count)
    guard case .integer(1001) = number else {
      throw BertQAError(
        .unsupported, "\(file.path): has an unknown stream version; save the model as safetensors")
    }
    let (system, settings) = try next(version.position)
    if case .container(let index) = settings {
      for case (.string("little_endian"), .bool(false)) in system.containers[index] {
        throw BertQAError(
          .unsupported, "\(file.path): was saved on a big-endian machine; save the model as safetensors")
      }
    }
    let (pickle, root) = try next(system.position)
    let (list, keys) = try next(pickle.position)
    var types: [String: Pickle.Storage] = [:]
    if case .container(let index) = root {
      for case (_, .tensor(let tensor)) in pickle.containers[index] {
        types[tensor.storage.key] = tensor.storage
      }
    }
    // Storages follow in the order of the keys, each after its number of elements.
    var storages: [String: Range<Int>] = [:]
    var position = list.position
    guard case .container(let index) = keys else {
      throw BertQAError(.invalidModel, "\(file.path): the stream has no list of storages")
    }
    for case (_, .string(let key)) in list.containers[index] {
      guard let storage = types[key], let count = ByteFields(bytes).u64(position), count == storage.count,
        let size = storage.type.byteCount(of: [count]), size <= bytes.count - position - 8
      else {
        throw BertQAError(
          .invalidModel, "\(file.path): the storage \(quoted(key)) is cut off or belongs to no tensor")
      }
      storages[key] = position + 8..<position + 8 + size
      position += 8 + size
    }
    return (pickle, root, storages, list.position)
  }

  private static func entry(
    _ tensor: Pickle.Tensor, named name: String, _ storage: Range<Int>?, _ file: String
  ) throws(BertQAError) -> Entry {
    func error(_ what: String, _ status: Status = .invalidModel) -> BertQAError {
      BertQAError(status, "\(file): tensor \(quoted(name)): \(what)")
    }
    let type = tensor.storage.type
    guard let storage else { throw error("its storage \(quoted(tensor.storage.key)) is missing") }
    guard let size = type.byteCount(of: tensor.shape), let start = type.byteCount(of: [tensor.offset]),
      start <= storage.count, size <= storage.count - start
    else {
      throw error(
        "\(type.name) \(described(shape: tensor.shape)) does not fit into its storage of \(storage.count) bytes"
      )
    }
    var expected = 1
    for (extent, stride) in zip(tensor.shape, tensor.strides).reversed() where size > 0 {
      // The stride of one element means nothing.
      guard extent == 1 || stride == expected else {
        throw error("is not stored row by row; save the model as safetensors", .unsupported)
      }
      expected *= extent
    }
    return Entry(
      type: type, shape: tensor.shape, range: storage.lowerBound + start..<storage.lowerBound + start + size)
  }
}
