/// Computes vectors of texts.
protocol Embedder: Sendable {
  var tokenizer: any Tokenizer { get }

  /// The number of floats in a vector.
  var length: Int { get }

  /// nil if tokens have no vectors of their own.
  var tokens: TokenEmbedder? { get }

  /// Calls `body` with the index, vector ([length]) and number of windows of each text, in order.
  /// - Parameters:
  ///   - name: the name of the array of texts in error messages.
  ///   - failed: receives a text's failure. An error that it throws ends the call.
  func forEachVector(
    of texts: [TextPair], called name: String, _ options: EmbedOptions,
    failed: (Int, BertQAError) throws(BertQAError) -> Void,
    _ body: (Int, UnsafePointer<Float>, _ windowCount: Int) throws(BertQAError) -> Void
  ) throws(BertQAError)
}

/// Computes vectors of texts with an encoder. Immutable.
struct TextEmbedder: Embedder {
  let reader: TextReader
  /// The settings of the model's files.
  let defaults: EmbeddingConfiguration
  let length: Int
  let tokens: TokenEmbedder?
  /// nil if the model has no adapters of tasks.
  let tasks: TaskEncoders?

  var tokenizer: any Tokenizer { reader.reader.tokenizer }

  var prompts: EmbeddingPrompts { defaults.prompts }

  /// A shorter vector has no direction, as in PyTorch's `normalize`.
  private static let leastNorm = 1e-12

  func forEachVector(
    of texts: [TextPair], called name: String, _ options: EmbedOptions,
    failed: (Int, BertQAError) throws(BertQAError) -> Void,
    _ body: (Int, UnsafePointer<Float>, _ windowCount: Int) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    guard defaults.hasTextVectors else {
      throw BertQAError(
        .unsupported,
        "the model has no vectors of texts, only "
          + (defaults.sparse == nil ? "vectors of tokens" : "weights of vocabulary pieces")
          + ", which embed_tokens computes")
    }
    let pooling: TokenPooling =
      switch options.pooling {
      case .model: defaults.pooling
      case .mean: .mean
      case .cls: .first
      }
    guard pooling.modes.count == defaults.pooling.modes.count else {
      throw BertQAError(
        .unsupported, argument: "pooling",
        "must be the model's: its vectors consist of \(defaults.pooling.modes.count) poolings")
    }
    let layout = try windows(options)
    let normalizes = options.normalizes ?? defaults.normalizes
    // After a linear layer, vectors have no pooling modes, so windows are averaged.
    var windows = PooledWindows(count: length, defaults.dense.isEmpty ? pooling : .mean)
    let buffer = try AlignedBuffer<Float>(uninitializedCount: length)
    let vector = UnsafeMutableBufferPointer(start: buffer.base, count: length)
    var windowCount = 0
    let prompt = TextReader.Prompt(
      text: try prompts.text(named: options.promptName, otherwise: options.prompt),
      isPooled: prompts.isPooled,
      lowercases: defaults.lowercases
    )
    let reader = try reader.asking(
      for: prompts.name(options.promptName, otherwise: options.prompt), of: tasks, options.call)
    try reader.read(texts, called: name, behind: prompt, giving: .window(pooling), layout, options.call) {
      index, error throws(BertQAError) in
      windows.removeAll()
      windowCount = 0
      try failed(index, error)
    } _: { output throws(BertQAError) in
      windows.add(output.values, tokenCount: output.tokenCount - output.unpooledCount)
      windowCount += 1
      guard output.isLastOfItem else { return }
      windows.take(into: vector)
      try Self.finish(vector, normalizes: normalizes)
      try body(output.item, UnsafePointer(buffer.base), windowCount)
      windowCount = 0
    }
  }

  private func windows(_ options: EmbedOptions) throws(BertQAError) -> WindowLayout {
    WindowLayout(
      maxSequenceLength: try WindowLayout.length(
        options.maxSequenceLength, default: defaults.maxSequenceLength, reader.reader.maxPositions),
      division: options.truncates ? .truncated(atStart: defaults.truncatesStart) : .sections(overlap: 0),
      template: reader.reader.tokenizer.template)
  }

  /// Checks a vector's numbers and, if asked, scales it to length 1.
  static func finish(
    _ vector: UnsafeMutableBufferPointer<Float>, normalizes: Bool
  ) throws(BertQAError) {
    guard vector.allSatisfy(\.isFinite) else {
      throw .nonFiniteResult("a vector whose numbers are not all finite")
    }
    if normalizes { normalize(vector) }
  }

  /// Scales a vector to length 1.
  static func normalize(_ vector: UnsafeMutableBufferPointer<Float>) {
    var squares = 0.0
    for value in vector { squares += Double(value) * Double(value) }
    let scale = 1 / max(squares.squareRoot(), leastNorm)
    for index in vector.indices { vector[index] = Float(Double(vector[index]) * scale) }
  }
}

/// Combines the vectors of a text's windows, added one at a time, into one: that of all their tokens, except that
/// windows count equally for `cls`, and by their numbers of tokens for `weightedmean`.
private struct PooledWindows {
  private let modes: [TokenPooling.Mode]
  private var numbers: [Double]
  private var windowCount = 0
  private var tokenCount = 0

  init(count: Int, _ pooling: TokenPooling) {
    modes = pooling.modes
    numbers = [Double](repeating: 0, count: count)
  }

  private var width: Int { numbers.count / modes.count }

  /// - Parameter added: at least 1.
  mutating func add(_ vector: UnsafePointer<Float>, tokenCount added: Int) {
    let width = width
    for (part, mode) in modes.enumerated() {
      let weight = Self.weight(mode, windows: 1, tokens: added)
      for index in part * width..<(part + 1) * width {
        let number = Double(vector[index]) * weight
        switch mode {
        case .max where windowCount > 0: numbers[index] = Swift.max(numbers[index], number)
        case .max, .last: numbers[index] = number
        default: numbers[index] += number
        }
      }
    }
    windowCount += 1
    tokenCount += added
  }

  /// Writes the vector and starts another text. The vector of a single window is unchanged: products and quotients
  /// are exact in double precision, or nearly so with a root.
  mutating func take(into vector: UnsafeMutableBufferPointer<Float>) {
    let width = width
    for (part, mode) in modes.enumerated() {
      let weight = Self.weight(mode, windows: windowCount, tokens: tokenCount)
      for index in part * width..<(part + 1) * width { vector[index] = Float(numbers[index] / weight) }
    }
    removeAll()
  }

  private static func weight(_ mode: TokenPooling.Mode, windows: Int, tokens: Int) -> Double {
    switch mode {
    case .first: Double(windows)
    case .max, .last: 1
    case .mean, .weighted: Double(tokens)
    case .meanOfRoot: Double(tokens).squareRoot()
    }
  }

  mutating func removeAll() {
    for index in numbers.indices { numbers[index] = 0 }
    (windowCount, tokenCount) = (0, 0)
  }
}

/// Options for computing vectors.
public struct EmbedOptions: BatchOptions, Sendable {
  public var pooling = Pooling.model
  /// Scales vectors to length 1 (`normalize`); nil: as the model's files specify.
  public var normalizes: Bool?
  /// The number of tokens in a window, including special tokens (`max_seq_len`); at least 8. nil: as the
  /// model's files specify.
  public var maxSequenceLength: Int?
  /// Truncates longer texts, as sentence-transformers does. Otherwise they are read in windows, whose vectors
  /// are averaged by their number of tokens, or with equal weights for `Pooling.cls`.
  public var truncates = false
  /// The name of the prompt, in the model's files, that is put before each text (`prompt_name`); nil: the model's
  /// default, if it has one.
  public var promptName: String?
  /// A prompt in place of the model's; empty: none. nil: that of `promptName`.
  public var prompt: String?
  public var call = CallOptions()

  public init() {}

  /// How the last layer's token vectors become one vector, with the numbers of `bertqa_pooling`.
  public enum Pooling: Int32, Sendable, CaseIterable {
    /// As the model's sentence-transformers files specify, else the mean.
    case model = 0
    /// The mean over all tokens, including [CLS] and [SEP].
    case mean = 1
    /// The vector of [CLS].
    case cls = 2
  }
}
