import CBertQA

/// Finds a model's tensors in a checkpoint and checks the type and shape of each.
struct WeightLoader {
  private let checkpoint: Checkpoint
  private let prefix: String
  private let ownPrefix: String
  private let monitor: CallMonitor?
  /// Those of linear layers and embeddings; nil: they have none.
  var adapters: TaskAdapters?
  private let read = Names()
  /// The memory that the views point into.
  var owners: [any AnyObject & Sendable] { read.owners }

  /// - Parameters:
  ///   - prefix: of the names that are asked for.
  ///   - ownPrefix: what the checkpoint may have in its place.
  init(_ checkpoint: Checkpoint, prefix: String, ownPrefix: String = "", _ monitor: CallMonitor?) {
    self.checkpoint = checkpoint
    self.prefix = prefix
    self.ownPrefix = ownPrefix
    self.monitor = monitor
    read.owners = checkpoint.shards.map(\.file)
  }

  /// The names of tensors that were asked for, and the memory of these tensors.
  private final class Names {
    var names: Set<String> = []
    var owners: [any AnyObject & Sendable] = []
    /// Those that were of double precision.
    var converted: [String: Checkpoint.Tensor] = [:]
  }

  /// The names of the checkpoint's tensors that were not asked for, without the scales and sums of int8 weights.
  var unread: [String] {
    let all = checkpoint.shards.flatMap(\.entries.keys).filter { name in
      !read.names.contains(name) && !["_scale", "_sum"].contains { name.hasSuffix(".weight\($0)") }
    }
    return Set(all).sorted()
  }

  /// True if the checkpoint has a linear layer with this name.
  func hasLinear(_ module: String) throws(BertQAError) -> Bool {
    for tensor in ["weight", "bias"] {
      if try has("\(module).\(tensor)") { return true }
    }
    return false
  }

  mutating func linear(
    _ module: String, outs: Int, ins: Int, hasBias: Bool = true
  ) throws(BertQAError) -> LinearWeights {
    LinearWeights(
      weight: try matrix(module, rows: outs, width: ins, hasSums: true),
      bias: hasBias ? try vector("\(module).bias", count: outs) : nil,
      adapters: try adapters(module, adapters, rows: outs, width: ins))
  }

  /// Loads a module of sentence-transformers, whose tensors get its folder's name.
  mutating func dense(
    _ module: EmbeddingConfiguration.Dense, ins: Int
  ) throws(BertQAError) -> HeadWeights.Layer {
    let base = module.name.isEmpty ? "" : "\(module.name)."
    guard let directory = module.weights else { return try layer(of: module, base, ins: ins) }
    var loader = WeightLoader(try Checkpoint(directory), prefix: "", directory.monitor)
    var layer = try loader.layer(of: module, "", ins: ins)
    read.owners += loader.owners
    func named(_ tensor: TensorView) -> TensorView { tensor.named(base + tensor.name) }
    layer.linear = LinearWeights(weight: named(layer.linear.weight), bias: layer.linear.bias.map(named))
    layer.residual = layer.residual.map { LinearWeights(weight: named($0.weight)) }
    return layer
  }

  /// - Parameter base: the prefix of the module's tensors.
  private mutating func layer(
    of module: EmbeddingConfiguration.Dense, _ base: String, ins: Int
  ) throws(BertQAError) -> HeadWeights.Layer {
    var layer = HeadWeights.Layer(
      linear: try linear("\(base)linear", outs: module.outs, ins: ins, hasBias: module.hasBias),
      activation: module.activation, addsInput: module.addsInput)
    if module.addsInput, ins != module.outs {
      layer.residual = try linear("\(base)residual", outs: module.outs, ins: ins, hasBias: false)
    }
    return layer
  }

  /// Returns a copy of some rows of a matrix.
  /// - Parameter place: returns the place of a row in the matrix.
  mutating func rows(
    _ count: Int, of tensor: TensorView, _ place: (Int) -> Int
  ) throws(BertQAError) -> TensorView {
    let rowSize = tensor.rowWidth * tensor.dataType.size
    let bytes = try SharedBuffer<UInt8>(count: count * rowSize)
    read.owners.append(bytes)
    for row in 0..<count {
      UnsafeMutableRawBufferPointer(start: bytes.base + row * rowSize, count: rowSize)
        .copyMemory(
          from: UnsafeRawBufferPointer(
            rebasing: tensor.bytes[place(row) * rowSize..<(place(row) + 1) * rowSize]))
    }
    func numbers<Number: BitwiseCopyable & Sendable>(
      _ all: UnsafeBufferPointer<Number>?
    ) throws(BertQAError) -> UnsafeBufferPointer<Number>? {
      guard let all else { return nil }
      let copy = try SharedBuffer<Number>(count: count)
      read.owners.append(copy)
      for row in 0..<count { copy.base[row] = all[place(row)] }
      return UnsafeBufferPointer(start: copy.base, count: count)
    }
    return TensorView(
      name: tensor.name, file: tensor.file, dataType: tensor.dataType,
      shape: [count] + tensor.shape.dropFirst(),
      bytes: UnsafeRawBufferPointer(start: bytes.base, count: count * rowSize),
      rowScales: try numbers(tensor.rowScales), rowSums: try numbers(tensor.rowSums))
  }

  mutating func embedding(
    _ module: String, rows: Int, width: Int
  ) throws(BertQAError) -> TensorView {
    try matrix(module, rows: rows, width: width, hasSums: false)
  }

  /// Checkpoints converted from TensorFlow may use its names, gamma and beta.
  func norm(
    _ module: String, count: Int, hasBias: Bool = true, eps: Float?
  ) throws(BertQAError) -> NormWeights {
    NormWeights(
      weight: try vector("\(module).weight", alias: "\(module).gamma", count: count),
      bias: hasBias ? try vector("\(module).bias", alias: "\(module).beta", count: count) : nil,
      eps: eps)
  }

  func vector(
    _ name: String, alias: String? = nil, count: Int
  ) throws(BertQAError) -> TensorView {
    try floats(name, alias: alias, shape: [count])
  }

  /// Returns a tensor with any floating-point type.
  func floats(
    _ name: String, alias: String? = nil, shape: [Int]
  ) throws(BertQAError) -> TensorView {
    let expected = Expectation(name: name, types: [.f32, .f16, .bf16], shape: shape)
    let tensor = try find(expected, alias: alias)
    let view = TensorView(
      name: name, file: tensor.file, dataType: try expected.dataType(of: tensor), shape: shape,
      bytes: tensor.bytes)
    try checkFinite(view)
    return view
  }

  func has(_ name: String) throws(BertQAError) -> Bool { try stored(name) != nil }

  private mutating func matrix(
    _ module: String, rows: Int, width: Int, hasSums: Bool
  ) throws(BertQAError) -> TensorView {
    let name = "\(module).weight"
    let expected = Expectation(name: name, types: DataType.allCases, shape: [rows, width])
    // The second name is that of PyTorch for a weight to which another is added.
    let tensor = try find(expected, alias: "\(module).parametrizations.weight.original")
    let type = try expected.dataType(of: tensor)
    var scales: UnsafeBufferPointer<Float>?
    var sums: UnsafeBufferPointer<Int32>?
    if type == .i8 {
      scales = try rowScales(of: tensor, rows: rows)
      if hasSums { sums = try rowSums(of: tensor, rows: rows) }
    }
    let view = TensorView(
      name: name, file: tensor.file, dataType: type, shape: [rows, width], bytes: tensor.bytes,
      rowScales: scales, rowSums: sums)
    try checkFinite(view)
    return view
  }

  /// Rejects parameters that are not finite, because a result computed from them could look like any other.
  /// Reads every byte of floating-point weights, as fast as memory allows.
  private func checkFinite(_ tensor: TensorView) throws(BertQAError) {
    if tensor.dataType == .i8 { return }
    let elementSize = tensor.dataType.size
    let count = tensor.rowCount * tensor.rowWidth
    for first in stride(from: 0, to: count, by: Self.checkInterval) {
      try monitor?.check()
      let part = min(Self.checkInterval, count - first)
      let bytes = tensor.bytes.baseAddress.map { $0 + first * elementSize }
      let bad = bq_first_nonfinite(bytes, tensor.dataType.format, part)
      guard bad < part else { continue }
      throw BertQAError(
        .invalidModel,
        "\(tensor.file): tensor \(quoted(tensor.name)): element \(first + bad) is an infinity or NaN; the file "
          + "is damaged or the training diverged")
    }
  }

  /// The number of weights that are checked between two polls.
  private static let checkInterval = 1 << 20

  /// Loads a matrix of any shape. One of int8 has no scales: its numbers are the integers.
  func table(_ name: String) throws(BertQAError) -> TensorView {
    let expected = "\(Expectation.listed(DataType.allCases.map(\.rawValue))) [rows, width]"
    guard let tensor = try stored(name) else { throw missing(name, expected: expected) }
    guard let type = DataType(rawValue: tensor.type.name), tensor.shape.count == 2,
      (1...Self.tableLimit).contains(tensor.shape[0]), (1...Self.tableLimit).contains(tensor.shape[1])
    else { throw Expectation.mismatch(tensor, expected: expected) }
    let view = TensorView(
      name: name, file: tensor.file, dataType: type, shape: tensor.shape, bytes: tensor.bytes)
    try checkFinite(view)
    return view
  }

  private static let tableLimit = 1 << 24

  /// Returns a vector of at least `count` floating-point numbers, of any precision.
  func numbers(_ name: String, atLeast count: Int) throws(BertQAError) -> [Float] {
    let view = try floats(name, shape: elements(name, ["F32", "F16", "BF16"], atLeast: count).shape)
    return [Float](unsafeUninitializedCapacity: view.rowCount) { numbers, count in
      guard let base = numbers.baseAddress else { return }
      view.copyFloats(rows: 0..<view.rowCount, to: base)
      count = view.rowCount
    }
  }

  /// Returns a vector of at least `count` integers in 0 ..< limit.
  func indices(_ name: String, atLeast count: Int, below limit: Int) throws(BertQAError) -> [Int32] {
    let elements = try elements(name, ["I64", "I32"], atLeast: count)
    let isWide = elements.type.bits == 64
    var indices: [Int32] = []
    for place in 0..<elements.shape[0] {
      let index =
        isWide
        ? elements.bytes.loadUnaligned(fromByteOffset: 8 * place, as: Int64.self)
        : Int64(elements.bytes.loadUnaligned(fromByteOffset: 4 * place, as: Int32.self))
      guard index >= 0, index < limit else {
        throw BertQAError(
          .invalidModel,
          "\(elements.file): tensor \(quoted(name)): element \(place) is \(index), expected 0 to \(limit - 1)"
        )
      }
      indices.append(Int32(index))
    }
    return indices
  }

  private func elements(
    _ name: String, _ types: [String], atLeast count: Int
  ) throws(BertQAError) -> Checkpoint.Tensor {
    let expected = "\(Expectation.listed(types)) of one dimension with at least \(count) elements"
    guard let tensor = try stored(name) else { throw missing(name, expected: expected) }
    guard types.contains(tensor.type.name), tensor.shape.count == 1,
      (count...max(count, Self.tableLimit)).contains(tensor.shape[0])
    else { throw Expectation.mismatch(tensor, expected: expected) }
    try Memory.require(tensor.shape[0], of: Float.self)
    return tensor
  }

  private mutating func rowScales(
    of tensor: Checkpoint.Tensor, rows: Int
  ) throws(BertQAError) -> UnsafeBufferPointer<Float> {
    let expected = Expectation(name: "\(tensor.name)_scale", types: [.f32], shape: [rows])
    let stored = try find(expected)
    _ = try expected.dataType(of: stored)
    let scales: UnsafeBufferPointer<Float> = try aligned(stored.bytes)
    guard let bad = scales.firstIndex(where: { !$0.isFinite }) else { return scales }
    throw BertQAError(
      .invalidModel,
      "\(stored.file): tensor \(quoted(stored.name)): element \(bad) is \(scales[bad]), "
        + "expected a finite number")
  }

  private mutating func rowSums(
    of tensor: Checkpoint.Tensor, rows: Int
  ) throws(BertQAError) -> UnsafeBufferPointer<Int32>? {
    guard let stored = try checkpoint.tensor("\(tensor.name)_sum") else { return nil }
    guard stored.type == .i32, stored.shape == [rows] else {
      throw Expectation.mismatch(stored, expected: "I32 [\(rows)]")
    }
    return try aligned(stored.bytes)
  }

  /// The bytes as elements: in place if they are aligned, else a copy that `owners` keeps.
  private mutating func aligned<Element: BitwiseCopyable & Sendable>(
    _ bytes: UnsafeRawBufferPointer
  ) throws(BertQAError) -> UnsafeBufferPointer<Element> {
    guard UInt(bitPattern: bytes.baseAddress) % UInt(MemoryLayout<Element>.alignment) != 0 else {
      return bytes.bindMemory(to: Element.self)
    }
    let copy = try SharedBuffer<Element>(copying: bytes)
    read.owners.append(copy)
    return UnsafeBufferPointer(start: copy.base, count: copy.count)
  }

  /// Finds a tensor by its name or by the same name with the checkpoint's own prefix. Numbers of double precision
  /// become floats.
  private func stored(_ name: String) throws(BertQAError) -> Checkpoint.Tensor? {
    var found = try checkpoint.tensor(name)
    if found == nil, name.hasPrefix(prefix) {
      found = try checkpoint.tensor(ownPrefix + name.dropFirst(prefix.count))
    }
    guard let found else { return nil }
    read.names.insert(found.name)
    guard found.type.name == "F64" else { return found }
    if let known = read.converted[found.name] { return known }
    let single = try single(found)
    read.converted[found.name] = single
    return single
  }

  private func single(_ tensor: Checkpoint.Tensor) throws(BertQAError) -> Checkpoint.Tensor {
    let floats = try SharedBuffer<Float>(count: tensor.bytes.count / MemoryLayout<Double>.size)
    read.owners.append(floats)
    for index in 0..<floats.count {
      if index % Self.checkInterval == 0 { try monitor?.check() }
      let number = tensor.bytes.loadUnaligned(
        fromByteOffset: index * MemoryLayout<Double>.size, as: Double.self)
      floats.base[index] = Float(number)
    }
    return Checkpoint.Tensor(
      name: tensor.name, file: tensor.file, type: SafetensorsType(.f32), shape: tensor.shape,
      bytes: UnsafeRawBufferPointer(UnsafeBufferPointer(start: floats.base, count: floats.count)))
  }

  /// Finds a tensor by its name or its alias.
  private func find(
    _ expected: Expectation, alias: String? = nil
  ) throws(BertQAError) -> Checkpoint.Tensor {
    for name in [expected.name, alias].compactMap(\.self) {
      if let tensor = try stored(name) { return tensor }
    }
    throw missing(expected.name, expected: expected.description)
  }

  private func missing(_ name: String, expected: String) -> BertQAError {
    BertQAError(
      .invalidModel, "\(checkpoint.path): tensor \(quoted(name)) is missing, expected \(expected)")
  }
}

extension WeightLoader {
  /// The required properties of a tensor.
  private struct Expectation {
    let name: String
    let types: [DataType]
    let shape: [Int]

    var description: String {
      "\(Self.listed(types.map(\.rawValue))) \(described(shape: shape))"
    }

    /// Returns the types as messages list them: F64 is read where F32 is.
    static func listed(_ types: [String]) -> String {
      (types.contains("F32") ? types + ["F64"] : types).joined(separator: " or ")
    }

    func dataType(of tensor: Checkpoint.Tensor) throws(BertQAError) -> DataType {
      guard let type = DataType(rawValue: tensor.type.name), types.contains(type),
        tensor.shape == shape
      else { throw Self.mismatch(tensor, expected: description) }
      return type
    }

    static func mismatch(_ tensor: Checkpoint.Tensor, expected: String) -> BertQAError {
      BertQAError(
        .invalidModel,
        "\(tensor.file): tensor \(quoted(tensor.name)) is \(tensor.type.name) "
          + "\(described(shape: tensor.shape)), expected \(expected)")
    }
  }
}
