import BertQACore

extension TrainingReport {
  private var facts: [(String, Facts.Value)] {
    var facts: [(String, Facts.Value)] = [
      ("texts", .integer(textCount)),
      ("labels", .integer(labels.count)),
      ("vocabulary_size", .integer(vocabularySize)),
      ("iterations", .integer(iterations)),
      ("converged", .boolean(hasConverged)),
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

  /// [true label][predicted label]
  private var matrix: [[Int]] {
    guard !confusion.isEmpty else { return [] }
    var matrix = [[Int]](repeating: [Int](repeating: 0, count: labels.count), count: labels.count)
    for entry in confusion { matrix[entry.trueLabel][entry.predictedLabel] = entry.count }
    return matrix
  }

  /// One fact a line, then for each label its texts and how many of them were predicted as each label.
  func lines() -> [UInt8] {
    var output = Facts(facts).lines()
    guard !confusion.isEmpty else { return output }
    let confusion = matrix
    let widths = labels.indices.map { column in
      confusion.map { String($0[column]).utf8.count }.max() ?? 1
    }
    let names = labels.map { PlainText.of($0) }
    let nameWidth = names.map(\.unicodeScalars.count).max() ?? 0
    output += Array("\nlabel, texts, and what they were predicted as, in the order of the lines:\n".utf8)
    for (row, name) in names.enumerated() {
      output += Array(name.utf8)
      output += Array(repeating: UInt8(ascii: " "), count: nameWidth - name.unicodeScalars.count)
      let total = String(labelTexts[row])
      let totalWidth = labelTexts.map { String($0).utf8.count }.max() ?? 1
      output += Array(repeating: UInt8(ascii: " "), count: 2 + totalWidth - total.utf8.count)
      output += Array(total.utf8) + Array("  ".utf8)
      for (count, width) in zip(confusion[row], widths) {
        let number = String(count)
        output +=
          Array(repeating: UInt8(ascii: " "), count: 1 + width - number.utf8.count) + Array(number.utf8)
      }
      output.append(UInt8(ascii: "\n"))
    }
    return output
  }

  /// One object, on one line.
  func json() -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      for (name, value) in facts where name != "labels" {
        writer.key(name)
        value.write(to: &writer)
      }
      writer.key("labels")
      writer.array { writer in labels.forEach { writer.string($0) } }
      writer.key("label_texts")
      writer.array { writer in labelTexts.forEach { writer.integer($0) } }
      writer.key("confusion")
      writer.array { writer in
        for row in matrix { writer.array { writer in row.forEach { writer.integer($0) } } }
      }
    }
    return writer.takeLine()
  }
}
