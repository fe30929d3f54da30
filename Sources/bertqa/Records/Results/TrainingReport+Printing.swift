import BertQACore

extension TrainingReport {
  private var facts: [(String, Facts.Value)] {
    var facts: [(String, Facts.Value)] = [
      ("text_count", .integer(textCount)),
      ("label_count", .integer(labels.count)),
      ("vocabulary_size", .integer(vocabularySize)),
      ("iteration_count", .integer(iterations)),
      ("is_converged", .boolean(hasConverged)),
      ("loss", .number(Float(loss))),
    ]
    guard !confusion.isEmpty else { return facts }
    facts += [
      ("accuracy", .number(Float(accuracy))),
      ("macro_f1", .number(Float(macroF1))),
      ("calibration_error", .number(Float(calibrationError))),
    ]
    return facts
  }

  /// Labels above which a table of all pairs of them would be of no use.
  private static let tableLabels = 100

  /// [true label][predicted label]: texts.
  private var matrix: [[Int]] {
    var matrix = [[Int]](repeating: [Int](repeating: 0, count: labels.count), count: labels.count)
    for entry in confusion { matrix[entry.trueLabel][entry.predictedLabel] = entry.count }
    return matrix
  }

  /// One fact a line, then for each label its texts, its precision and recall, and how many of its texts were
  /// predicted as each label.
  func lines() -> [UInt8] {
    var output = Facts(facts).lines()
    guard !confusion.isEmpty else { return output }
    let matrix = labels.count > Self.tableLabels ? nil : matrix
    var table: [[String]] = []
    for (row, label) in labels.enumerated() {
      let scores = [precision[row], recall[row]].map { decimal($0, digits: 4) }
      table.append(
        [PlainText.of(label), String(labelTexts[row])] + scores + (matrix?[row].map(String.init) ?? []))
    }
    let widths = table[0].indices.map { column in table.map { $0[column].unicodeScalars.count }.max() ?? 0 }
    output += "\nlabel, texts, precision, recall".utf8
    output += "\(matrix == nil ? "" : ", and what they were predicted as, in the order of the lines"):\n".utf8
    for row in table {
      for (column, cell) in row.enumerated() {
        let padding = repeatElement(UInt8(ascii: " "), count: widths[column] - cell.unicodeScalars.count)
        if column == 0 {
          output += cell.utf8
          output += padding
        } else {
          output += column < 5 ? "  ".utf8 : " ".utf8
          output += padding
          output += cell.utf8
        }
      }
      output.append(UInt8(ascii: "\n"))
    }
    return output
  }

  /// One object, on one line.
  /// - Parameter skippedCount: records that were not right.
  func json(skippedCount: Int) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      for (name, value) in facts where name != "label_count" {
        writer.key(name)
        value.write(to: &writer)
      }
      writer.key("skipped_count")
      writer.integer(skippedCount)
      writer.key("labels")
      writer.array { writer in labels.forEach { writer.string($0) } }
      writer.key("label_text_counts")
      writer.array { writer in labelTexts.forEach { writer.integer($0) } }
      for (name, values) in [("precision", precision), ("recall", recall)] {
        writer.key(name)
        writer.array { writer in values.forEach { writer.number(Float($0)) } }
      }
      // Of pairs that occur only, as there may be very many labels.
      writer.key("confusion")
      writer.array { writer in
        for entry in confusion {
          writer.array { writer in
            writer.integer(entry.trueLabel)
            writer.integer(entry.predictedLabel)
            writer.integer(entry.count)
          }
        }
      }
    }
    return writer.takeLine()
  }
}
