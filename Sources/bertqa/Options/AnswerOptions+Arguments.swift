import BertQACore

extension AnswerOptions {
  /// The options that choose the answers.
  static let choosingRows = [
    OptionRow(
      .topK, letter: "k", value: "N", "give up to N answers, best first; default 1",
      detail: "They do not overlap. 1 to 1000."),
    OptionRow(
      .handleImpossibleAnswer, "give no answer where the document seems to hold none",
      detail: "Otherwise the best passage is given, however bad it is."),
    OptionRow(
      .noAnswerThreshold, value: "X",
      "score by which an answer must beat 'no answer'; default: the model's own",
      detail: "The document seems to hold no answer if the best passage's score exceeds the score of "
        + "'no answer' by less than this."),
  ]

  /// The options that control how the document is read.
  static let readingRows = [
    OptionRow(.maxAnswerLength, value: "N", "longest answer; default 30"),
    OptionRow(
      .maxSequenceLength, value: "N", "length of a window, with the question; default 384",
      detail: "Or the most that the model takes, if that is less. A longer document is read in several "
        + "windows."),
    OptionRow(.documentStride, value: "N", "overlap of neighbouring windows; default 128"),
    OptionRow(.maxQuestionLength, value: "N", "a longer question is cut; default 64"),
    OptionRow(
      .maxWindows, value: "N",
      "read only the N windows that fit the question best by their words; default 0: all",
      detail: "They are ranked by the words that they share with the question (BM25)."),
    OptionRow(
      .nBestSize, value: "N",
      "look only at the N best starts and ends of each window; default 0: at all"),
    OptionRow(
      .noAlignToWords, "let answers start and end inside words and expressions, or be punctuation",
      detail:
        "Otherwise an answer has whole words, does not cut an e-mail or web address, a path or name with dots, "
        + "a number with its unit or an abbreviation, and has a letter, a digit or a symbol."),
  ]

  static let options = (choosingRows + readingRows).map(\.option)

  /// Sets the option if it is one of these; ignores all others.
  mutating func set(_ given: ParsedOption) throws(ToolError) {
    switch given.option {
    case .topK: topK = try given.integer()
    case .maxAnswerLength: maxAnswerLength = try given.integer()
    case .maxSequenceLength: maxSequenceLength = try given.integer()
    case .documentStride: documentStride = try given.integer()
    case .maxQuestionLength: maxQuestionLength = try given.integer()
    case .nBestSize: nBestSize = try given.integer()
    case .maxWindows: maxWindows = try given.integer()
    case .noAnswerThreshold: noAnswerThreshold = try given.number()
    case .handleImpossibleAnswer: handlesImpossibleAnswer = true
    case .noAlignToWords: alignsToWords = false
    default: break
    }
  }
}
