/// Computes vectors of texts with a static model. Immutable.
final class StaticEmbedder: Sendable {
  private let model: StaticModel
  let tokenizer: any Tokenizer
  private let kernels: Kernels
  /// The maximum number of threads for one call; 0: as many as are available.
  private let threadLimit: Int
  private let scratch = ObjectPool<StaticScratch>()

  init(
    _ model: StaticModel, kernels: Kernels, threadLimit: Int, _ monitor: CallMonitor
  ) throws(BertQAError) {
    self.model = model
    self.kernels = kernels
    self.threadLimit = threadLimit
    tokenizer = try model.tokenizer.makeTokenizer(monitor)
    // Made here because a fork in another thread could interrupt the first call.
    _ = ThreadPool.shared
  }

  /// The settings for each text of a call.
  fileprivate struct Settings {
    var prompt: TextReader.Prompt
    var limit: StaticModel.Limit?
    var normalizes: Bool
  }

  /// Writes the vector of one text, [length]. May be called on any thread.
  fileprivate func embed(
    _ pair: TextPair, _ settings: Settings, _ monitor: CallMonitor,
    into vector: UnsafeMutableBufferPointer<Float>
  ) throws(BertQAError) {
    guard pair.second == nil else {
      throw BertQAError(
        .invalidArgument, argument: "second", "is set, but a static model reads only single texts")
    }
    try TextLimit.check(pair.text, "text")
    let scratch = self.scratch.take() ?? StaticScratch(model)
    defer {
      scratch.removeAll()
      self.scratch.give(scratch)
    }
    let limit = settings.limit
    try settings.prompt.prepending(to: pair.text, monitor) { text throws(BertQAError) in
      let text = limit.map { Self.cut(text, $0) } ?? text
      try tokenizer.tokenize(text, parseSpecialTokens: false, into: &scratch.tokens, monitor)
    }
    try scratch.count(limit?.tokens ?? .max, of: model)
    try scratch.sum(of: model, kernels, monitor, into: vector)
    try TextEmbedder.finish(vector, normalizes: settings.normalizes)
  }

  /// Returns the first characters of a text, as many as model2vec reads.
  private static func cut(
    _ text: UnsafeBufferPointer<UInt8>, _ limit: StaticModel.Limit
  ) -> UnsafeBufferPointer<UInt8> {
    guard let perToken = limit.charactersPerToken else { return text }
    let (characters, overflow) = limit.tokens.multipliedReportingOverflow(by: perToken)
    guard !overflow, text.count > characters else { return text }
    var left = characters
    for (index, byte) in text.enumerated() where byte & 0xC0 != 0x80 {
      if left == 0 { return UnsafeBufferPointer(rebasing: text[..<index]) }
      left -= 1
    }
    return text
  }
}

extension StaticEmbedder: Embedder {
  var length: Int { model.width }

  var prompts: EmbeddingPrompts { model.prompts }

  var tokens: TokenEmbedder? { nil }

  func forEachVector(
    of texts: [TextPair], called name: String, _ options: EmbedOptions,
    failed: (Int, BertQAError) throws(BertQAError) -> Void,
    _ body: (Int, UnsafePointer<Float>, _ windowCount: Int) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    guard options.pooling != .cls else {
      throw BertQAError(
        .unsupported, argument: "pooling", "must be mean: a static model's vectors have no [CLS]")
    }
    if let length = options.maxSequenceLength {
      _ = try WindowLayout.length(length, default: length, .max)
    }
    var limit = options.truncates ? model.limit : nil
    if options.truncates, let length = options.maxSequenceLength {
      limit = StaticModel.Limit(tokens: length, charactersPerToken: model.limit?.charactersPerToken)
    }
    let settings = Settings(
      prompt: TextReader.Prompt(
        text: try prompts.text(named: options.promptName, otherwise: options.prompt)),
      limit: limit, normalizes: options.normalizes ?? model.normalizes)
    let monitor = CallMonitor(options.call)
    try monitor.checkNow()
    var first = 0
    while first < texts.count {
      let slice = Slice.end(from: first, of: texts, length)
      let batch = try Slice(texts, first..<slice, length: length, settings, monitor)
      monitor.report(done: first, of: texts.count)
      let groups = TextGroups(first..<slice, byteCount: { texts[$0].text.count }, monitor)
      try groups.run(threads: threadLimit > 0 ? threadLimit : ThreadPool.shared.size) {
        [self] index, isCaller throws(BertQAError) in
        try batch.embed(index, isCaller: isCaller, by: self)
      }
      try batch.deliver(called: name, failed: failed, body)
      first = slice
    }
    monitor.report(done: texts.count, of: texts.count)
  }
}

/// Some texts of a call and their vectors.
private final class Slice: @unchecked Sendable {
  // Sendable: each thread writes the vectors and failures of its own texts, which no other thread reads before all
  // are done.

  private let texts: [TextPair]
  private let range: Range<Int>
  private let length: Int
  private let settings: StaticEmbedder.Settings
  private let monitor: CallMonitor
  /// [range.count][length]
  private let vectors: SharedBuffer<Float>
  private let failures: UnsafeMutableBufferPointer<BertQAError?>

  /// The bytes of vectors and of texts of one slice.
  private static let (vectorBytes, textBytes) = (1 << 22, 1 << 24)

  /// Returns the end of the slice that begins at `first`.
  static func end(from first: Int, of texts: [TextPair], _ length: Int) -> Int {
    let most = max(1, vectorBytes / (MemoryLayout<Float>.stride * max(1, length)))
    var (end, bytes) = (first, 0)
    while end < texts.count, end - first < most, bytes < textBytes {
      bytes += texts[end].text.count
      end += 1
    }
    return end
  }

  init(
    _ texts: [TextPair], _ range: Range<Int>, length: Int, _ settings: StaticEmbedder.Settings,
    _ monitor: CallMonitor
  ) throws(BertQAError) {
    self.texts = texts
    self.range = range
    self.length = length
    self.settings = settings
    self.monitor = monitor
    vectors = try SharedBuffer(count: range.count * length)
    failures = .allocate(capacity: range.count)
    failures.initialize(repeating: nil)
  }

  deinit {
    failures.deinitialize()
    failures.deallocate()
  }

  /// Throws only failures of the whole call.
  func embed(_ index: Int, isCaller: Bool, by embedder: StaticEmbedder) throws(BertQAError) {
    do throws(BertQAError) {
      try embedder.embed(
        texts[index], settings, monitor.part(isCaller: isCaller),
        into: UnsafeMutableBufferPointer(
          start: vectors.base + (index - range.lowerBound) * length, count: length))
    } catch {
      failures[index - range.lowerBound] = error
      if error.concernsWholeCall { throw error }
    }
  }

  func deliver(
    called name: String, failed: (Int, BertQAError) throws(BertQAError) -> Void,
    _ body: (Int, UnsafePointer<Float>, _ windowCount: Int) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    for index in range {
      var failure = failures[index - range.lowerBound]
      if failure == nil {
        do throws(BertQAError) {
          try body(index, UnsafePointer(vectors.base + (index - range.lowerBound) * length), 1)
        } catch {
          failure = error
        }
      }
      guard let failure else { continue }
      try failed(
        index, WindowReader.failure(failure, ofItem: index, in: name, count: texts.count, monitor))
    }
  }
}

/// Memory for one text at a time.
private final class StaticScratch {
  var tokens = Tokens()
  /// How often an id occurs, for long texts: [ids] of zeros between texts; empty before the first such text.
  private var counts: [UInt32] = []
  /// The rows of the table that are added, and their factors.
  private var rows: [Int32] = []
  private var factors: [Float] = []
  private var tokenCount = 0
  /// [width], sums of several groups of rows.
  private var sums: [Double]

  /// Texts of at least this many tokens are counted: the number of distinct ids then determines the time.
  private static let countedTokens = 512
  /// The number of rows added in single precision before their sum is added in double precision.
  private static let groupRows = 64
  private static let keptBytes = 1 << 22

  init(_ model: StaticModel) { sums = [Double](repeating: 0, count: model.width) }

  /// Forgets the text. Keeps memory of a size that texts often need.
  func removeAll() {
    if tokens.capacityBytes > Self.keptBytes { tokens = Tokens() }
    tokens.removeAll()
    rows.removeAll(keepingCapacity: true)
    factors.removeAll(keepingCapacity: true)
  }

  /// Finds the rows of the first tokens, at most `limit`.
  func count(_ limit: Int, of model: StaticModel) throws(BertQAError) {
    let ids = tokens.ids.prefix(limit)
    let ignored = model.ignoredID ?? -1
    tokenCount = 0
    guard ids.count >= Self.countedTokens else {
      for id in ids where id != ignored { add(id, 1, of: model) }
      tokenCount = rows.count
      return
    }
    if counts.isEmpty {
      try Memory.require(model.tokenizer.vocabularySize, of: UInt32.self)
      counts = [UInt32](repeating: 0, count: model.tokenizer.vocabularySize)
    }
    var distinct: [Int32] = []
    counts.withUnsafeMutableBufferPointer { counts in
      for id in ids where id != ignored {
        if counts[Int(id)] == 0 { distinct.append(id) }
        counts[Int(id)] &+= 1
        tokenCount += 1
      }
    }
    for id in distinct {
      add(id, Float(counts[Int(id)]), of: model)
      counts[Int(id)] = 0
    }
  }

  private func add(_ id: Int32, _ count: Float, of model: StaticModel) {
    rows.append(model.rows?[Int(id)] ?? id)
    factors.append(model.factors.map { $0[Int(id)] * count } ?? count)
  }

  /// Writes the mean of the rows; zeros if there are none, as both packages do.
  func sum(
    of model: StaticModel, _ kernels: Kernels, _ monitor: CallMonitor,
    into vector: UnsafeMutableBufferPointer<Float>
  ) throws(BertQAError) {
    guard let base = vector.baseAddress else { return }
    let width = model.width
    for index in sums.indices { sums[index] = 0 }
    for first in stride(from: 0, to: rows.count, by: Self.groupRows) {
      if first > 0 { try monitor.check() }
      let count = min(Self.groupRows, rows.count - first)
      rows.withUnsafeBufferPointer { rows in
        factors.withUnsafeBufferPointer { factors in
          guard let row = rows.baseAddress, let factor = factors.baseAddress else { return }
          kernels.table.sum_rows(
            model.table.bytes.baseAddress, model.table.dataType.format, row + first, factor + first, count,
            width,
            base)
        }
      }
      for index in 0..<width { sums[index] += Double(base[index]) }
    }
    let count = Double(max(1, tokenCount))
    for index in 0..<width { base[index] = Float(sums[index] / count) }
  }
}
