/// The files of weights of a model directory: `model.safetensors`, or the shards that `model.safetensors.index.json`
/// lists; else PyTorch's, `pytorch_model.bin` or those of its index.
struct Checkpoint: Sendable {
  /// A stored tensor of any type.
  struct Tensor {
    let name: String
    let file: String
    let type: SafetensorsType
    let shape: [Int]
    let bytes: UnsafeRawBufferPointer
  }

  /// The file that messages name if a tensor is missing.
  let path: String
  let shards: [Safetensors]
  /// The shard of each tensor, as an index of `shards`; nil for a single file.
  private let weightMap: [String: Int]?

  init(directory: String) throws(BertQAError) { try self.init(ModelDirectory(path: directory)) }

  init(_ directory: ModelDirectory) throws(BertQAError) {
    // As transformers chooses.
    for (single, index, isTorch) in [
      ("model.safetensors", "model.safetensors.index.json", false),
      ("pytorch_model.bin", "pytorch_model.bin.index.json", true),
    ] {
      if directory.exists(single) {
        path = directory.path(of: single)
        shards = [try Self.shard(single, isTorch, directory, headerLimit: Safetensors.headerLimit)]
        weightMap = nil
        return
      }
      if directory.exists(index) {
        path = directory.path(of: index)
        (shards, weightMap) = try Self.readIndex(index, isTorch, in: directory)
        return
      }
    }
    throw BertQAError(
      .io,
      "\(directory.path(of: "model.safetensors")): no such file, nor model.safetensors.index.json, pytorch_model.bin or "
        + "pytorch_model.bin.index.json")
  }

  private static func shard(
    _ name: String, _ isTorch: Bool, _ directory: ModelDirectory, headerLimit: Int
  ) throws(BertQAError) -> Safetensors {
    let file = try directory.weights(name)
    return isTorch
      ? try Safetensors(torch: file, headerLimit: headerLimit, directory.monitor)
      : try Safetensors(file, headerLimit: headerLimit, directory.monitor)
  }

  private static func readIndex(
    _ index: String, _ isTorch: Bool, in directory: ModelDirectory
  ) throws(BertQAError) -> (shards: [Safetensors], weightMap: [String: Int]) {
    let path = directory.path(of: index)
    guard
      let map = try directory.object(in: index, limit: ModelFile.jsonLimit).reader("weight_map")
    else {
      throw BertQAError(.invalidModel, "\(path): \"weight_map\" is missing")
    }
    var shards: [Safetensors] = []
    var positions: [String: Int] = [:]
    var weightMap: [String: Int] = [:]
    // For all shards together: links could make thousands of shards out of one file with a long header.
    var headerRoom = Safetensors.headerLimit
    for (index, member) in map.object.members.enumerated() {
      if index % CallPoll.elementInterval == 0 { try directory.monitor.check() }
      guard case .string(let name) = member.value, isPlainFileName(name) else {
        throw map.mismatch(
          member.key, member.value, expected: "the name of a file in the same directory")
      }
      if positions[name] == nil {
        positions[name] = shards.count
        guard shards.count < shardLimit else {
          throw BertQAError(.tooLarge, "\(path): more than \(shardLimit) files")
        }
        let shard = try Self.shard(name, isTorch, directory, headerLimit: headerRoom)
        headerRoom -= shard.headerCount
        shards.append(shard)
      }
      guard weightMap.updateValue(positions[name] ?? 0, forKey: member.key) == nil else {
        throw BertQAError(
          .invalidModel, "\(path): tensor \(quoted(member.key)) occurs twice in \"weight_map\"")
      }
    }
    return (shards, weightMap)
  }

  private static let shardLimit = 4096

  /// True if a name in a model's file stays within the model's directory.
  static func isPlainFileName(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".."
      && name.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 >= 0x20 }
  }

  /// True if a file has a tensor with this name.
  func has(_ name: String) -> Bool { shards.contains { $0.entries[name] != nil } }

  /// Returns the tensor with this name; nil if no file has it.
  func tensor(_ name: String) throws(BertQAError) -> Tensor? {
    var shard = 0
    if let weightMap {
      guard let position = weightMap[name] else { return nil }
      shard = position
    }
    let file = shards[shard].file
    guard let entry = shards[shard].entries[name] else {
      guard weightMap != nil else { return nil }
      throw BertQAError(
        .invalidModel, "\(file.path): tensor \(quoted(name)) is missing, but \(path) lists it here")
    }
    return Tensor(
      name: name, file: file.path, type: entry.type, shape: entry.shape,
      bytes: UnsafeRawBufferPointer(rebasing: file.bytes[entry.range]))
  }
}
