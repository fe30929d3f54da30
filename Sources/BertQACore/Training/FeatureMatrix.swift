/// Texts as sparse rows of features: counts, TF-IDF weights or the numbers of vectors. A row of TF-IDF weights has
/// length 1 unless it is empty.
struct FeatureMatrix: ~Copyable {
  let rowCount: Int
  let featureCount: Int
  /// The monitor of the call that works on the matrix.
  let monitor: CallMonitor
  /// The start of each row in the next two arrays, and the end of the last row.
  private(set) var rowStarts = GrowableBuffer<Int>()
  private(set) var features = GrowableBuffer<UInt32>()
  private(set) var values = GrowableBuffer<Float>()

  init(
    _ texts: borrowing TrainingTexts, rows: [Int], _ selection: FeatureSelection, _ monitor: CallMonitor
  ) throws(BertQAError) {
    self.monitor = monitor
    rowCount = rows.count
    featureCount = selection.terms.count
    try rowStarts.reserve(rowCount + 1)
    try rowStarts.append(0)
    for row in rows {
      try monitor.check()
      var squares = 0.0
      for index in texts.rowStarts[row]..<texts.rowStarts[row + 1] {
        let feature = selection.features[Int(texts.termIDs[index])]
        guard feature >= 0 else { continue }
        var value = Double(texts.counts[index])
        if let idf = selection.idf { value *= idf[Int(feature)] }
        squares += value * value
        try features.append(UInt32(feature))
        try values.append(Float(value))
      }
      if selection.idf != nil, squares > 0 {
        let scale = 1 / squares.squareRoot()
        for index in rowStarts[rowStarts.count - 1]..<values.count {
          values[index] = Float(Double(values[index]) * scale)
        }
      }
      try rowStarts.append(values.count)
    }
  }

  /// Texts as rows in which every feature has a value.
  /// - Parameter vectors: [text][length]
  init(
    vectors: borrowing GrowableBuffer<Float>, length: Int, rows: [Int], _ monitor: CallMonitor
  ) throws(BertQAError) {
    self.monitor = monitor
    rowCount = rows.count
    featureCount = length
    try rowStarts.reserve(rowCount + 1)
    try features.reserve(rowCount * length)
    try values.reserve(rowCount * length)
    try rowStarts.append(0)
    for row in rows {
      try monitor.check()
      for feature in 0..<length { try features.append(UInt32(truncatingIfNeeded: feature)) }
      try values.append(vectors.base + row * length, count: length)
      try rowStarts.append(values.count)
    }
  }

  /// The bytes of the matrix and of its `FeatureColumns`.
  var byteCount: Int { 2 * (8 * values.count + 8 * (rowCount + featureCount)) }
}

/// The same matrix by columns: for each feature, the rows that have it, in order.
struct FeatureColumns: ~Copyable {
  /// The start of each feature in the next two arrays, and the end of the last feature.
  private(set) var starts: GrowableBuffer<Int>
  private(set) var rows: GrowableBuffer<UInt32>
  private(set) var values: GrowableBuffer<Float>

  init(_ matrix: borrowing FeatureMatrix) throws(BertQAError) {
    let count = matrix.values.count
    let starts = try GrowableBuffer<Int>(repeating: 0, count: matrix.featureCount + 1)
    let rows = try GrowableBuffer<UInt32>(repeating: 0, count: count)
    let values = try GrowableBuffer<Float>(repeating: 0, count: count)
    for feature in matrix.features.elements { starts[Int(feature) + 1] += 1 }
    for feature in 0..<matrix.featureCount { starts[feature + 1] += starts[feature] }
    // `starts` moves to each column's end, which is the start of the next column.
    for row in 0..<matrix.rowCount {
      for index in matrix.rowStarts[row]..<matrix.rowStarts[row + 1] {
        let feature = Int(matrix.features[index])
        rows[starts[feature]] = UInt32(truncatingIfNeeded: row)
        values[starts[feature]] = matrix.values[index]
        starts[feature] += 1
      }
    }
    for feature in stride(from: matrix.featureCount, to: 0, by: -1) { starts[feature] = starts[feature - 1] }
    starts[0] = 0
    self.starts = starts
    self.rows = rows
    self.values = values
  }
}
