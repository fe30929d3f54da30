/// How a question is answered. The names in parentheses are those of the C header, which error messages
/// use too; the defaults are those of Hugging Face's pipeline where it has the option.
public struct AnswerOptions: Sendable {
  /// The most answers to return (`top_k`), 1 to 1000.
  public var topK = 1

  /// Tokens of a window, the question and the three special tokens included (`max_seq_len`): 8 or more. A
  /// model with fewer positions lowers it to their number, and `documentStride` to a third of that.
  public var maxSequenceLength = 384

  /// Document tokens that two neighbouring windows share (`doc_stride`). A longer answer than this may
  /// be cut by a window border.
  public var documentStride = 128

  /// The most tokens an answer may have before it is aligned to words (`max_answer_len`), 1 to 10,000.
  public var maxAnswerLength = 30

  /// The most tokens of the question that are used (`max_question_len`), 1 to 10,000.
  public var maxQuestionLength = 64

  /// 0 searches all pairs of start and end. n looks at the n best starts and the n best ends of each
  /// window only (`n_best_size`), as BERT's original script does with 20. 0 to 1000.
  public var nBestSize = 0

  /// Return no answers where the document seems to hold none (`handle_impossible_answer`).
  public var handlesImpossibleAnswer = false

  /// Extend answers to whole words (`align_to_words`).
  public var alignsToWords = true

  /// 0 runs the model on the whole document. n ranks its windows with BM25 and runs the model on the n
  /// best ones only (`max_windows`).
  public var maxWindows = 0

  /// An answer is impossible if its gap is below this (`no_answer_threshold`). nil: as the model says.
  public var noAnswerThreshold: Float?

  /// Asked between slices of work, and by the encoder, on the calling thread.
  public var cancellation: Cancellation?

  /// Told, on the calling thread, how many windows the model has read of those known so far: a call with
  /// one pair knows all from the start, and each further pair adds its own.
  public var progress: (@Sendable (_ done: Int, _ total: Int) -> Void)?

  public init() {}
}
