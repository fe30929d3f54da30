/// Options for answering a question. The names in parentheses are those of the C header and of error messages.
/// Names and meanings are those of Hugging Face's pipeline if it has the option; some defaults differ.
public struct AnswerOptions: BatchOptions, Sendable {
  /// The maximum number of answers (`top_k`), 1 to 1000.
  public var topK = 1

  /// The number of tokens in a window, including the question and special tokens (`max_seq_len`); at least 8; nil:
  /// 384, or the maximum of a model for long texts. Lowered to the model's number of positions.
  public var maxSequenceLength: Int?

  /// nil: a long document is read in sections, ranked by the question's words. n, 0 or more: it is read in windows
  /// that share n tokens with their neighbours (`doc_stride`), and raw scores are compared, as by Hugging Face's
  /// pipeline. A window's border may cut an answer longer than n.
  public var documentStride: Int?

  /// The maximum number of tokens in an answer before it is aligned to words (`max_answer_len`), 1 to 10,000.
  public var maxAnswerLength = 30

  /// The number of tokens of the question that are read (`max_question_len`), 1 to 10,000; nil: 64, or fewer if the
  /// windows are short.
  public var maxQuestionLength: Int?

  /// 0 searches all pairs of start and end. n considers only the n best starts and the n best ends of each window
  /// (`n_best_size`), as BERT's original script does with 20. 0 to 1000.
  public var nBestSize = 0

  /// Returns no answers if the document probably has none (`handle_impossible_answer`).
  public var handlesImpossibleAnswer = false

  /// Extends answers to whole words and whole expressions, such as an e-mail address or a number with its unit, and
  /// omits those with a blank line or without a letter, digit or symbol (`align_to_words`). false: the model's spans,
  /// of whole characters and without white space around them.
  public var alignsToWords = true

  /// The maximum number of windows to read, over all documents of the question (`max_windows`): those that match the
  /// question's words best. 0: as many as needed; with `documentStride`, all. -1: all.
  public var maxWindows = 0

  /// A question is impossible if the gap of its best answer is below this (`no_answer_threshold`). nil: the model's
  /// threshold, which with `documentStride` depends on the number of windows.
  public var noAnswerThreshold: Float?

  /// A deadline or cancellation ends the reading, not the call (`partial`). The results are those of the windows read
  /// so far, none if no window was read; `stop` gives the reason. Windows are read in the order of their rank.
  public var allowsPartial = false

  public var call = CallOptions()

  /// Without the deadline and cancellation, which end only the reading.
  package var marshallingCall: CallOptions {
    guard allowsPartial else { return call }
    var call = call
    call.cancellation = nil
    call.deadline = 0
    return call
  }

  public init() {}
}

/// The options for one model, with all defaults set and all ranges checked.
struct AnswerSettings {
  let options: AnswerOptions
  let template: Template
  let maxSequenceLength: Int
  let maxQuestionLength: Int
  let division: WindowLayout.Division
  let plan: ReadingPlan

  static let defaultSequenceLength = 384
  private static let defaultQuestionLength = 64

  /// Throws `.invalidArgument` for the first option that is out of its range.
  init(_ options: AnswerOptions, _ answerer: QuestionAnswerer) throws(BertQAError) {
    let template = answerer.tokenizer.template
    self.options = options
    self.template = template
    try BertQAError.check("top_k", options.topK, 1...1000)
    maxSequenceLength = try WindowLayout.length(
      options.maxSequenceLength, default: answerer.defaultSequenceLength, answerer.reader.maxPositions)
    if let stride = options.documentStride {
      let room = try WindowLayout.room(length: maxSequenceLength, template, isPair: true)
      try WindowLayout.check(
        stride: stride, max: room - 2,
        "max_seq_len \(maxSequenceLength) less \(maxSequenceLength - room) special tokens, one token of the question "
          + "and one new token of the document")
    }
    division =
      options.documentStride.map { .strides(overlap: $0) }
      ?? .sections(overlap: WindowLayout.defaultOverlap(length: maxSequenceLength))
    try BertQAError.check("max_answer_len", options.maxAnswerLength, 1...10_000)
    if let length = options.maxQuestionLength {
      try BertQAError.check("max_question_len", length, 1...10_000)
    }
    // At least one token of the document.
    let room = maxSequenceLength - template.specialCount(isPair: true) - 1
    maxQuestionLength = options.maxQuestionLength ?? max(1, min(Self.defaultQuestionLength, room / 2))
    try BertQAError.check("n_best_size", options.nBestSize, 0...1000)
    try BertQAError.check("max_windows", options.maxWindows, -1...Int.max)
    let hasStride = options.documentStride != nil
    plan = ReadingPlan(
      limit: options.maxWindows > 0
        ? .best(options.maxWindows) : options.maxWindows < 0 || hasStride ? .all : .enough,
      comparesRawScores: hasStride, isPartial: options.allowsPartial)
    if let noAnswerThreshold = options.noAnswerThreshold, noAnswerThreshold.isNaN {
      throw BertQAError(
        .invalidArgument, argument: "no_answer_threshold", "is not a number (NaN)")
    }
  }

  /// Returns the windows of a document that are read with a question.
  func windows(
    questionTokens: Int, of document: PreparedDocument, _ monitor: CallMonitor? = nil
  ) throws(BertQAError) -> [TokenWindow] {
    let special = template.specialCount(isPair: true)
    let room = maxSequenceLength - special - questionTokens
    let stride: Int? = if case .strides(let overlap) = division { overlap } else { nil }
    guard room > stride ?? 0 else {
      let needed =
        stride.map { "doc_stride \($0) needs at least \($0 + 1): lower doc_stride or" } ?? "it needs 1: lower"
      throw BertQAError(
        .invalidArgument,
        "the question's \(questionTokens) tokens and \(special) special tokens leave \(max(0, room)) of "
          + "max_seq_len \(maxSequenceLength) to the document, but \(needed) max_question_len "
          + "(\(maxQuestionLength)), or raise max_seq_len")
    }
    return try document.windows(room: room, division, monitor)
  }
}
