/// Finds entities of texts with a model that reads labels before the text and finds what they name.
struct PromptedRecognizer: EntityFinder {
  private var reader: WindowReader
  private let scorer: PromptedScorer
  private let labelID: Int32
  private let separatorID: Int32

  var tokenizer: any Tokenizer { reader.tokenizer }

  /// The number of tokens read at once. Their vectors are in memory together.
  private static let sliceTokens = 8192
  /// The minimum number of tokens of the text in a window.
  private static let fewestTokens = 8

  init(
    _ reader: WindowReader, _ model: LoadedModel, _ weights: PromptedWeights, _ encoder: Encoder
  ) throws(BertQAError) {
    self.reader = reader
    self.reader.sliceTokens = Self.sliceTokens
    scorer = try PromptedScorer(weights, encoder.kernels, threadLimit: encoder.threadLimit, owner: model)
    let (settings, tokenizer) = (weights.settings, reader.tokenizer)
    func id(_ piece: String, otherwise id: Int32?) throws(BertQAError) -> Int32 {
      let found = tokenizer.id(spelled: piece) ?? id
      guard let found, found < model.configuration.vocabSize else {
        throw BertQAError(
          .invalidModel,
          "\(model.tokenizer.vocabularyFile.path): lacks the token \(quoted(piece)), and "
            + "\(PromptedEntities.fileName) has no \"class_token_index\" within the embeddings in its place")
      }
      return found
    }
    labelID = try id(settings.labelToken, otherwise: settings.labelID)
    separatorID = try id(settings.separatorToken, otherwise: settings.labelID.map { $0 + 1 })
    if let own = settings.labelID, own != labelID {
      throw BertQAError(
        .invalidModel,
        "\(model.tokenizer.vocabularyFile.path): the token \(quoted(settings.labelToken)) has the id \(labelID), but "
          + "\"class_token_index\" in \(PromptedEntities.fileName) is \(own)")
    }
  }

  /// The labels of a call, and what the model reads before a text.
  private struct Prompt {
    var labels: [String]
    var template: Template
    /// The token in a window that has each label's vector.
    var tokens: [Int] = []
    var rules: SpanSelection.Rules
  }

  private func prompt(_ options: EntityOptions, _ monitor: CallMonitor) throws(BertQAError) -> Prompt {
    guard !options.labels.isEmpty else {
      throw BertQAError(
        .invalidArgument, argument: "labels",
        "is empty, but this model finds what labels name: pass at least one")
    }
    try ObjectReader.checkLabels(options.labels)
    var prompt = Prompt(
      labels: [], template: tokenizer.template,
      rules: SpanSelection.Rules(thresholds: [], isNested: options.isNested))
    var seen: Set<ExactString> = []
    for (index, label) in options.labels.enumerated() where seen.insert(ExactString(label)).inserted {
      try monitor.check()
      let tokens = try withBytes(of: label) { bytes throws(BertQAError) in
        try tokenizer.tokens(of: bytes, nil)
      }
      prompt.tokens.append(prompt.template.prefix.count + (scorer.settings.readsLabelToken ? 0 : 1))
      prompt.template.prefix.append(labelID)
      prompt.template.prefix += tokens.ids
      prompt.labels.append(label)
      let threshold = options.threshold(ofLabelAt: index)
      prompt.rules.thresholds.append(threshold > 0 ? threshold : PromptedEntities.defaultThreshold)
    }
    prompt.template.prefix.append(separatorID)
    return prompt
  }

  /// Returns the layout of texts that fit in one window, and that of longer ones, whose windows have at most
  /// `maxWords` tokens of the text and therefore no more words.
  private func layouts(
    _ options: EntityOptions, _ prompt: Prompt
  ) throws(BertQAError) -> (short: WindowLayout, long: WindowLayout) {
    let special = prompt.template.specialCount(isPair: false)
    let length = try WindowLayout.length(
      options.maxSequenceLength, default: reader.maxPositions, reader.maxPositions)
    guard length - special >= Self.fewestTokens else {
      throw BertQAError(
        .invalidArgument, argument: "labels",
        "have \(special) tokens with the special ones, which leaves fewer than \(Self.fewestTokens) of the \(length) "
          + "in a window to the text: find them in several calls, or raise max_seq_len")
    }
    let room = min(length - special, scorer.settings.maxWords)
    var short = try WindowLayout(
      maxSequenceLength: length, documentStride: options.documentStride, maxPositions: reader.maxPositions,
      template: prompt.template)
    if options.documentStride == nil {
      short = WindowLayout(
        maxSequenceLength: length, division: .sections(overlap: WindowLayout.defaultOverlap(length: room)),
        template: prompt.template)
    }
    var long = short
    long.maxSequenceLength = special + room
    return (short, long)
  }

  func recognizeEach(
    _ texts: [UnsafeBufferPointer<UInt8>], _ options: EntityOptions
  ) throws(BertQAError) -> [Result<EntityList, BertQAError>] {
    let monitor = CallMonitor(options.call)
    try options.checkThresholds()
    guard options.aggregation == .model else {
      throw BertQAError(
        .invalidArgument, argument: "aggregation",
        "is \(options.aggregation), but this model finds spans of words, which need none")
    }
    let prompt = try prompt(options, monitor)
    let layouts = try layouts(options, prompt)
    var reader = reader
    reader.frame = WindowFrame(template: prompt.template)
    return try reader.entities(of: texts, monitor) { text throws(BertQAError) in
      try PromptedWork(text, tokenizer, layouts, maxWords: scorer.settings.maxWords, monitor)
    } take: { one, output throws(BertQAError) in
      try one.add(
        output, scorer, labels: prompt.tokens, textStart: prompt.template.prefix.count, prompt.rules)
    } finish: { one throws(BertQAError) in
      try one.result(prompt.labels, isNested: options.isNested)
    }
  }
}

/// The state of one text while the model reads it: its words, and the spans found in the windows so far.
private final class PromptedWork: EntityWindows {
  private let text: UnsafeBufferPointer<UInt8>
  private let spans: WordSpans
  private let windows: [WindowLayout.Parts]
  /// The memory that this text accounts for.
  private var memory: [MemoryLedger] = []
  private var candidates: [SpanCandidate] = []
  /// The first word of the windows that follow.
  private var firstWord = 0
  private let monitor: CallMonitor

  init(
    _ text: UnsafeBufferPointer<UInt8>, _ tokenizer: any Tokenizer,
    _ layouts: (short: WindowLayout, long: WindowLayout), maxWords: Int, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try TextLimit.check(text, "text")
    self.text = text
    self.monitor = monitor
    let before = monitor.heldBytes
    spans = try WordSpans(text, tokenizer, monitor)
    let layout = spans.words.count <= maxWords ? layouts.short : layouts.long
    let tokens = TokenizedText(text: text, tokens: spans.tokens, tokenizer: tokenizer)
    let fits = tokens.count <= layout.maxSequenceLength - layout.template.specialCount(isPair: false)
    windows = try (fits ? layout : layouts.long).parts(first: tokens, second: nil, monitor)
    memory.append(monitor.part(since: before))
  }

  var item: WindowReader.Item {
    WindowReader.Item(
      first: spans.tokens.ids[...], second: nil, windows: spans.tokens.count > 0 ? windows : [])
  }

  /// Adds the spans of a window's words. Windows come in order.
  func add(
    _ output: WindowReader.Output, _ scorer: PromptedScorer, labels: [Int], textStart: Int,
    _ rules: SpanSelection.Rules
  ) throws(BertQAError) {
    let window = windows[output.window].first
    let isLast = output.window == windows.count - 1
    while firstWord < spans.words.count, spans.words[firstWord].firstToken < window.lowerBound {
      firstWord += 1
    }
    var words: [Int?] = []
    for (index, word) in spans.words[firstWord...].enumerated() {
      guard word.firstToken < window.upperBound || isLast else { break }
      words.append(
        spans.isEmpty(firstWord + index) ? nil : textStart + word.firstToken - window.lowerBound)
    }
    let before = monitor.heldBytes
    try monitor.undoing { () throws(BertQAError) in
      let found = try scorer.candidates(output, words: words, labels: labels, rules, monitor)
      let held = monitor.heldBytes - before
      try candidates.makeRoom(for: found.count, monitor)
      for var one in found {
        one.first += firstWord
        one.last += firstWord
        candidates.append(one)
      }
      monitor.release(held)
    }
    if monitor.heldBytes != before { memory.append(monitor.part(since: before)) }
  }

  /// Returns the entities of all windows. Called once, after the last of them.
  func result(_ labels: [String], isNested: Bool) throws(BertQAError) -> EntityList {
    let before = monitor.heldBytes
    return try monitor.undoing { () throws(BertQAError) in
      let chosen = try SpanSelection.chosen(
        candidates, wordCount: spans.words.count, isNested: isNested, monitor)
      var parts = try [(label: String, bytes: TextRange, score: Float, reason: EntityReason?)](
        checkedCapacity: chosen.count, monitor)
      for one in chosen {
        let bytes = TextRange(
          start: Int(spans.words[one.first].start), end: Int(spans.words[one.last].end))
        parts.append((label: labels[one.label], bytes: bytes, score: one.score, reason: nil))
      }
      let work = monitor.heldBytes - before
      var list = try EntityList(of: text, parts, monitor)
      monitor.release(work)
      list.windowCount = windows.count
      return list
    }
  }
}
