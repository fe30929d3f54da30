import BertQACore

extension AnswerOptions {
  /// The options that choose the answers.
  static let choosingRows = [
    OptionRow(
      .topK, letter: "k", value: "N", "print up to N answers, best first; default 1",
      detail: "Answers do not overlap. N is 1 to 1000."),
    OptionRow(
      .handleImpossibleAnswer, "give no answer if the document probably has none",
      detail: "Otherwise the best passage is the answer, however unlikely it is."),
    OptionRow(
      .noAnswerThreshold, value: "X",
      "minimum score of an answer relative to 'no answer'; default: that of the model",
      detail: "The document probably has no answer if the best passage's score exceeds the score of "
        + "'no answer' by less than this."),
  ]

  /// The options that control how the document is read.
  static let readingRows = [
    OptionRow(.maxAnswerLength, value: "N", "maximum length of an answer; default 30"),
    OptionRow(
      .maxSequenceLength, value: "N", "length of a window, including the question; default 384",
      detail:
        "The maximum is that of the model, which is the default of a Longformer. A longer document is read in "
        + "sections, which end where paragraphs and sentences do."),
    OptionRow(
      .documentStride, value: "N", "read all windows, which overlap by N, as Hugging Face's pipeline does",
      detail: "Their scores are compared as they are."),
    OptionRow(.maxQuestionLength, value: "N", "truncate longer questions; default 64"),
    OptionRow(
      .maxWindows, value: "N",
      "read the N sections that match the question's words best (BM25); -1: all",
      detail:
        "By default, sections are read until no other is likely to answer better, at most 7 (more if there are 128 or more). "
        + "With --doc-stride, all are read by default."),
    OptionRow(
      .nBestSize, value: "N",
      "consider only the N best starts and ends of each window; default 0: all"),
    OptionRow(
      .noAlignToWords,
      "let answers start or end inside words and expressions, cross blank lines and rows, or be punctuation",
      detail:
        "Otherwise an answer consists of whole words, does not cut an e-mail or web address, a path or name with dots, "
        + "a number with its unit or an abbreviation, does not cross a blank line or a line break that ends a sentence, as "
        + "in lists, tables and forms, and contains a letter, a digit or a symbol."),
  ]

  static let partialRow = OptionRow(
    .partial, "at the --timeout, answer from what has been read by then",
    detail: "The sections that match the question's words best are read first. --json has stop \"deadline\".")

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
    case .partial: allowsPartial = true
    default: break
    }
  }
}
