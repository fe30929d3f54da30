/// Finds entities of texts with a model. Immutable.
protocol EntityFinder: Sendable {
  var tokenizer: any Tokenizer { get }

  /// Returns one result or failure per text, in order. Throws failures of the whole call.
  func recognizeEach(
    _ texts: [UnsafeBufferPointer<UInt8>], _ options: EntityOptions
  ) throws(BertQAError) -> [Result<EntityList, BertQAError>]
}

/// A text and the results of its windows so far.
protocol EntityWindows {
  /// The item to read; a text without tokens has no windows.
  var item: WindowReader.Item { get }
}

extension WindowReader {
  /// Returns one result or failure per text, in order.
  /// - Parameters:
  ///   - begin: tokenizes a text.
  ///   - take: takes a window's numbers, in order.
  ///   - finish: returns the entities of all windows of a text.
  func entities<Work: EntityWindows>(
    of texts: [UnsafeBufferPointer<UInt8>], _ monitor: CallMonitor,
    begin: (UnsafeBufferPointer<UInt8>) throws(BertQAError) -> Work,
    take: (Work, Output) throws(BertQAError) -> Void,
    finish: (Work) throws(BertQAError) -> EntityList
  ) throws(BertQAError) -> [Result<EntityList, BertQAError>] {
    try monitor.check()
    var results = try [Result<EntityList, BertQAError>](results: .missing, count: texts.count, monitor)
    var work = try [Work?](results: nil, count: texts.count, monitor)
    try read(count: texts.count, called: "texts", monitor) { index throws(BertQAError) in
      let one = try monitor.undoing { () throws(BertQAError) in try begin(texts[index]) }
      let item = one.item
      if item.windows.isEmpty { results[index] = .success(EntityList()) } else { work[index] = one }
      return item
    } failed: { index, error throws(BertQAError) in
      results[index] = .failure(error)
      work[index] = nil
    } deliver: { output throws(BertQAError) in
      guard let one = work[output.item] else { return }
      try take(one, output)
      guard output.isLastOfItem else { return }
      work[output.item] = nil
      results[output.item] = .success(try finish(one))
    }
    return results
  }
}

/// Finds entities of texts with an encoder that labels tokens.
struct EntityRecognizer: EntityFinder {
  var reader: WindowReader
  /// By column of the head.
  let labels: EntityLabels
  /// The default for calls; not `model`.
  let aggregation: TokenAggregation
  /// The default number of tokens of a window; nil: as many as the model takes. Models that learned from single sentences
  /// find less in longer texts.
  let window: Int?

  var tokenizer: any Tokenizer { reader.tokenizer }

  init(reader: WindowReader, labels: [String], aggregation: TokenAggregation, window: Int?) {
    self.reader = reader
    self.labels = EntityLabels(labels)
    self.aggregation = aggregation == .model ? .simple : aggregation
    self.window = window
  }

  func recognizeEach(
    _ texts: [UnsafeBufferPointer<UInt8>], _ options: EntityOptions
  ) throws(BertQAError) -> [Result<EntityList, BertQAError>] {
    let monitor = CallMonitor(options.call)
    guard !options.isNested else {
      throw BertQAError(
        .invalidArgument, argument: "nested",
        "is on, but this model labels tokens, so its entities never overlap")
    }
    // Strides are Hugging Face's windows.
    let layout = try WindowLayout(
      maxSequenceLength: options.maxSequenceLength,
      defaultLength: options.documentStride == nil ? window : nil, documentStride: options.documentStride,
      maxPositions: reader.maxPositions, template: tokenizer.template)
    let aggregation = options.aggregation == .model ? aggregation : options.aggregation
    try options.checkThresholds()
    let aggregator = EntityAggregator(
      labels, aggregation, thresholds: try labels.thresholds(options, aggregation), monitor)
    return try reader.entities(of: texts, monitor) { text throws(BertQAError) in
      try EntityWork(text, tokenizer, layout, aggregator, labelCount: labels.count, monitor)
    } take: { one, output throws(BertQAError) in
      try one.add(output)
    } finish: { one throws(BertQAError) in
      try one.result { labels.title($0, aggregation) }
    }
  }
}

/// Options for finding entities. The names in parentheses are those of the C header.
public struct EntityOptions: BatchOptions, Sendable {
  public var aggregation = TokenAggregation.model
  /// The labels to return, with or without B- and I-; empty: all that are not ignored. For a model that finds what
  /// labels name, the labels to find: at least one.
  public var labels: [String] = []
  /// The labels to omit, spelled as in results (`ignore_labels`).
  public var ignoredLabels = ["O"]
  /// Omits entities with a lower score, 0...1. 0 is 0.5 for a model that finds what labels name.
  public var threshold: Float = 0
  /// The threshold of each of `labels`, by the same index; 0 is `threshold`. Empty: `threshold` for all.
  public var thresholds: [Float] = []
  /// The number of tokens in a window, including special tokens (`max_seq_len`); at least 8. nil: what the
  /// model's `config.json` names (`"bertqa": {"max_seq_length": …}`) if `documentStride` is nil, else as many as the model
  /// takes.
  public var maxSequenceLength: Int?
  /// The number of tokens that two neighbouring windows of a long text share (`doc_stride`); nil: windows end
  /// where sections of the text do.
  public var documentStride: Int?
  /// For a model that finds what labels name: an entity may lie within another one (`nested`). False: of entities that
  /// overlap, the one of the highest score stays.
  public var isNested = false
  public var call = CallOptions()

  public init() {}

  func checkThresholds() throws(BertQAError) {
    try BertQAError.check("threshold", threshold, (0...1).contains(threshold), "0 to 1")
    guard thresholds.isEmpty || thresholds.count == labels.count else {
      throw BertQAError(
        .invalidArgument, argument: "thresholds",
        "has \(thresholds.count) elements, but labels has \(labels.count)")
    }
    for (index, threshold) in thresholds.enumerated() where !(threshold >= 0 && threshold <= 1) {
      throw BertQAError(
        .invalidArgument, argument: "thresholds",
        "has \(threshold) for the label \(quoted(labels[index])), but must have 0 to 1")
    }
  }

  /// 0: the model's default.
  func threshold(ofLabelAt index: Int) -> Float {
    guard index < thresholds.count, thresholds[index] > 0 else { return threshold }
    return thresholds[index]
  }
}
