/// All options of all commands; the raw value is the long name. Each command's table documents its options.
enum Option: String, CaseIterable {
  case question
  case model
  case json
  case topK = "top-k"
  case sentence
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
  case partial
  case threads
  case precision
  case isa
  case load
  case parseSpecialTokens = "parse-special-tokens"
  case ids
  case contributions
  case minProbability = "min-probability"
  case windowPooling = "window-pooling"
  case labels
  case hypothesisTemplate = "hypothesis-template"
  case multiLabel = "multi-label"
  case nested
  case patterns
  case regions
  case allow
  case deny
  case rules
  case report
  case everywhere
  case redact
  case mask
  case hash
  case pseudonym
  case mapping
  case aggregation
  case threshold
  case textField = "text-field"
  case textFormat = "text-format"
  case labelField = "label-field"
  case groupField = "group-field"
  case format
  case delimiter
  case encoding
  case file
  case force
  case html
  case browser
  case check
  case table
  case passages
  case wordsOnly = "words-only"
  case include
  case exclude
  case convert
  case path
  case field
  case embedModel = "embed-model"
  case features
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
  case calibrate
  case seed
  case lines
  case pooling
  case tokens
  case normalize
  case noNormalize = "no-normalize"
  case truncate
  case promptName = "prompt-name"
  case prompt
  case task
  case secondField = "second-field"
  case questionField = "question-field"
  case outputField = "output-field"
  case fields
  case coerce
  case nullText = "null-text"
  case inPlace = "in-place"
  case holdout
  case idField = "id-field"
  case titleField = "title-field"
  case onError = "on-error"
  case maxRecordBytes = "max-record-bytes"
  case maxDocumentBytes = "max-document-bytes"
  case timeout
  case maxBytes = "max-bytes"
  case maxDocumentTokens = "max-document-tokens"
  case batchSize = "batch-size"
  case output
  case resume
  case follow
  case stopTimeout = "stop-timeout"
  case maxErrors = "max-errors"
  case exitZeroOnRecordErrors = "exit-zero-on-record-errors"
  case checkpointInterval = "checkpoint-interval"
  case stats
  case metrics
  case metricsLabel = "metrics-label"
  case progress
  case quiet
  case score
  case rank
  case includeEnd = "include-end"
  case maxWords = "max-words"
  case temperature
  case topP = "top-p"
  case help
  case version

  /// The option as typed, such as "--top-k".
  var spelling: String { "--\(rawValue)" }

  /// Finds the option for an argument of the library, which the C header calls "top_k", for instance.
  init?(argument: String) {
    self.init(rawValue: String(argument.map { $0 == "_" ? "-" : $0 }))
  }
}
