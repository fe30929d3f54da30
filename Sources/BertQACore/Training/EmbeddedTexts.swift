/// Texts as vectors of an embedding model, each of length 1. Each text is read once, in groups, so that windows of
/// several texts are computed together.
final class EmbeddedTexts: FeatureSource {
  private let context: Context
  private let embedder: any Embedder
  private let directory: ModelDirectory
  /// The model's files.
  private let opened: OpenedFiles
  /// [text][embedder.length], without the texts that wait.
  private var vectors = GrowableBuffer<Float>()
  /// The bytes of the texts that wait, and the end of each.
  private var waiting = GrowableBuffer<UInt8>()
  private var ends: [Int] = []

  private static let groupCount = 256
  /// In bytes.
  private static let groupSize = 1 << 20
  /// The number of bytes of a file that are written between two polls.
  private static let partSize = 16 << 20

  /// - Throws: the errors of loading; `.wrongModel` if it is no embedding model.
  init(_ options: TrainOptions) throws(BertQAError) {
    opened = OpenedFiles()
    if let model = options.embeddingModel {
      directory = ModelDirectory(pathOrName: model).recording(opened)
    } else {
      directory = ModelDirectory(path: try DefaultModel.directory(for: .embed)).recording(opened)
    }
    var own = ContextOptions()
    own.threads = options.threads
    own.call = options.call
    context = try Context(model: directory, options: own)
    embedder = try context.embedder()
  }

  var kind: TrainingFeatures { .embedding }

  var byteCount: Int {
    vectors.byteCount + waiting.byteCount + ends.capacity * MemoryLayout<Int>.stride
      + ends.count * embedder.length * MemoryLayout<Float>.stride
  }

  /// Computes the vectors of texts that wait, if the group has no room for one more, and makes that room. A failure
  /// loses no text.
  func makeRoom(
    for text: UnsafeBufferPointer<UInt8>, _ call: CallOptions, _ monitor: CallMonitor
  ) throws(BertQAError) {
    if call.maxDocumentTokens > 0 { _ = try TokenizedText(text, embedder.tokenizer, monitor) }
    if ends.count == Self.groupCount || !ends.isEmpty && waiting.count + text.count > Self.groupSize {
      try embedWaiting(call)
    }
    try monitor.hold(byteCount + text.count)
    try ends.makeRoom(for: 1)
    try waiting.makeRoom(for: text.count)
  }

  /// Adds a text for which there is room.
  func add(_ text: UnsafeBufferPointer<UInt8>) throws(BertQAError) {
    if let base = text.baseAddress { try waiting.append(base, count: text.count) }
    ends.append(waiting.count)
  }

  private func embedWaiting(_ call: CallOptions) throws(BertQAError) {
    if ends.isEmpty { return }
    let monitor = CallMonitor(call)
    // The caller counts what remains.
    let before = monitor.heldBytes
    defer { monitor.release(monitor.heldBytes - before) }
    try monitor.hold(byteCount)
    let embedder = try context.embedder()
    let length = embedder.length
    let count = vectors.count
    try vectors.makeRoom(for: ends.count * length)
    var texts: [TextPair] = []
    var start = 0
    for end in ends {
      texts.append(TextPair(text: UnsafeBufferPointer(start: waiting.base + start, count: end - start)))
      start = end
    }
    var options = EmbedOptions()
    options.normalizes = true
    options.call = call
    options.call.ledger = monitor.ledger
    options.call.stopsAtFailure = true
    // Each text's was counted when it was added.
    options.call.maxDocumentTokens = 0
    options.call.progress = nil
    do throws(BertQAError) {
      try embedder.forEachVector(of: texts, called: "texts", options) { _, error throws(BertQAError) in
        throw error
      } _: { _, vector, _ throws(BertQAError) in
        try vectors.append(vector, count: length)
      }
    } catch {
      vectors.truncate(to: count)
      throw error.item.map { error.of(item: count / length + $0, in: "texts") } ?? error
    }
    waiting.truncate(to: 0)
    ends.removeAll(keepingCapacity: true)
  }

  func begin(_ call: CallOptions, _ monitor: CallMonitor) throws(BertQAError) { try embedWaiting(call) }

  func selection(rows: [Int], _ monitor: CallMonitor) throws(BertQAError) -> FeatureSelection? { nil }

  func matrix(
    rows: [Int], _ selection: FeatureSelection?, _ monitor: CallMonitor
  ) throws(BertQAError) -> FeatureMatrix {
    try FeatureMatrix(vectors: vectors, length: embedder.length, rows: rows, monitor)
  }

  func occurrenceCount(row: Int, _ selection: FeatureSelection?) -> Int { 0 }

  func model(
    _ fitted: borrowing FittedModel, labels: [String], temperature: LengthTemperature, _ monitor: CallMonitor
  ) throws(BertQAError) -> any TrainedModel {
    let length = embedder.length
    var weights = try [Float](repeating: 0, count: labels.count * length, monitor)
    for label in labels.indices {
      for index in 0..<length {
        weights[label * length + index] = Float(fitted.model.weights[index * labels.count + label])
      }
    }
    let head = LinearHead(
      labels: labels, weights: weights, bias: fitted.model.bias.map { Float($0) }, temperature: temperature)
    return Trained(head: head, texts: self)
  }

  /// The head of a classifier and the model whose vectors it reads.
  private struct Trained: TrainedModel {
    let head: LinearHead
    let texts: EmbeddedTexts

    /// Writes the head, and copies the files of the embedding model.
    func write(
      to target: OutputDirectory, training: JSON.Object, _ monitor: CallMonitor
    ) throws(BertQAError) {
      try head.write(to: target, training: training)
      for name in texts.opened.names where !LinearHead.isFile(name) {
        let source = try texts.directory.file(name)
        let copy = try target.makeFile(name)
        for start in stride(from: 0, to: source.bytes.count, by: EmbeddedTexts.partSize) {
          try monitor.check()
          let end = min(start + EmbeddedTexts.partSize, source.bytes.count)
          try copy.write(UnsafeRawBufferPointer(rebasing: source.bytes[start..<end]), at: start)
        }
        try copy.finish()
        withExtendedLifetime(source) {}
      }
    }
  }
}
