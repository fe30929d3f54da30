import BertQACore

/// The quality of a classifier on unseen texts, ready to be printed.
struct EvaluationRecord {
  let labels: [String]
  /// [label]: the number of texts with this label.
  let labelTexts: [Int]
  let accuracy: Double
  let macroF1: Double
  let calibrationError: Double
  /// [label]
  let precision: [Double]
  let recall: [Double]
  let f1: [Double]
  let confusion: [ConfusionEntry]

  /// The maximum number of labels for which the confusion table is printed.
  private static let tableLabels = 100

  var facts: [(String, Facts.Value)] {
    [
      ("accuracy", .number(Float(accuracy))),
      ("macro_f1", .number(Float(macroF1))),
      ("calibration_error", .number(Float(calibrationError))),
    ]
  }

  /// [true label][predicted label]: the number of texts.
  private var matrix: [[Int]] {
    var matrix = [[Int]](repeating: [Int](repeating: 0, count: labels.count), count: labels.count)
    for entry in confusion { matrix[entry.trueLabel][entry.predictedLabel] = entry.count }
    return matrix
  }

  /// Returns a line for each label: its texts, its precision, recall and F1, and the number of its texts that
  /// were predicted as each label.
  func tableLines() -> [UInt8] {
    guard !labels.isEmpty else { return [] }
    let matrix = labels.count > Self.tableLabels ? nil : matrix
    var table: [[String]] = []
    for (row, label) in labels.enumerated() {
      let scores = [precision[row], recall[row], f1[row]].map { decimal($0, digits: 4) }
      table.append(
        [PlainText.of(label), String(labelTexts[row])] + scores + (matrix?[row].map(String.init) ?? []))
    }
    let widths = table[0].indices.map { column in table.map { $0[column].unicodeScalars.count }.max() ?? 0 }
    var output = Array("label, texts, precision, recall, F1".utf8)
    output += "\(matrix == nil ? "" : ", and what they were predicted as, in the order of the lines"):\n".utf8
    for row in table {
      for (column, cell) in row.enumerated() {
        let padding = repeatElement(UInt8(ascii: " "), count: widths[column] - cell.unicodeScalars.count)
        if column == 0 {
          output += cell.utf8
          output += padding
        } else {
          output += column < 6 ? "  ".utf8 : " ".utf8
          output += padding
          output += cell.utf8
        }
      }
      output.append(UInt8(ascii: "\n"))
    }
    return output
  }

  /// Writes the object members with the figures of each label.
  func writeLabels(to writer: inout JSONWriter) {
    writer.array("labels") { writer in labels.forEach { writer.string($0) } }
    writer.list("label_text_counts", labelTexts)
    for (name, values) in [("precision", precision), ("recall", recall), ("f1", f1)] {
      writer.array(name) { writer in values.forEach { writer.number(Float($0)) } }
    }
    // Only the pairs that occur, as there may be very many labels.
    writer.array("confusion") { writer in
      for entry in confusion { writer.list([entry.trueLabel, entry.predictedLabel, entry.count]) }
    }
  }
}
