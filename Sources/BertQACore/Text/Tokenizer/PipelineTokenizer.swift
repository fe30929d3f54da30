/// A tokenizer made of a `Pipeline`'s steps, with the ids and offsets of Hugging Face tokenizers. Immutable; any
/// number of threads may use it.
final class PipelineTokenizer: @unchecked Sendable {
  // Unchecked: everything is written in init only, except the pool of scratch memory, which is thread-safe.

  let pipeline: Pipeline
  let addedVocabulary: AddedVocabulary
  private let continuingPrefix: [UInt8]
  private let trimming: OffsetTrimming?
  private let scratch = ObjectPool<PipelineScratch>()

  init(
    _ pipeline: Pipeline, _ added: AddedVocabulary, _ monitor: CallMonitor? = nil
  ) throws(BertQAError) {
    var pipeline = pipeline
    pipeline.model.keepAsText(pipeline.addedTokens)
    if let part = pipeline.model.takesOver, let last = pipeline.preTokenizers.popLast() {
      pipeline.preTokenizers.append(last.leaving(part))
    }
    self.pipeline = pipeline
    addedVocabulary = added
    continuingPrefix = pipeline.model.continuingPrefix
    let trimming = pipeline.postProcessor.trimming
    self.trimming =
      trimming.isEmpty
      ? nil : try OffsetTrimming(pipeline.model.vocabulary, addsPrefixSpace: trimming, monitor)
  }

  convenience init(_ pipeline: Pipeline, _ monitor: CallMonitor? = nil) throws(BertQAError) {
    try self.init(pipeline, AddedVocabulary(pipeline, monitor), monitor)
  }

  func tokenize(
    _ text: UnsafeBufferPointer<UInt8>, parseSpecialTokens: Bool, into tokens: inout Tokens,
    _ monitor: CallMonitor?
  ) throws(BertQAError) {
    tokens.removeAll()
    guard text.count > 0 else { return }
    let scratch = if let kept = self.scratch.take() { kept } else { try makeScratch() }
    let steps = scratch.steps
    try steps?.begin(monitor)
    var isKept = true
    defer {
      steps?.end()
      if isKept, steps?.isWorthKeeping ?? true { self.scratch.give(scratch) }
    }
    let memory = tokens
    tokens = Tokens()
    var output = TokenOutput(
      memory, of: text, trimming, memory: scratch.pending.base, parsesSpecialTokens: parseSpecialTokens,
      monitor)
    var position = 0
    var start = 0
    if addedVocabulary.verbatim.canMatch(parseSpecialTokens: parseSpecialTokens) {
      while let match = try addedVocabulary.verbatim.next(
        in: text, from: &position, behind: start, parseSpecialTokens: parseSpecialTokens, monitor)
      {
        try tokenize(
          text, start..<match.range.lowerBound, parseSpecialTokens, scratch.engine, into: &output, monitor)
        try output.append(added: match.id, match.range, text[match.range])
        start = match.range.upperBound
      }
    }
    try tokenize(text, start..<text.count, parseSpecialTokens, scratch.engine, into: &output, monitor)
    tokens = try output.finish()
    if let steps, !steps.isWorthKeeping {
      isKept = false
      try steps.removeAll(monitor)
    }
  }

  /// Appends the tokens of a part of the text that contains no verbatim added tokens.
  private func tokenize(
    _ text: UnsafeBufferPointer<UInt8>, _ part: Range<Int>, _ parseSpecialTokens: Bool,
    _ engine: PipelineScratch.Engine, into output: inout TokenOutput, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    guard !part.isEmpty, let base = text.baseAddress else { return }
    let scratch: StepScratch
    switch engine {
    case .scanner(let scanner): return try scanner.scan(base, part, into: &output)
    case .steps(let steps): scratch = steps
    }
    try scratch.preTokens.text.load(text, part, monitor)
    for normalizer in pipeline.normalizers {
      try scratch.preTokens.normalize(with: normalizer, monitor)
    }
    let matcher = addedVocabulary.normalized
    guard matcher.canMatch(parseSpecialTokens: parseSpecialTokens) else {
      return try tokenizePreTokens(scratch, into: &output, monitor)
    }
    swap(&scratch.part, &scratch.preTokens.text)
    var position = 0
    var start = 0
    let bytes = UnsafeBufferPointer(start: UnsafePointer(scratch.part.base), count: scratch.part.count)
    while let match = try matcher.next(
      in: bytes, from: &position, behind: start, parseSpecialTokens: parseSpecialTokens, monitor)
    {
      try tokenizePreTokens(start..<match.range.lowerBound, scratch, into: &output, monitor)
      let source = Int(scratch.part.source(of: match.range.lowerBound).start)
      let sourceEnd = Int(scratch.part.source(of: match.range.upperBound - 1).end)
      try output.append(added: match.id, source..<max(source, sourceEnd), bytes[match.range])
      start = match.range.upperBound
    }
    if start == 0 {
      swap(&scratch.part, &scratch.preTokens.text)
      return try tokenizePreTokens(scratch, into: &output, monitor)
    }
    try tokenizePreTokens(start..<scratch.part.count, scratch, into: &output, monitor)
  }

  /// Appends the tokens of a range of `scratch.part`.
  private func tokenizePreTokens(
    _ range: Range<Int>, _ scratch: StepScratch, into output: inout TokenOutput, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    if range.isEmpty { return }
    try scratch.part.writeSources(monitor)
    scratch.preTokens.text.removeAll(begin: Int(scratch.part.source(of: range.lowerBound).start))
    try scratch.preTokens.text.append(copying: scratch.part, range, monitor)
    try scratch.preTokens.text.seal()
    try tokenizePreTokens(scratch, into: &output, monitor)
  }

  /// Appends the tokens of `scratch.preTokens.text`.
  private func tokenizePreTokens(
    _ scratch: StepScratch, into output: inout TokenOutput, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    try scratch.preTokens.reset()
    for preTokenizer in pipeline.preTokenizers { try preTokenizer.cut(&scratch.preTokens, monitor) }
    output.begin(scratch.preTokens.text)
    try scratch.worker.tokenize(scratch.preTokens, into: &output)
  }

  private func makeScratch() throws(BertQAError) -> PipelineScratch {
    if !addedVocabulary.normalized.canMatch(parseSpecialTokens: true), let table = pipeline.characterTable,
      let scanner = try pipeline.model.makeScanner(table, lowercases: pipeline.lowercases)
    {
      return try PipelineScratch(.scanner(scanner))
    }
    return try PipelineScratch(.steps(StepScratch(pipeline.model.makeWorker())))
  }
}

extension PipelineTokenizer: Tokenizer {
  var template: Template { pipeline.postProcessor.template }

  var vocabularySize: Int { addedVocabulary.size }

  var lowercases: Bool { pipeline.lowercases }

  func piece(_ id: Int32) -> UnsafeBufferPointer<UInt8> {
    addedVocabulary.piece(id) ?? pipeline.model.vocabulary.piece(id)
  }

  func id(of piece: UnsafeBufferPointer<UInt8>) -> Int32? {
    if let id = addedVocabulary.id(of: piece) { return id }
    let (model, vocabulary) = (pipeline.model, pipeline.model.vocabulary)
    // Ids without a piece have an empty spelling.
    return piece.isEmpty && model.pieceCount < vocabulary.count ? nil : vocabulary.id(of: piece)
  }

  func continuesWord(_ id: Int32) -> Bool {
    !continuingPrefix.isEmpty && pipeline.model.vocabulary.piece(id).starts(with: continuingPrefix)
  }

  /// True if both were read from the same definition; false for different definitions even if they are equivalent.
  func agrees(with other: any Tokenizer) -> Bool {
    self === other || pipeline.fingerprint == (other as? PipelineTokenizer)?.pipeline.fingerprint
  }
}

/// Memory for one text at a time.
private final class PipelineScratch {
  let engine: Engine
  /// The memory of `TokenOutput`.
  let pending: AlignedBuffer<UInt32>

  enum Engine {
    /// Performs all steps at once.
    case scanner(WordPieceScanner)
    /// Performs one step after the other.
    case steps(StepScratch)
  }

  init(_ engine: Engine) throws(BertQAError) {
    self.engine = engine
    pending = try AlignedBuffer(repeating: 0, count: TokenOutput.memoryCount)
  }

  var steps: StepScratch? { if case .steps(let steps) = engine { steps } else { nil } }
}

/// The text between the steps, and the model's memory.
private final class StepScratch {
  let worker: any TokenWorker
  var preTokens = PreTokens()
  /// A normalised part of the text in which added tokens were found.
  var part = NormalizedText()

  init(_ worker: any TokenWorker) { self.worker = worker }

  /// Charges the memory to a call, from now on.
  func begin(_ monitor: CallMonitor?) throws(BertQAError) {
    guard let monitor else { return }
    // Memory kept for longer texts would exceed the limit of a short one.
    if monitor.room < .max {
      preTokens = PreTokens()
      part = NormalizedText()
    }
    try monitor.hold(byteCount)
    preTokens.account(to: monitor.ledger)
    part.ledger = monitor.ledger
  }

  /// Stops charging a call for the memory that is kept.
  func end() {
    preTokens.account(to: nil)
    part.ledger = nil
  }

  private var byteCount: Int { preTokens.byteCount + part.byteCount }

  /// True if the memory has a size that texts often need.
  var isWorthKeeping: Bool { byteCount < 8 << 20 }

  /// Frees the memory in parts: returning gigabytes to the system takes long.
  func removeAll(_ monitor: CallMonitor?) throws(BertQAError) {
    part = NormalizedText()
    try monitor?.check()
    preTokens.text = NormalizedText()
    try monitor?.check()
    preTokens.newText = NormalizedText()
    try monitor?.check()
    preTokens = PreTokens()
    try monitor?.check()
  }
}
