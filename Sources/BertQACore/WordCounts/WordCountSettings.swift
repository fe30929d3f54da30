/// How a word-count model turns a text into features.
struct WordCountSettings: Sendable, Equatable {
  var minWordLength = 3
  var minDistinctWords = 3
  var maxNGram = 1
  var usesTFIDF = false

  init() {}

  init(_ options: TrainOptions) {
    minWordLength = options.minWordLength
    minDistinctWords = options.minDistinctWords
    maxNGram = options.maxNGram
    usesTFIDF = options.usesTFIDF
  }
}
