/// Every option of every command; the raw value is the long name.
enum Option: String, CaseIterable {
  case question
  case model
  case json
  case topK = "top-k"
  case context
  case color
  case handleImpossibleAnswer = "handle-impossible-answer"
  case noAnswerThreshold = "no-answer-threshold"
  case maxAnswerLength = "max-answer-len"
  case maxSequenceLength = "max-seq-len"
  case documentStride = "doc-stride"
  case maxQuestionLength = "max-question-len"
  case nBestSize = "n-best-size"
  case maxWindows = "max-windows"
  case noAlignToWords = "no-align-to-words"
  case threads
  case precision
  case isa
  case parseSpecialTokens = "parse-special-tokens"
  case ids
  case explain
  case windowPooling = "window-pooling"
  case textField = "text-field"
  case labelField = "label-field"
  case format
  case delimiter
  case out
  case algorithm
  case minWordLength = "min-word-length"
  case minDistinctWords = "min-distinct-words"
  case maxNGram = "max-ngram"
  case tfIDF = "tf-idf"
  case minDocumentCount = "min-document-count"
  case maxDocumentFraction = "max-document-fraction"
  case maxVocabulary = "max-vocabulary"
  case c
  case alpha
  case maxIterations = "max-iterations"
  case tolerance
  case folds
  case seed
  case lines
  case pooling
  case normalize
  case noNormalize = "no-normalize"
  case truncate
  case task
  case secondField = "second-field"
  case questionField = "question-field"
  case outputField = "output-field"
  case idField = "id-field"
  case onError = "on-error"
  case maxRecordBytes = "max-record-bytes"
  case maxDocumentBytes = "max-document-bytes"
  case batchSize = "batch-size"
  case output
  case resume
  case checkpointInterval = "checkpoint-interval"
  case stats
  case metrics
  case progress
  case quiet
  case next
  case score
  case rank
  case includeEnd = "include-end"
  case maxWords = "max-words"
  case temperature
  case topP = "top-p"
  case help
  case version

  enum Value: Int32 {
    // The numbering of getopt_long's has_arg.
    case none = 0
    case required = 1
    case optional = 2
  }

  var value: Value {
    switch self {
    case .json, .context, .handleImpossibleAnswer, .noAlignToWords, .parseSpecialTokens, .ids, .tfIDF, .lines,
      .normalize, .noNormalize, .truncate, .progress, .quiet, .next, .score, .rank, .includeEnd, .help,
      .version:
      return .none
    case .color: return .optional
    default: return .required
    }
  }

  /// The one-letter name, in ASCII.
  var letter: UInt8? {
    switch self {
    case .question: return UInt8(ascii: "q")
    case .model: return UInt8(ascii: "m")
    case .topK: return UInt8(ascii: "k")
    case .out, .output: return UInt8(ascii: "o")
    case .help: return UInt8(ascii: "h")
    case .version: return UInt8(ascii: "V")
    default: return nil
    }
  }

  /// `message` with the C API's names of options (`top_k`) as this tool spells them (`--top-k`).
  static func spelledForTool(_ message: String) -> String {
    var bytes = Array(message.utf8)
    for option in allCases where option.rawValue.utf8.contains(UInt8(ascii: "-")) {
      let name = option.rawValue.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
      var index = 0
      while index + name.count <= bytes.count {
        if bytes[index..<index + name.count].elementsEqual(name) {
          bytes.replaceSubrange(index..<index + name.count, with: Array("--\(option.rawValue)".utf8))
        }
        index += 1
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
