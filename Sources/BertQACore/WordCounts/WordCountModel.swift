/// A word-count classifier: scores that are linear in the word counts of a text. Immutable.
final class WordCountModel: @unchecked Sendable {
  // Sendable: nothing changes after init.

  let settings: WordCountSettings
  let labels: [String]
  /// The terms that are features.
  let table: TermTable
  /// [feature][label]
  let weights: GrowableBuffer<Float>
  /// [label]
  let bias: [Float]
  /// [feature]; empty without TF-IDF.
  let idf: GrowableBuffer<Float>
  let temperature: LengthTemperature

  init(
    settings: WordCountSettings, labels: [String], table: consuming TermTable,
    weights: consuming GrowableBuffer<Float>, bias: [Float], idf: consuming GrowableBuffer<Float>,
    temperature: LengthTemperature
  ) {
    self.settings = settings
    self.labels = labels
    self.table = table
    self.weights = weights
    self.bias = bias
    self.idf = idf
    self.temperature = temperature
  }

  var labelCount: Int { labels.count }
  var featureCount: Int { table.count }
}

// MARK: - Scores

extension WordCountModel {
  /// Iterates over the occurrences of terms in a text; pairs are among them if the model has such features.
  func walk(_ text: UnsafeBufferPointer<UInt8>, poll: CallPoll?) -> TermWalk {
    TermWalk(
      text, minimumLength: settings.minWordLength, maxNGram: settings.maxNGram, hasher: table.hasher,
      poll: poll)
  }

  /// Returns the factor of every feature of a text: 1 / the length of the text's vector with TF-IDF, else 1.
  func scale(of counts: WordCounts) -> Double {
    guard settings.usesTFIDF else { return 1 }
    var squares = 0.0
    for feature in counts.features.elements {
      let value = Double(counts[feature]) * Double(idf[Int(feature)])
      squares += value * value
    }
    return squares > 0 ? 1 / squares.squareRoot() : 0
  }

  /// Returns the score of each label. [label]
  func logits(of counts: WordCounts, scale: Double) -> [Double] {
    let labelCount = labelCount
    return [Double](unsafeUninitializedCapacity: labelCount) { logits, count in
      logits.initialize(repeating: 0)
      count = labelCount
      guard let logits = logits.baseAddress else { return }
      for feature in counts.features.elements {
        var value = Double(counts[feature])
        if settings.usesTFIDF { value *= Double(idf[Int(feature)]) }
        let row = weights.base + Int(feature) * labelCount
        for label in 0..<labelCount { logits[label] += value * Double(row[label]) }
      }
      for label in 0..<labelCount { logits[label] = logits[label] * scale + Double(bias[label]) }
    }
  }
}

/// How a word-count model turns a text into features.
struct WordCountSettings: Sendable, Equatable {
  var minWordLength = 3
  var minDistinctWords = 3
  var maxNGram = 1
  var usesTFIDF = false

  init() {}
}
