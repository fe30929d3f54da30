/// Reads Python's pickles of tensors. Nothing is executed: of pickle's operations only those are known that PyTorch
/// writes for a dictionary of tensors, and of its globals those that tensors need. Everything else is refused by name.
struct Pickle {
  enum Value {
    case none
    case bool(Bool)
    case integer(Int)
    case string(String)
    case tuple([Value], depth: Int)
    /// An index of `containers`: values that are changed after they are made cannot contain themselves.
    case container(Int)
    case global(String)
    indirect case storage(Storage)
    indirect case tensor(Tensor)
    case mark
  }

  struct Storage {
    var type: SafetensorsType
    var key: String
    var count: Int
  }

  struct Tensor {
    var storage: Storage
    /// In elements.
    var offset: Int
    var shape: [Int]
    var strides: [Int]
  }

  /// The elements of lists, and those of dictionaries with their keys.
  private(set) var containers: [[(key: Value, value: Value)]] = []
  /// The byte after the last operation.
  private(set) var position: Int
  private var stack: [Value] = []
  private var memo: [Int: Value] = [:]
  private let bytes: UnsafeRawBufferPointer
  private let file: String

  /// Far above those of any model.
  private static let sizeLimit = 1 << 21
  private static let depthLimit = 8
  /// Each tensor has a copy of its shape, which a pickle can name again and again.
  private static let dimensionLimit = 8
  private static let pollInterval = 4096

  private static let storages = [
    "FloatStorage": "F32", "HalfStorage": "F16", "BFloat16Storage": "BF16", "DoubleStorage": "F64",
    "LongStorage": "I64", "IntStorage": "I32", "ShortStorage": "I16", "ByteStorage": "U8",
    "BoolStorage": "BOOL",
  ]
  private static let functions = [
    "collections.OrderedDict", "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_parameter",
  ]

  /// - Parameter position: of the pickle's first byte.
  init(_ bytes: UnsafeRawBufferPointer, at position: Int = 0, file: String) {
    self.bytes = bytes
    self.position = position
    self.file = file
  }

  private func refusal(_ what: String) -> BertQAError {
    BertQAError(
      .unsupported, "\(file): \(what), which tensors do not need; save the model as safetensors")
  }

  private var damage: BertQAError {
    BertQAError(.invalidModel, "\(file): not a whole pickle at byte \(position)")
  }

  /// Runs to the end and returns the result.
  mutating func read(_ monitor: CallMonitor?) throws(BertQAError) -> Value {
    let begin = position
    var count = 0
    while position - begin <= Self.sizeLimit {
      if count % Self.pollInterval == 0 { try monitor?.check() }
      count += 1
      let operation = try byte()
      if operation == UInt8(ascii: ".") { return try pop() }
      try perform(operation)
    }
    throw BertQAError(.tooLarge, "\(file): a pickle of more than \(Self.sizeLimit) bytes")
  }

  private mutating func perform(_ operation: UInt8) throws(BertQAError) {
    switch operation {
    case 0x80:  // PROTO
      let version = try byte()
      guard version == 2 else { throw refusal("a pickle of protocol \(version)") }
    case UInt8(ascii: "N"): stack.append(.none)
    case 0x88, 0x89: stack.append(.bool(operation == 0x88))
    case UInt8(ascii: "J"): stack.append(.integer(Int(Int32(truncatingIfNeeded: try number(4)))))
    case UInt8(ascii: "K"): stack.append(.integer(try number(1)))
    case UInt8(ascii: "M"): stack.append(.integer(try number(2)))
    case 0x8A:  // LONG1
      let size = try number(1)
      guard size <= 7 else { throw refusal("a number of \(size) bytes") }
      stack.append(.integer(try number(size)))
    case UInt8(ascii: "X"): stack.append(.string(try text(try number(4))))
    case UInt8(ascii: "("): stack.append(.mark)
    case UInt8(ascii: ")"): stack.append(.tuple([], depth: 0))
    case 0x85, 0x86, 0x87: try pushTuple(popMany(Int(operation - 0x84)))
    case UInt8(ascii: "t"): try pushTuple(popToMark())
    case UInt8(ascii: "}"), UInt8(ascii: "]"): pushContainer()
    case UInt8(ascii: "a"):
      let value = try pop()
      containers[try container()].append((.none, value))
    case UInt8(ascii: "e"):
      let values = try popToMark()
      let index = try container()
      for value in values { containers[index].append((.none, value)) }
    case UInt8(ascii: "s"):
      let pair = try popMany(2)
      containers[try container()].append((pair[0], pair[1]))
    case UInt8(ascii: "u"):
      let values = try popToMark()
      let index = try container()
      guard values.count % 2 == 0 else { throw damage }
      for place in stride(from: 0, to: values.count, by: 2) {
        containers[index].append((values[place], values[place + 1]))
      }
    case UInt8(ascii: "q"), UInt8(ascii: "r"):
      let key = try number(operation == UInt8(ascii: "q") ? 1 : 4)
      guard let last = stack.last else { throw damage }
      memo[key] = last
    case UInt8(ascii: "h"), UInt8(ascii: "j"):
      guard let value = memo[try number(operation == UInt8(ascii: "h") ? 1 : 4)] else { throw damage }
      stack.append(value)
    case UInt8(ascii: "c"): stack.append(.global(try global()))
    case UInt8(ascii: "Q"): stack.append(.storage(try storage(pop())))
    case UInt8(ascii: "R"):
      let arguments = try pop()
      guard case .global(let name) = try pop(), case .tuple(let values, _) = arguments else { throw damage }
      try call(name, values)
    case UInt8(ascii: "b"):
      // The attributes of an OrderedDict: metadata of PyTorch's modules.
      _ = try pop()
      _ = try container()
    default: throw refusal("the pickle operation 0x\(String(operation, radix: 16))")
    }
  }

  // MARK: - Operands

  private mutating func byte() throws(BertQAError) -> UInt8 {
    guard position < bytes.count else { throw damage }
    position += 1
    return bytes[position - 1]
  }

  /// Reads an unsigned number of up to 7 bytes.
  private mutating func number(_ size: Int) throws(BertQAError) -> Int {
    var value = 0
    for index in 0..<size { value |= Int(try byte()) << (8 * index) }
    return value
  }

  private mutating func text(_ count: Int) throws(BertQAError) -> String {
    guard count <= bytes.count - position else { throw damage }
    position += count
    return String(decoding: bytes[position - count..<position], as: UTF8.self)
  }

  /// Reads the lines of a module and a name.
  private mutating func global() throws(BertQAError) -> String {
    var parts: [String] = []
    while parts.count < 2 {
      let begin = position
      while try byte() != 0x0A { guard position - begin < 256 else { throw damage } }
      parts.append(String(decoding: bytes[begin..<position - 1], as: UTF8.self))
    }
    let name = parts.joined(separator: ".")
    let isStorage = parts[0] == "torch" && Self.storages[parts[1]] != nil
    guard isStorage || Self.functions.contains(name) else { throw refusal("the global \(quoted(name))") }
    return name
  }

  // MARK: - Stack

  private mutating func pop() throws(BertQAError) -> Value {
    guard let value = stack.popLast() else { throw damage }
    if case .mark = value { throw damage }
    return value
  }

  private mutating func popMany(_ count: Int) throws(BertQAError) -> [Value] {
    guard stack.count >= count else { throw damage }
    let values = Array(stack.suffix(count))
    stack.removeLast(count)
    for case .mark in values { throw damage }
    return values
  }

  private mutating func popToMark() throws(BertQAError) -> [Value] {
    guard let mark = stack.lastIndex(where: { if case .mark = $0 { true } else { false } }) else {
      throw damage
    }
    let values = Array(stack[(mark + 1)...])
    stack.removeLast(stack.count - mark)
    return values
  }

  /// Returns the container on top of the stack.
  private func container() throws(BertQAError) -> Int {
    guard case .container(let index)? = stack.last else { throw damage }
    return index
  }

  private mutating func pushContainer() {
    stack.append(.container(containers.count))
    containers.append([])
  }

  private mutating func pushTuple(_ values: [Value]) throws(BertQAError) {
    var depth = 0
    for case .tuple(_, let inner) in values { depth = max(depth, inner + 1) }
    guard depth <= Self.depthLimit else { throw refusal("tuples within \(depth) tuples") }
    stack.append(.tuple(values, depth: depth))
  }

  // MARK: - Tensors

  private mutating func call(_ name: String, _ arguments: [Value]) throws(BertQAError) {
    switch name {
    case "collections.OrderedDict":
      guard arguments.isEmpty else { throw refusal("an OrderedDict of something") }
      pushContainer()
    case "torch._utils._rebuild_parameter":
      guard case .tensor? = arguments.first else { throw damage }
      stack.append(arguments[0])
    default:
      guard arguments.count >= 4, case .storage(let storage) = arguments[0],
        case .integer(let offset) = arguments[1], offset >= 0,
        let shape = Self.integers(arguments[2]), let strides = Self.integers(arguments[3]),
        shape.count == strides.count
      else { throw damage }
      stack.append(.tensor(Tensor(storage: storage, offset: offset, shape: shape, strides: strides)))
    }
  }

  /// Returns the integers of a short tuple, of which none is negative.
  private static func integers(_ value: Value) -> [Int]? {
    guard case .tuple(let elements, _) = value, elements.count <= dimensionLimit else { return nil }
    var result: [Int] = []
    for element in elements {
      guard case .integer(let integer) = element, integer >= 0 else { return nil }
      result.append(integer)
    }
    return result
  }

  /// Reads what PyTorch writes in place of a storage: ("storage", its class, its key, a device, the number of
  /// elements).
  private func storage(_ value: Value) throws(BertQAError) -> Storage {
    guard case .tuple(let parts, _) = value, parts.count >= 5, case .string("storage") = parts[0],
      case .global(let name) = parts[1], case .string(let key) = parts[2],
      case .integer(let count) = parts[4],
      count >= 0,
      let type = Self.storages[String(name.split(separator: ".").last ?? "")].flatMap(SafetensorsType.init)
    else { throw damage }
    if parts.count > 5 { guard case .none = parts[5] else { throw refusal("a view of a storage") } }
    return Storage(type: type, key: key, count: count)
  }
}
