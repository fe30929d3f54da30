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

  /// One fact a line, then for each label its texts, its precision and recall, and how many of its texts were
  /// predicted as each label.
  func lines() -> [UInt8] {
    var output = Facts(facts).lines()
    guard !confusion.isEmpty else { return output }
    var table: [[String]] = []
    for (row, label) in labels.enumerated() {
      let scores = [precision(of: row), recall(of: row)].map { decimal($0, digits: 4) }
      table.append([PlainText.of(label), String(labelTexts[row])] + scores + confusion[row].map(String.init))
    }
    let widths = table[0].indices.map { column in table.map { $0[column].unicodeScalars.count }.max() ?? 0 }
    output +=
      "\nlabel, texts, precision, recall, and what they were predicted as, in the order of the lines:\n".utf8
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

  /// Of the texts that were predicted as the label, the part that has it; NaN if there are none.
  private func precision(of label: Int) -> Double {
    Double(confusion[label][label]) / Double(confusion.reduce(0) { $0 + $1[label] })
  }

  /// Of the texts that have the label, the part that was predicted so; NaN if there are none.
  private func recall(of label: Int) -> Double {
    Double(confusion[label][label]) / Double(confusion[label].reduce(0, +))
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
      if !confusion.isEmpty {
        writer.key("precision")
        writer.array { writer in labels.indices.forEach { writer.number(Float(precision(of: $0))) } }
        writer.key("recall")
        writer.array { writer in labels.indices.forEach { writer.number(Float(recall(of: $0))) } }
      }
      writer.key("confusion")
      writer.array { writer in
        for row in confusion { writer.array { writer in row.forEach { writer.integer($0) } } }
      }
    }
    return writer.takeLine()
  }
}
