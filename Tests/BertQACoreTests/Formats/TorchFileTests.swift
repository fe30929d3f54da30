import Foundation
import Testing

@testable import BertQACore

/// Files of `torch.save`; those of Fixtures/torch are PyTorch's own.
struct TorchFileTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private static func fixture(_ name: String) throws -> [UInt8] {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return Array(try Data(contentsOf: tests.appendingPathComponent("Fixtures/torch/\(name)")))
  }

  private func open(_ bytes: [UInt8]) throws -> Safetensors {
    try Safetensors(torch: ModelFile(path: directory.write(bytes, to: "pytorch_model.bin")))
  }

  /// Type, shape and bytes of each tensor.
  private func contents(_ file: Safetensors) -> [String: TinyCheckpoint.Tensor] {
    file.entries.mapValues {
      .init(type: $0.type.name, shape: $0.shape, bytes: Array(file.file.bytes[$0.range]))
    }
  }

  @Test(arguments: ["archive.bin", "stream.bin"])
  func tensorsAreThoseOfPyTorch(name: String) throws {
    let same = try Safetensors(
      ModelFile(path: directory.write(Self.fixture("same.safetensors"), to: "same.safetensors")))
    let found = contents(try open(Self.fixture(name)))
    #expect(found.count == 11 && found == contents(same))
  }

  @Test func whatIsNotStoredRowByRowIsRefused() throws {
    let error = try #require(failure { _ = try open(Self.fixture("columns.bin")) })
    #expect(error.status == .unsupported && error.message.contains("\"columns\": is not stored row by row"))
  }

  /// A module would need its class, which a pickle imports and calls.
  @Test func objectsAreRefused() throws {
    let error = try #require(failure { _ = try open(Self.fixture("module.bin")) })
    #expect(error.status == .unsupported)
    #expect(error.message.contains("the global \"torch.nn.modules.linear.Linear\""), "\(error)")
  }

  @Test(arguments: ["archive.bin", "stream.bin"])
  func everyPrefixIsRefused(name: String) throws {
    let bytes = try Self.fixture(name)
    for count in 0..<bytes.count {
      let status = failure { _ = try open(Array(bytes.prefix(count))) }?.status
      #expect(status == .invalidModel, "\(count) bytes")
    }
  }

  /// Changed bytes lead to an error, or to tensors within the file.
  @Test(arguments: ["archive.bin", "stream.bin"])
  func damageIsFoundOrHarmless(name: String) throws {
    let bytes = try Self.fixture(name)
    var random = TestRandom(11)
    var refused = 0
    for _ in 0..<20_000 {
      var damaged = bytes
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: damaged.indices, using: &random)
        damaged[place] = UInt8.random(in: 0...255, using: &random)
      }
      if Bool.random(using: &random) {
        let place = Int.random(in: damaged.indices, using: &random)
        damaged.removeSubrange(place..<min(place + Int.random(in: 1...40, using: &random), damaged.count))
      }
      let file = try damaged.withUnsafeBytes { try ModelFile(copying: $0, path: "damaged") }
      do throws(BertQAError) {
        for (_, tensor) in contents(try Safetensors(torch: file)) {
          #expect(SafetensorsType(tensor.type)?.byteCount(of: tensor.shape) == tensor.bytes.count)
        }
      } catch {
        refused += 1
      }
    }
    #expect(refused > 1000)
  }

  // MARK: - Streams made here

  private static func string(_ text: String) -> [UInt8] {
    [UInt8(ascii: "X")] + withUnsafeBytes(of: UInt32(text.utf8.count), Array.init) + Array(text.utf8)
  }

  private static func integer(_ value: Int) -> [UInt8] {
    [UInt8(ascii: "J")] + withUnsafeBytes(of: Int32(value), Array.init)
  }

  private static func tuple(_ parts: [UInt8]...) -> [UInt8] {
    [UInt8(ascii: "(")] + parts.joined() + [UInt8(ascii: "t")]
  }

  /// A stream of this pickle and these storages.
  private static func stream(_ pickle: [UInt8], storages: [(key: String, count: Int, bytes: [UInt8])] = [])
    -> [UInt8]
  {
    let end = [UInt8(ascii: ".")]
    let magic: [UInt8] = [0x80, 2, 0x8A, 10, 0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19]
    let keys = storages.flatMap { string($0.key) }
    let protocolTwo: [UInt8] = [0x80, 2]
    var stream = magic + end
    stream += protocolTwo + [UInt8(ascii: "M"), 0xE9, 3] + end
    stream += protocolTwo + [UInt8(ascii: "}")] + end
    stream += protocolTwo + pickle + end
    stream += protocolTwo + Array("](".utf8) + keys + Array("e".utf8) + end
    for storage in storages {
      stream += withUnsafeBytes(of: UInt64(storage.count), Array.init)
      stream += storage.bytes
    }
    return stream
  }

  private static func stream(_ tensors: [String: TinyCheckpoint.Tensor], offset: Int = 0) -> [UInt8] {
    let types = ["F32": "Float", "F16": "Half", "BF16": "BFloat16"]
    var pickle = Array("}".utf8)
    var storages: [(String, Int, [UInt8])] = []
    for (name, tensor) in tensors.sorted(by: { $0.key < $1.key }) {
      let count = tensor.shape.reduce(1, *)
      let strides = tensor.shape.indices.map { tensor.shape[($0 + 1)...].reduce(1, *) }
      let key = "\(storages.count)"
      let storage =
        tuple(
          string("storage"), Array("ctorch\n\(types[tensor.type] ?? "")Storage\n".utf8), string(key),
          string("cpu"),
          integer(count), Array("N".utf8)) + Array("Q".utf8)
      pickle += string(name) + Array("ctorch._utils\n_rebuild_tensor_v2\n".utf8)
      pickle += tuple(
        storage, integer(offset), tuple(tensor.shape.flatMap(integer)), tuple(strides.flatMap(integer)),
        [0x89],
        Array("ccollections\nOrderedDict\n)R".utf8))
      pickle += Array("Rs".utf8)
      storages.append((key, count, tensor.bytes))
    }
    return stream(pickle, storages: storages)
  }

  /// A model whose weights are in this form, also sharded, loads as the same one and becomes int8.
  @Test(arguments: ["F32", "F16", "BF16"])
  func modelsLoad(type: String) throws {
    let checkpoint = TinyCheckpoint(task: .embed, type: type)
    try checkpoint.write(to: directory)
    func load() throws -> [[Float]] {
      try LoadedModel(ModelDirectory(path: directory.path)).withTensors { $0.map(\.floats) }
    }
    let expected = try load()
    try directory.remove("model.safetensors")
    try directory.write(Self.stream(checkpoint.tensors), to: "pytorch_model.bin")
    #expect(try load() == expected)
    let other = try TemporaryDirectory()
    try Quantizer.quantize(ModelDirectory(path: directory.path), to: other.file("int8"))
    #expect(try other.bytes("int8/model.safetensors").count > 0)
    try directory.remove("pytorch_model.bin")
    var map: [String] = []
    for part in 0..<2 {
      let names = checkpoint.tensors.keys.sorted().enumerated().filter { $0.offset % 2 == part }.map(
        \.element)
      let name = "pytorch_model-0000\(part + 1)-of-00002.bin"
      try directory.write(Self.stream(checkpoint.tensors.filter { names.contains($0.key) }), to: name)
      map += names.map { "\"\($0)\": \"\(name)\"" }
    }
    try directory.write(
      "{\"weight_map\": {\(map.joined(separator: ", "))}}", to: "pytorch_model.bin.index.json")
    #expect(try load() == expected)
  }

  /// Nothing that a pickle could do besides making tensors is done.
  @Test(arguments: [
    ("cos\nsystem\n(X\u{2}\u{0}\u{0}\u{0}lstR", "the global \"os.system\""),
    ("cbuiltins\neval\n", "the global \"builtins.eval\""),
    ("ctorch\nload\n", "the global \"torch.load\""), ("(cos\nsystem\no", "the global \"os.system\""),
    ("(ios\nsystem\n", "the pickle operation 0x69"),
    ("ctorch\nFloatStorage\n)\u{81}", "the pickle operation 0x"),
    ("P1\n", "the pickle operation 0x50"),
    ("ccollections\nOrderedDict\n(K\u{1}tR", "an OrderedDict of something"),
    (String(repeating: "(", count: 100) + String(repeating: "t", count: 100), "tuples within"),
  ])
  func everythingElseIsRefusedByName(pickle: String, message: String) throws {
    let error = try #require(failure { _ = try open(Self.stream(Array(pickle.utf8))) })
    #expect(error.status == .unsupported && error.message.contains(message), "\(error)")
  }

  @Test(arguments: [
    "K", "t", "(.", "R", "NR", "Q", "NQ", "h\u{5}", "s", "}Ns", "}(Nu", "(s", "X\u{FF}\u{FF}",
    "ccollections\nOrderedDict\nNR",
    "ctorch._utils\n_rebuild_tensor_v2\n(NNNNtR", "a", "e", "b", "q\u{0}", "",
  ])
  func damagedPickles(pickle: String) throws {
    #expect(failure { _ = try open(Self.stream(Array(pickle.utf8))) }?.status == .invalidModel)
  }

  /// A pickle can give one shape to any number of tensors, each of which would have a copy.
  @Test func shapesAreShort() throws {
    for count in [8, 9, 1000] {
      let tensor = TinyCheckpoint.Tensor(
        type: "F32", shape: [Int](repeating: 1, count: count), bytes: [0, 0, 0, 0])
      let stream = Self.stream(["weight": tensor])
      if count == 8 {
        #expect(try open(stream).entries.count == 1)
      } else {
        #expect(failure { _ = try open(stream) }?.status == .invalidModel)
      }
    }
  }

  /// A negative offset leads out of the storage, and out of the file.
  @Test(arguments: [(-1, 4), (-500_000_000, 4), (1, 4), (0, 5)])
  func tensorsAreWithinTheirStorage(offset: Int, count: Int) throws {
    let bytes = [UInt8](repeating: 0, count: 4 * count)
    var stream = Self.stream(
      ["weight": TinyCheckpoint.Tensor(type: "F32", shape: [count], bytes: bytes)], offset: offset)
    if count == 5 { stream.removeLast(4) }
    #expect(failure { _ = try open(stream) }?.status == .invalidModel)
  }

  @Test func onlyStoredFilesAreRead() throws {
    var bytes = try Self.fixture("archive.bin")
    let entry: [UInt8] = [0x50, 0x4B, 1, 2]
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: entry) })
    bytes[place + 10] = 8
    let error = try #require(failure { _ = try open(bytes) })
    #expect(error.status == .unsupported && error.message.contains("is compressed"), "\(error)")
  }
}
