/// Computes a vector for each token of texts, or a weight for vocabulary pieces. Immutable.
struct TokenEmbedder: Sendable {
  let reader: TextReader
  /// The settings of the model's files.
  let defaults: EmbeddingConfiguration
  /// The number of floats in a token's vector.
  let width: Int
  private let tasks: TaskEncoders?
  /// nil: the result is vectors of tokens.
  private let vocabulary: VocabularyHead?
  /// nil: vectors are those of the last layer.
  private let lateInteraction: Reading?

  /// A late interaction with the ids of its pieces.
  private struct Reading {
    var query: Side
    var document: Side
    var expansion: Int32?
    var attendsToExpansion: Bool
    var skipped: Set<Int32>

    struct Side {
      var marker: Int32?
      var length: Int
    }

    init(_ settings: LateInteraction, _ tokenizer: any Tokenizer) throws(BertQAError) {
      func id(_ piece: String) throws(BertQAError) -> Int32 {
        if let id = tokenizer.id(spelled: piece) { return id }
        throw BertQAError(
          .invalidModel,
          "the model marks texts and fills up queries with \(quoted(piece)), which is not in its vocabulary")
      }
      func side(_ side: LateInteraction.Side) throws(BertQAError) -> Side {
        Side(
          marker: try side.marker.map { piece throws(BertQAError) in try id(piece) }, length: side.length)
      }
      query = try side(settings.query)
      document = try side(settings.document)
      expansion = try settings.expansion.map { piece throws(BertQAError) in try id(piece) }
      attendsToExpansion = settings.attendsToExpansion
      skipped = Set(settings.skipped.compactMap { tokenizer.id(spelled: $0) })
    }
  }

  /// The number of tokens read at once. Their vectors are in memory together.
  private static let sliceTokens = 8192

  init(
    _ reader: TextReader, _ defaults: EmbeddingConfiguration, _ encoder: Encoder, _ tasks: TaskEncoders?
  ) throws(BertQAError) {
    var reader = reader
    self.tasks = tasks
    reader.reader.sliceTokens = Self.sliceTokens
    self.reader = reader
    self.defaults = defaults
    width = defaults.sparse == nil ? defaults.tokenLength(hiddenSize: encoder.configuration.hiddenSize) : 1
    vocabulary = defaults.sparse.flatMap { VocabularyHead(encoder, $0) }
    if let own = defaults.lateInteraction, own.expansion != nil, !own.attendsToExpansion,
      encoder.configuration.disentangled != nil
    {
      throw BertQAError(
        .unsupported,
        "late interaction with queries that are filled up without attention is not supported for DeBERTa")
    }
    lateInteraction = try defaults.lateInteraction.map { settings throws(BertQAError) in
      try Reading(settings, reader.reader.tokenizer)
    }
  }

  /// Calls `body` with the index and vectors of each text, in order.
  func forEachVectors(
    of texts: [TextPair], called name: String, _ options: EmbedOptions,
    failed: (Int, BertQAError) throws(BertQAError) -> Void,
    _ body: (Int, TokenVectors) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    guard options.pooling == .model else {
      throw BertQAError(
        .invalidArgument, argument: "pooling", "must be the default: each token has a vector of its own")
    }
    guard vocabulary == nil || options.normalizes != true else {
      throw BertQAError(
        .unsupported, argument: "normalize", "must be the default: the model has weights of vocabulary pieces"
      )
    }
    var reader = try reader.asking(
      for: defaults.prompts.name(options.promptName, otherwise: options.prompt), of: tasks, options.call)
    var length = defaults.maxSequenceLength
    var promptName = options.promptName
    var (truncates, skipped) = (options.truncates, Set<Int32>())
    if let own = lateInteraction {
      let isQuery = (options.promptName ?? defaults.prompts.defaultName) == PromptName.query
      let side = isQuery ? own.query : own.document
      length = side.length
      truncates = truncates || isQuery
      var template = reader.reader.tokenizer.template
      if let marker = side.marker { template.prefix.append(marker) }
      var frame = WindowFrame(template: template)
      if isQuery, let expansion = own.expansion {
        frame.padding = WindowFrame.Padding(
          id: expansion,
          length: min(options.maxSequenceLength ?? length, reader.reader.maxPositions),
          isAttended: own.attendsToExpansion)
      }
      if !isQuery {
        skipped = own.skipped
        promptName = promptName ?? defaults.prompts.defaultName ?? PromptName.document
      }
      reader.reader.frame = frame
    }
    let template = reader.reader.frame?.template ?? reader.reader.tokenizer.template
    let layout = WindowLayout(
      maxSequenceLength: try WindowLayout.length(
        options.maxSequenceLength, default: length, reader.reader.maxPositions),
      division: truncates ? .truncated(atStart: defaults.truncatesStart) : .sections(overlap: 0),
      template: template)
    let normalizes = options.normalizes ?? (lateInteraction != nil)
    let prompt = TextReader.Prompt(
      text: try defaults.prompts.text(named: promptName, otherwise: options.prompt),
      lowercases: defaults.lowercases)
    let monitor = CallMonitor(options.call)
    if let vocabulary {
      return try read(texts, vocabulary, name, prompt, layout, options.call, failed: failed, body)
    }
    var vectors = TokenVectors(width: width)
    try reader.read(texts, called: name, behind: prompt, giving: .tokens, layout, options.call) {
      index, error throws(BertQAError) in
      monitor.release(vectors.byteCount)
      vectors = TokenVectors(width: width)
      try failed(index, error)
    } _: { output throws(BertQAError) in
      try vectors.append(output, skipping: skipped, normalizes: normalizes, monitor)
      guard output.isLastOfItem else { return }
      let finished = vectors
      vectors = TokenVectors(width: width)
      try body(output.item, finished)
    }
  }

  private func read(
    _ texts: [TextPair], _ vocabulary: VocabularyHead, _ name: String, _ prompt: TextReader.Prompt,
    _ layout: WindowLayout, _ call: CallOptions,
    failed: (Int, BertQAError) throws(BertQAError) -> Void,
    _ body: (Int, TokenVectors) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    let monitor = CallMonitor(call)
    let weights = try SharedBuffer<Float>(count: vocabulary.count)
    func clear() { weights.base.update(repeating: 0, count: weights.count) }
    clear()
    try reader.read(texts, called: name, behind: prompt, giving: .tokens, layout, call) {
      index, error throws(BertQAError) in
      clear()
      try failed(index, error)
    } _: { output throws(BertQAError) in
      try vocabulary.add(output, to: weights.base, monitor)
      guard output.isLastOfItem else { return }
      defer { clear() }
      var found = TokenVectors(width: 1, isOfPieces: true)
      for piece in 0..<weights.count where weights.base[piece] != 0 {
        guard weights.base[piece].isFinite else {
          throw .nonFiniteResult("a weight that is not a finite number")
        }
        found.ids.append(Int32(piece))
        found.values.append(weights.base[piece])
      }
      try monitor.holdResult(2 * found.ids.count, of: Float.self)
      try body(output.item, found)
    }
  }
}

extension TokenVectors {
  /// The bytes that `append` has counted.
  fileprivate var byteCount: Int { (ids.capacity + values.capacity) * MemoryLayout<Float>.stride }

  /// Appends the vectors of a window's tokens. Their memory counts for the call.
  fileprivate mutating func append(
    _ output: WindowReader.Output, skipping skipped: Set<Int32>, normalizes: Bool, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try ids.makeRoom(for: output.tokenCount, monitor)
    try values.makeRoom(for: output.tokenCount * width, monitor)
    for (token, id) in output.ids.enumerated() where !skipped.contains(id) {
      let first = values.count
      ids.append(id)
      for column in 0..<width { values.append(output.values[column * output.stride + token]) }
      try values.withMutableElements { values throws(BertQAError) in
        try TextEmbedder.finish(.init(rebasing: values[first...]), normalizes: normalizes)
      }
    }
  }
}
