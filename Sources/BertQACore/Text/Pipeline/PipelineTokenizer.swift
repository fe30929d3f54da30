/// A tokenizer made of a `Pipeline`'s steps, with the ids and offsets of Hugging Face tokenizers. Immutable; any
/// number of threads may use it.
final class PipelineTokenizer: @unchecked Sendable {
  // Unchecked: everything is written in init only, but for the pool of scratch memory, which is made for threads.

  let pipeline: Pipeline
  let addedVocabulary: AddedVocabulary
  let facts: PieceFacts
  private let trimming: OffsetTrimming?
  private let scratch = ObjectPool<PipelineScratch>()

  init(_ pipeline: Pipeline, _ monitor: CallMonitor? = nil) throws(BertQAError) {
    var pipeline = pipeline
    if pipeline.model is UnigramModel, let last = pipeline.preTokenizers.last as? Metaspace {
      pipeline.preTokenizers[pipeline.preTokenizers.count - 1] = last.forModel()
    }
    self.pipeline = pipeline
    addedVocabulary = try AddedVocabulary(pipeline, monitor)
    facts = try PieceFacts(pipeline, addedVocabulary, monitor)
    let trimming = pipeline.postProcessor.trimming
    self.trimming =
      trimming.isEmpty
      ? nil : try OffsetTrimming(pipeline.model.vocabulary, addsPrefixSpace: trimming, monitor)
  }

  func tokenize(
    _ text: UnsafeBufferPointer<UInt8>, parseSpecialTokens: Bool, into tokens: inout Tokens,
    _ monitor: CallMonitor?
  ) throws(BertQAError) {
    tokens.removeAll()
    guard text.count > 0 else { return }
    let scratch = if let kept = self.scratch.take() { kept } else { try PipelineScratch() }
    try scratch.begin(monitor)
    defer {
      scratch.end()
      if scratch.isWorthKeeping { self.scratch.give(scratch) }
    }
    let memory = tokens
    tokens = Tokens()
    var output = TokenOutput(
      memory, of: text, trimming, memory: scratch.pending.base, scratch.modelMemory, monitor)
    output.parsesSpecialTokens = parseSpecialTokens
    var position = 0
    var start = 0
    if addedVocabulary.verbatim.canMatch(parseSpecialTokens: parseSpecialTokens) {
      while let match = try addedVocabulary.verbatim.next(
        in: text, from: &position, behind: start, parseSpecialTokens: parseSpecialTokens, monitor)
      {
        try tokenize(
          text, start..<match.range.lowerBound, parseSpecialTokens, scratch, into: &output, monitor)
        let spaces = OffsetTrimming.spaces(of: UnsafeBufferPointer(rebasing: text[match.range]))
        try output.append(
          added: match.id, match.range, leadingSpaces: spaces.leading, trailingSpaces: spaces.trailing)
        start = match.range.upperBound
      }
    }
    try tokenize(text, start..<text.count, parseSpecialTokens, scratch, into: &output, monitor)
    scratch.modelMemory = output.modelMemory
    tokens = try output.finish()
    if !scratch.isWorthKeeping { try scratch.removeAll(monitor) }
  }

  /// Appends the tokens of a part of the text without added tokens that are looked for in it as it is.
  private func tokenize(
    _ text: UnsafeBufferPointer<UInt8>, _ part: Range<Int>, _ parseSpecialTokens: Bool,
    _ scratch: PipelineScratch, into output: inout TokenOutput, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    if part.isEmpty { return }
    try scratch.words.text.load(text, part, monitor)
    for normalizer in pipeline.normalizers {
      try scratch.words.normalize(with: normalizer, monitor)
    }
    let matcher = addedVocabulary.normalized
    guard matcher.canMatch(parseSpecialTokens: parseSpecialTokens) else {
      return try tokenizeWords(scratch, into: &output, monitor)
    }
    swap(&scratch.part, &scratch.words.text)
    var position = 0
    var start = 0
    let bytes = UnsafeBufferPointer(start: UnsafePointer(scratch.part.base), count: scratch.part.count)
    while let match = try matcher.next(
      in: bytes, from: &position, behind: start, parseSpecialTokens: parseSpecialTokens, monitor)
    {
      try tokenizeWords(start..<match.range.lowerBound, scratch, into: &output, monitor)
      let spaces = OffsetTrimming.spaces(of: UnsafeBufferPointer(rebasing: bytes[match.range]))
      let source = Int(scratch.part.source(of: match.range.lowerBound).start)
      let sourceEnd = Int(scratch.part.source(of: match.range.upperBound - 1).end)
      try output.append(
        added: match.id, source..<max(source, sourceEnd), leadingSpaces: spaces.leading,
        trailingSpaces: spaces.trailing)
      start = match.range.upperBound
    }
    if start == 0 {
      swap(&scratch.part, &scratch.words.text)
      return try tokenizeWords(scratch, into: &output, monitor)
    }
    try tokenizeWords(start..<scratch.part.count, scratch, into: &output, monitor)
  }

  /// Appends the tokens of a range of `scratch.part`.
  private func tokenizeWords(
    _ range: Range<Int>, _ scratch: PipelineScratch, into output: inout TokenOutput, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    if range.isEmpty { return }
    try scratch.part.writeSources(monitor)
    scratch.words.text.removeAll(begin: Int(scratch.part.source(of: range.lowerBound).start))
    try scratch.words.text.append(copying: scratch.part, range, monitor)
    try scratch.words.text.seal()
    try tokenizeWords(scratch, into: &output, monitor)
  }

  /// Appends the tokens of `scratch.words.text`.
  private func tokenizeWords(
    _ scratch: PipelineScratch, into output: inout TokenOutput, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    try scratch.words.reset()
    for preTokenizer in pipeline.preTokenizers { try preTokenizer.cut(&scratch.words, monitor) }
    output.begin(scratch.words.text)
    try pipeline.model.tokenize(scratch.words, into: &output)
  }
}

/// Memory for one text at a time.
final class PipelineScratch {
  var words = Words()
  /// A normalised part of the text in which added tokens were found.
  var part = NormalizedText()
  /// The model's.
  var modelMemory: AnyObject?
  /// `TokenOutput`'s.
  let pending: AlignedBuffer<UInt32>

  init() throws(BertQAError) { pending = try AlignedBuffer(repeating: 0, count: TokenOutput.memoryCount) }

  /// Accounts for the memory to a call, from now on.
  func begin(_ monitor: CallMonitor?) throws(BertQAError) {
    guard let monitor else { return }
    // What was kept for longer texts would be above the limit of a short one.
    if monitor.room < .max {
      words = Words()
      part = NormalizedText()
    }
    try monitor.hold(byteCount)
    words.account(to: monitor.ledger)
    part.ledger = monitor.ledger
  }

  /// What is kept is no call's.
  func end() {
    words.account(to: nil)
    part.ledger = nil
  }

  private var byteCount: Int { words.byteCount + part.byteCount }

  /// Whether the memory is of a size that texts often have.
  var isWorthKeeping: Bool { byteCount < 8 << 20 }

  /// Frees the memory in parts: the system takes its time to take back gigabytes.
  func removeAll(_ monitor: CallMonitor?) throws(BertQAError) {
    modelMemory = nil
    try monitor?.check()
    part = NormalizedText()
    try monitor?.check()
    words.text = NormalizedText()
    try monitor?.check()
    words.newText = NormalizedText()
    try monitor?.check()
    words = Words()
    try monitor?.check()
  }
}
