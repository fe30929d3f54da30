/// Makes the int8 form of a model directory.
///
/// Matrices and embeddings become I8 `X.weight` of the original shape, row-major. Each has a companion F32
/// `X.weight_scale` with one scale per row: value = q · scale, q in −127…127. The matrix of a linear layer
/// has a second companion, I32 `X.weight_sum`, with each row's Σ q. All other tensors become F32, including
/// those of the head, which are tiny and sensitive. Names are Hugging Face's, with prefix. Tensors that the
/// architecture does not use are omitted.
public struct Quantizer {
  private var writer: SafetensorsWriter
  private var rows = RowQuantizer()
  private var report = QuantizationReport()
  private let monitor: CallMonitor

  /// Rows are read, rounded and written in parts of about this many elements.
  private static let partCount = 1 << 16

  /// Quantizes an encoder (F32, F16 or BF16, sharded or not) to the new directory `output`, which appears
  /// complete or not at all. Takes O(rows of the largest tensor) memory.
  /// - Throws: the errors of loading; `.invalidArgument` for a model that is already int8 or that does not
  ///   use the given threshold; `.io`; `.cancelled`.
  @discardableResult
  public static func quantize(
    _ model: ModelDirectory, to output: String, options: QuantizeOptions = QuantizeOptions()
  ) throws(BertQAError) -> QuantizationReport {
    let directory = model.name
    let noAnswerThreshold = options.noAnswerThreshold
    if let noAnswerThreshold, !noAnswerThreshold.isFinite {
      throw BertQAError(
        .invalidArgument, argument: "no_answer_threshold",
        "is \(noAnswerThreshold), but must be a finite number")
    }
    guard !model.exists(Architecture.embeddingClassifierFile) else {
      throw BertQAError(
        .unsupported,
        "\(directory): is an \(Architecture.embeddingClassifier.name); quantize its embedding model and train with that"
      )
    }
    guard try model.ofStaticModel() == nil else {
      throw BertQAError(
        .unsupported, "\(directory): is a static model, which has no int8 form; use it as it is")
    }
    let model = try LoadedModel(model.asking(CallMonitor(options.call)))
    guard model.encoder.wordEmbeddings.dataType != .i8 else {
      throw BertQAError(.invalidArgument, "\(directory): the model is already int8")
    }
    guard noAnswerThreshold == nil || model.configuration.architecture.task == .answer else {
      throw BertQAError(
        .invalidArgument,
        "\(directory): a \(model.configuration.architecture.name) does not answer questions, so it has no "
          + "no-answer threshold")
    }
    return try quantize(model, to: OutputDirectory(path: output), options)
  }

  private static func quantize(
    _ model: LoadedModel, to target: OutputDirectory, _ options: QuantizeOptions
  ) throws(BertQAError) -> QuantizationReport {
    defer { withExtendedLifetime(model) {} }
    let plan = QuantizationPlan(model)
    let weights = try target.makeFile("model.safetensors")
    var quantizer = Quantizer(writer: try SafetensorsWriter(weights, plan.tensors), options.call)
    try quantizer.write(plan)
    try target.writeConfiguration(of: model, threshold: options.noAnswerThreshold)
    try target.commit(quantizer.monitor)
    return quantizer.report
  }

  private init(writer: SafetensorsWriter, _ call: CallOptions) {
    self.writer = writer
    monitor = CallMonitor(call)
  }

  private mutating func write(_ plan: QuantizationPlan) throws(BertQAError) {
    for (tensor, hasSums) in plan.quantized { try quantize(tensor, hasSums: hasSums) }
    for tensor in plan.kept { try expand(tensor) }
    try writer.finish()
    report.tensorCount = plan.tensors.count
    report.bytesRead = (plan.quantized.map(\.tensor) + plan.kept).reduce(0) { $0 + $1.bytes.count }
    report.bytesWritten = writer.layout.size
    let count = Double(report.quantizedCount)
    report.rmsWeight = (rows.squaredNorm / count).squareRoot()
    report.rmsError = (rows.squaredError / count).squareRoot()
    report.rmsErrorOfLargest = (rows.squaredErrorOfLargest / count).squareRoot()
  }

  private mutating func quantize(_ tensor: TensorView, hasSums: Bool) throws(BertQAError) {
    var scales: [Float] = []
    var sums: [Int32] = []
    let width = tensor.rowWidth
    var rounded: [Int8] = []
    try forEachPart(of: tensor) { (part, floats, quantizer) throws(BertQAError) in
      rounded = Array(repeating: 0, count: floats.count)
      for (index, row) in part.enumerated() {
        let source = UnsafeBufferPointer(rebasing: floats[index * width..<(index + 1) * width])
        let result = rounded.withUnsafeMutableBufferPointer { buffer in
          buffer.baseAddress.flatMap { quantizer.rows.quantize(source, to: $0 + index * width) }
        }
        guard let result else {
          throw BertQAError(
            .invalidModel,
            "\(tensor.file): tensor \(quoted(tensor.name)): row \(row) has an infinity or NaN")
        }
        scales.append(result.scale)
        sums.append(result.sum)
      }
      try quantizer.append(rounded, to: tensor.name)
    }
    try append(scales, to: "\(tensor.name)_scale")
    if hasSums { try append(sums, to: "\(tensor.name)_sum") }
    report.quantizedCount += tensor.rowCount * width
  }

  private mutating func expand(_ tensor: TensorView) throws(BertQAError) {
    try forEachPart(of: tensor) { (_, floats, quantizer) throws(BertQAError) in
      try quantizer.writer.append(floats, to: tensor.name)
    }
  }

  private mutating func append<Element: BitwiseCopyable>(
    _ elements: [Element], to name: String
  ) throws(BertQAError) {
    try elements.withElements { buffer throws(BertQAError) in
      try writer.append(buffer, to: name)
    }
  }

  /// Passes a tensor's elements as floats to `body`, some rows at a time.
  private mutating func forEachPart(
    of tensor: TensorView,
    _ body: (Range<Int>, UnsafeBufferPointer<Float>, inout Quantizer) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    let rowsPerPart = max(1, Self.partCount / tensor.rowWidth)
    let buffer = UnsafeMutableBufferPointer<Float>.allocate(
      capacity: rowsPerPart * tensor.rowWidth)
    defer { buffer.deallocate() }
    guard let base = buffer.baseAddress else { return }
    for first in stride(from: 0, to: tensor.rowCount, by: rowsPerPart) {
      try monitor.check()
      let part = first..<min(first + rowsPerPart, tensor.rowCount)
      tensor.copyFloats(rows: part, to: base)
      let floats = UnsafeBufferPointer(start: base, count: part.count * tensor.rowWidth)
      try body(part, floats, &self)
    }
  }
}

public struct QuantizeOptions: Sendable {
  /// Replaces the model's own threshold (`no_answer_threshold`), for models that answer.
  public var noAnswerThreshold: Float?
  public var call = CallOptions()

  public init() {}
}

/// The result of a quantization.
public struct QuantizationReport: Sendable {
  /// The number of tensors written, including scales and sums.
  public internal(set) var tensorCount = 0
  /// The number of weights rounded to int8.
  public internal(set) var quantizedCount = 0
  /// The bytes of the tensors that were read.
  public internal(set) var bytesRead = 0
  /// The bytes of the new model.safetensors.
  public internal(set) var bytesWritten = 0
  /// The root mean square of the quantized weights.
  public internal(set) var rmsWeight = 0.0
  /// The root mean square of their change.
  public internal(set) var rmsError = 0.0
  /// The value of `rmsError` if each row's scale came from its largest magnitude.
  public internal(set) var rmsErrorOfLargest = 0.0
}
