/// The adapters of jina-embeddings-v3 (Sturua et al. 2024, https://arxiv.org/abs/2409.10173): for each task, every
/// matrix has a low-rank matrix (LoRA, Hu et al. 2021, https://arxiv.org/abs/2106.09685) that is added to it.
struct TaskAdapters: Sendable, Equatable {
  /// The names of the tasks, which are those of prompts.
  var tasks: [String]
  var rank: Int
  /// The factor of the added matrices.
  var scale: Float

  /// nil if `config.json` names no tasks.
  init?(_ reader: ObjectReader) throws(BertQAError) {
    let key = "lora_adaptations"
    guard let value = reader.value(key) else { return nil }
    tasks = []
    if case .array(let names) = value {
      for case .string(let name) in names where !tasks.contains(name) { tasks.append(name) }
      if names.count != tasks.count { tasks = [] }
    }
    guard (1...64).contains(tasks.count) else {
      throw reader.mismatch(key, value, expected: "a list of up to 64 different names")
    }
    rank = try reader.integer("lora_rank", in: 1...1024) ?? 4
    let alpha = try reader.number("lora_alpha") ?? 1
    guard alpha.magnitude <= 1e6 else {
      throw reader.mismatch(
        "lora_alpha", .number(alpha), expected: "up to 1e6")
    }
    scale = Float(alpha / Double(rank))
  }
}

/// The low-rank matrices of one module: `weight` + scale · left · right for each task. Immutable.
final class AdapterWeights: Sendable {
  /// [tasks, rows, rank] and [tasks, rank, width]
  let left: TensorView
  let right: TensorView
  let scale: Float
  /// Those of the matrix's rows that a module has.
  private let rows: Range<Int>

  init(left: TensorView, right: TensorView, scale: Float, rows: Range<Int>) {
    self.left = left
    self.right = right
    self.scale = scale
    self.rows = rows
  }

  func rows(_ range: Range<Int>) -> AdapterWeights {
    AdapterWeights(
      left: left, right: right, scale: scale,
      rows: rows.lowerBound + range.lowerBound..<rows.lowerBound + range.upperBound)
  }

  /// The two matrices of a task in f32: [rows, rank], times the scale, and [rank, width].
  func matrices(
    ofTask task: Int
  ) throws(BertQAError) -> (left: SharedBuffer<Float>, right: SharedBuffer<Float>) {
    let (left, right) = (
      try SharedBuffer<Float>(count: left.rowWidth), try SharedBuffer<Float>(count: right.rowWidth)
    )
    self.left.copyFloats(rows: task..<task + 1, to: left.base)
    self.right.copyFloats(rows: task..<task + 1, to: right.base)
    for index in 0..<left.count { left.base[index] *= scale }
    return (left, right)
  }

  /// Returns a task's matrix in f32, and the memory that it points into.
  func merged(
    into weight: TensorView, task: Int
  ) throws(BertQAError) -> (weight: TensorView, owner: SharedBuffer<Float>) {
    let (left, right) = try matrices(ofTask: task)
    let (width, rank) = (weight.rowWidth, right.count / weight.rowWidth)
    let sum = try SharedBuffer<Float>(count: weight.rowCount * width)
    weight.copyFloats(rows: 0..<weight.rowCount, to: sum.base)
    for row in 0..<weight.rowCount {
      Self.add(
        left.base + (rows.lowerBound + row) * rank, right.base, rank: rank, to: sum.base + row * width, width)
    }
    let view = TensorView(
      name: weight.name, file: weight.file, dataType: .f32, shape: weight.shape,
      bytes: UnsafeRawBufferPointer(UnsafeBufferPointer(start: sum.base, count: sum.count)))
    return (view, sum)
  }

  /// row += left · right, where `left` is [rank].
  static func add(
    _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, rank: Int,
    to row: UnsafeMutablePointer<Float>, _ width: Int
  ) {
    for index in 0..<rank {
      let (factor, other) = (left[index], right + index * width)
      for column in 0..<width { row[column] += factor * other[column] }
    }
  }
}

extension WeightLoader {
  /// Loads the adapters of a module; nil if it has none.
  func adapters(
    _ module: String, _ settings: TaskAdapters?, rows: Int, width: Int, isEmbedding: Bool = false
  ) throws(BertQAError) -> AdapterWeights? {
    guard let settings else { return nil }
    let (tasks, rank) = (settings.tasks.count, settings.rank)
    // Of an embedding, A multiplies one-hot vectors of its rows.
    let names = isEmbedding ? ["A", "B"] : ["B", "A"]
    let base = "\(module).parametrizations.weight.0.lora_"
    guard try has("\(base)A") else { return nil }
    return AdapterWeights(
      left: try floats(base + names[0], shape: [tasks, rows, rank]),
      right: try floats(base + names[1], shape: [tasks, rank, width]), scale: settings.scale, rows: 0..<rows)
  }
}
