import BertQACore

extension AnswerOptions {
  static let commandLineOptions: [Option] = [
    .topK, .handleImpossibleAnswer, .noAnswerThreshold, .maxAnswerLength, .maxSequenceLength,
    .documentStride, .maxQuestionLength, .nBestSize, .maxWindows, .noAlignToWords,
  ]

  /// How the document is read, for help texts.
  static let readingHelp = """
          --max-answer-len N    longest answer; default 30
          --max-seq-len N       length of a window, with the question; default 384
          --doc-stride N        overlap of neighbouring windows; default 128
          --max-question-len N  a longer question is cut; default 64
          --max-windows N       read only the N windows that fit the question best
                                by their words; default 0: all
          --n-best-size N       look only at the N best starts and ends of each
                                window; default 0: at all
          --no-align-to-words   let answers start and end inside words
    """

  /// Takes the options that are its own and leaves the others.
  mutating func set(_ option: Option, _ value: ArgumentText?, command: String) throws(ToolError) {
    func integer() throws(ToolError) -> Int {
      try value?.integer(of: option, command: command) ?? 0
    }
    switch option {
    case .topK: topK = try integer()
    case .maxAnswerLength: maxAnswerLength = try integer()
    case .maxSequenceLength: maxSequenceLength = try integer()
    case .documentStride: documentStride = try integer()
    case .maxQuestionLength: maxQuestionLength = try integer()
    case .nBestSize: nBestSize = try integer()
    case .maxWindows: maxWindows = try integer()
    case .noAnswerThreshold: noAnswerThreshold = try value?.number(of: option, command: command)
    case .handleImpossibleAnswer: handlesImpossibleAnswer = true
    case .noAlignToWords: alignsToWords = false
    default: break
    }
  }
}
