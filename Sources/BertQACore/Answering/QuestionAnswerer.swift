/// One question and its documents. The texts must not change during the call that they are passed to.
public struct QuestionItem {
  public enum Document {
    case text(UnsafeBufferPointer<UInt8>)
    case prepared(PreparedDocument)
  }

  public var question: UnsafeBufferPointer<UInt8>
  /// At least one. Several are read as one collection.
  public var documents: [Document]
  /// By document: how well a search found it, above 0; empty: sections are ranked by the question's words.
  public var ranks: [Double]

  public init(question: UnsafeBufferPointer<UInt8>, documents: [Document], ranks: [Double] = []) {
    self.question = question
    self.documents = documents
    self.ranks = ranks
  }

  public init(question: UnsafeBufferPointer<UInt8>, document: Document) {
    self.init(question: question, documents: [document])
  }
}

/// Extractive question answering: chooses the sections of documents that the model reads, and finds the best spans in
/// them. Immutable: any number of threads may use it at once.
struct QuestionAnswerer: Sendable {
  var reader: WindowReader
  let decision: AnswerDecision
  /// The number of tokens in a window if the caller does not say.
  var defaultSequenceLength = AnswerSettings.defaultSequenceLength

  var tokenizer: any Tokenizer { reader.tokenizer }

  /// Tokenizes a copy of `text` for many questions.
  func prepare(
    _ text: UnsafeBufferPointer<UInt8>, _ call: CallOptions = CallOptions()
  ) throws(BertQAError) -> PreparedDocument {
    try PreparedDocument(copying: text, tokenizer: tokenizer, CallMonitor(call))
  }

  /// Returns one result per item, in order. The first failure ends the call and names its item.
  func answer(
    _ items: [QuestionItem], _ options: AnswerOptions
  ) throws(BertQAError) -> [AnswerResult] {
    try all(options) { options throws(BertQAError) in try answerEach(items, options) }
  }

  /// The limits of a group of items: the bytes of their documents, and their number. Their tokens and logits are in
  /// memory together, so a memory limit makes groups smaller.
  private static let (groupBytes, groupItems) = (512 << 10, 4096)
  /// The approximate memory of a byte of text, and of the small objects of an item.
  private static let (byteBytes, itemBytes) = (32, 16_384)

  /// Returns one result or failure per item, in order. Throws failures of the whole call.
  func answerEach(
    _ items: [QuestionItem], _ options: AnswerOptions
  ) throws(BertQAError) -> [Result<AnswerResult, BertQAError>] {
    let monitor = CallMonitor(options.call)
    let settings = try AnswerSettings(options, self)
    monitor.isUnstoppable = options.allowsPartial
    try monitor.check()
    var batch = try QuestionBatch(items, settings, self, monitor)
    var first = 0
    while first < items.count, !batch.isStopped {
      let mostBytes = min(Self.groupBytes, monitor.room / Self.byteBytes)
      let mostItems = max(1, min(Self.groupItems, monitor.room / Self.itemBytes))
      var (end, bytes) = (first, 0)
      while end < items.count, end - first < mostItems, end == first || bytes < mostBytes {
        bytes += items[end].documents.reduce(0) { $0 + $1.byteCount }
        end += 1
      }
      try batch.answer(first..<end)
      first = end
    }
    return batch.results
  }
}

extension QuestionItem.Document {
  fileprivate var byteCount: Int {
    switch self {
    case .text(let text): text.count
    case .prepared(let document): document.byteCount
    }
  }
}

/// The items of one call, and their results.
private struct QuestionBatch {
  private(set) var results: [Result<AnswerResult, BertQAError>]
  private let items: [QuestionItem]
  private let settings: AnswerSettings
  private let answerer: QuestionAnswerer
  private let monitor: CallMonitor
  private var documents: DocumentCache
  private let progress = WindowReader.Progress()
  /// True once the results of all items are made because the call was stopped.
  private(set) var isStopped = false

  /// The name of the array of items in error messages.
  private static let name = "pairs"

  init(
    _ items: [QuestionItem], _ settings: AnswerSettings, _ answerer: QuestionAnswerer, _ monitor: CallMonitor
  ) throws(BertQAError) {
    self.items = items
    self.settings = settings
    self.answerer = answerer
    self.monitor = monitor
    documents = try DocumentCache(items, monitor)
    results = try [Result<AnswerResult, BertQAError>](results: .missing, count: items.count, monitor)
  }

  /// A part of an item's documents that one round reads.
  private struct Reading {
    let item: Int
    let part: QuestionWork.Part
    let isLastOfItem: Bool
  }

  /// Answers a group of items in rounds. If the call is stopped and partial results are allowed, makes the results of
  /// this group and of all later items.
  mutating func answer(_ group: Range<Int>) throws(BertQAError) {
    var work = try [QuestionWork?](repeating: nil, count: group.count, monitor)
    defer { monitor.release(group.count * MemoryLayout<QuestionWork?>.stride) }
    var preparedEnd = group.lowerBound
    do throws(BertQAError) {
      monitor.isUnstoppable = false
      try read(group, &work, &preparedEnd)
      monitor.isUnstoppable = settings.options.allowsPartial
    } catch {
      guard settings.options.allowsPartial, let stop = ReadingStop(error) else { throw error }
      monitor.isUnstoppable = true
      isStopped = true
      for index in group.lowerBound..<preparedEnd {
        guard let one = work[index - group.lowerBound] else { continue }
        do throws(BertQAError) {
          results[index] = .success(try one.partialResult(stop, settings, answerer.decision))
        } catch {
          try fail(index, error)
        }
        work[index - group.lowerBound] = nil
      }
      let threshold = answerer.decision.threshold(windows: 1, asked: settings.options.noAnswerThreshold)
      for index in preparedEnd..<items.count {
        results[index] = .success(.empty(nil, noAnswerThreshold: threshold, stop: stop))
      }
    }
  }

  /// Makes an item's result, and releases its logits, as soon as its last section is read.
  /// - Parameters:
  ///   - work: the unfinished work, by item of the group.
  ///   - preparedEnd: the end of the items that have a result or are in `work`.
  private mutating func read(
    _ group: Range<Int>, _ work: inout [QuestionWork?], _ preparedEnd: inout Int
  ) throws(BertQAError) {
    var readings: [Reading] = []

    func add(_ parts: [QuestionWork.Part], of index: Int) throws(BertQAError) {
      try readings.makeRoom(for: parts.count)
      for (number, part) in parts.enumerated() {
        readings.append(Reading(item: index, part: part, isLastOfItem: number == parts.count - 1))
      }
    }
    for index in group {
      try monitor.check()
      try Memory.requireReserve(atItem: index)
      do throws(BertQAError) {
        let one = try prepare(index)
        let parts = try one.firstRound()
        if parts.isEmpty {
          try finish(index, one) { _ in }
        } else {
          work[index - group.lowerBound] = one
          try add(parts, of: index)
        }
      } catch {
        try fail(index, error)
      }
      preparedEnd = index + 1
    }
    while !readings.isEmpty {
      let round = readings
      readings = []
      try answerer.reader.read(count: round.count, called: Self.name, monitor, progress) { number in
        guard let one = work[round[number].item - group.lowerBound] else {
          return WindowReader.Item(first: [], second: nil, windows: [])
        }
        return one.item(of: round[number].part)
      } failed: { _, error throws(BertQAError) in
        throw error
      } deliver: { output throws(BertQAError) in
        let reading = round[output.item]
        guard let one = work[reading.item - group.lowerBound] else { return }
        do throws(BertQAError) {
          try one.store(output, of: reading.part)
          guard output.isLastOfItem, reading.isLastOfItem else { return }
          var isFinished = true
          try finish(reading.item, one) { parts throws(BertQAError) in
            isFinished = false
            try add(parts, of: reading.item)
          }
          if isFinished { work[reading.item - group.lowerBound] = nil }
        } catch {
          try fail(reading.item, error)
          work[reading.item - group.lowerBound] = nil
        }
      }
    }
  }

  private mutating func prepare(_ index: Int) throws(BertQAError) -> QuestionWork {
    let item = items[index]
    let keepsSections = if case .sections = settings.division { true } else { false }
    guard !item.documents.isEmpty else {
      throw BertQAError(.invalidArgument, argument: "documents", "has no element: pass at least one document")
    }
    guard item.ranks.isEmpty || item.ranks.count == item.documents.count else {
      throw BertQAError(
        .invalidArgument, argument: "ranks",
        "has \(item.ranks.count) elements for \(item.documents.count) documents: pass one per document, or none"
      )
    }
    var documents = try [PreparedDocument](checkedCapacity: item.documents.count)
    for (number, document) in item.documents.enumerated() {
      try monitor.check()
      try Memory.requireReserve(atItem: number)
      do throws(BertQAError) {
        documents.append(
          try self.documents.prepared(
            document, index, answerer.tokenizer, keepsSections: keepsSections, monitor))
      } catch {
        // In a batch, the item's index replaces this one.
        if error.concernsWholeCall { throw error }
        throw error.of(item: number, in: "documents", count: item.documents.count)
      }
    }
    return try monitor.undoing { () throws(BertQAError) in
      try QuestionWork(
        question: item.question, documents: documents, ranks: item.ranks, tokenizer: answerer.tokenizer,
        settings,
        monitor)
    }
  }

  /// Takes over the item's result, or passes on its next round.
  private mutating func finish(
    _ index: Int, _ work: QuestionWork, next: ([QuestionWork.Part]) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    switch try work.outcome(settings, answerer.decision) {
    case .result(let result): results[index] = .success(result)
    case .round(let parts): try next(parts)
    }
  }

  private mutating func fail(_ index: Int, _ error: BertQAError) throws(BertQAError) {
    results[index] = .failure(
      try WindowReader.failure(error, ofItem: index, in: Self.name, count: items.count, monitor))
  }
}
