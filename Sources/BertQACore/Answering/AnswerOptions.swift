/// How a question is answered. The names in parentheses are those of the C header, which error messages
/// use too; the defaults are those of Hugging Face's pipeline where it has the option.
public struct AnswerOptions: BatchOptions, Sendable {
  /// The most answers to return (`top_k`), 1 to 1000.
  public var topK = 1

  /// Tokens of a window, the question and the special tokens included (`max_seq_len`): 8 or more; nil: 384. A
  /// model with fewer positions lowers it to their number.
  public var maxSequenceLength: Int?

  /// Document tokens that two neighbouring windows share (`doc_stride`), 0 or more; nil: 128, or fewer where the
  /// windows are short. A longer answer than this may be cut by a window border.
  public var documentStride: Int?

  /// The most tokens an answer may have before it is aligned to words (`max_answer_len`), 1 to 10,000.
  public var maxAnswerLength = 30

  /// The most tokens of the question that are used (`max_question_len`), 1 to 10,000; nil: 64, or fewer where the
  /// windows are short.
  public var maxQuestionLength: Int?

  /// 0 searches all pairs of start and end. n looks at the n best starts and the n best ends of each
  /// window only (`n_best_size`), as BERT's original script does with 20. 0 to 1000.
  public var nBestSize = 0

  /// Return no answers where the document seems to hold none (`handle_impossible_answer`).
  public var handlesImpossibleAnswer = false

  /// Extend answers to whole words and whole expressions, such as an e-mail address or a number with its unit,
  /// and leave out those without a letter, digit or symbol (`align_to_words`). false: the model's spans, of whole
  /// characters and without white space around them.
  public var alignsToWords = true

  /// 0 runs the model on the whole document. n ranks its windows with BM25 and runs the model on the n
  /// best ones only (`max_windows`).
  public var maxWindows = 0

  /// An answer is impossible if its gap is below this (`no_answer_threshold`), whatever the number of windows. nil:
  /// as the model says.
  public var noAnswerThreshold: Float?

  public var call = CallOptions()

  public init() {}
}

/// `AnswerOptions` for one model: every default settled, every range checked.
struct AnswerSettings {
  let options: AnswerOptions
  let template: Template
  let maxSequenceLength: Int
  let maxQuestionLength: Int
  /// nil: as much as suits the question.
  private let documentStride: Int?

  private static let defaultSequenceLength = 384
  private static let defaultQuestionLength = 64

  /// Throws `.invalidArgument` for the first option that is out of its range.
  init(
    _ options: AnswerOptions, maxPositions: Int, template: Template
  ) throws(BertQAError) {
    self.options = options
    self.template = template
    try Self.check("top_k", options.topK, 1, 1000)
    maxSequenceLength = try WindowLayout.length(
      options.maxSequenceLength, default: Self.defaultSequenceLength, maxPositions)
    // One token of the question and one new token of the document, at least.
    let room = maxSequenceLength - template.specialCount(isPair: true) - 1
    if let stride = options.documentStride {
      try WindowLayout.check(
        stride: stride, max: room - 1,
        "max_seq_len \(maxSequenceLength) less \(template.specialCount(isPair: true)) special tokens, one token "
          + "of the question and one new token of the document")
    }
    documentStride = options.documentStride
    try Self.check("max_answer_len", options.maxAnswerLength, 1, 10_000)
    if let length = options.maxQuestionLength { try Self.check("max_question_len", length, 1, 10_000) }
    maxQuestionLength = options.maxQuestionLength ?? max(1, min(Self.defaultQuestionLength, room / 2))
    try Self.check("n_best_size", options.nBestSize, 0, 1000)
    try Self.check("max_windows", options.maxWindows, 0, Int.max)
    if let noAnswerThreshold = options.noAnswerThreshold, noAnswerThreshold.isNaN {
      throw BertQAError(
        .invalidArgument, argument: "no_answer_threshold", "is not a number (NaN)")
    }
  }

  private static func check(
    _ name: String, _ value: Int, _ low: Int, _ high: Int
  ) throws(BertQAError) {
    if value >= low && value <= high { return }
    let bound = high == Int.max ? "at least \(low)" : "\(low) to \(high)"
    throw BertQAError(
      .invalidArgument, argument: name,
      "is \(value), but must be \(bound)")
  }

  /// The windows of a document beside a question.
  func windows(
    questionTokens: Int, documentTokens: Int, _ monitor: CallMonitor? = nil
  ) throws(BertQAError) -> [TokenWindow] {
    let special = template.specialCount(isPair: true)
    let room = maxSequenceLength - special - questionTokens
    let stride =
      documentStride ?? min(WindowLayout.defaultOverlap(length: maxSequenceLength), max(0, room / 2))
    guard room > stride else {
      throw BertQAError(
        .invalidArgument,
        "the question's \(questionTokens) tokens and \(special) special tokens leave \(max(0, room)) of "
          + "max_seq_len \(maxSequenceLength) to the document, but doc_stride \(stride) needs at least "
          + "\(stride + 1): lower doc_stride or max_question_len (\(maxQuestionLength)), or raise max_seq_len"
      )
    }
    return try TokenWindow.layout(tokenCount: documentTokens, room: room, overlap: stride, monitor)
  }
}
