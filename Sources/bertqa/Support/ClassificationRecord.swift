import BertQACore

/// What a classifier says of one file, ready to be printed.
struct ClassificationRecord {
  let file: ArgumentText
  let document: UnsafeBufferPointer<UInt8>
  let result: Classification

  private func text(_ range: TextRange) -> Slice<UnsafeBufferPointer<UInt8>> {
    document[range.start..<range.end]
  }

  /// A line for each label and each contribution, columns separated by tabs.
  func lines(topK: Int, showsFile: Bool) -> [UInt8] {
    var output: [UInt8] = []
    func append(_ columns: [String]) {
      if showsFile {
        PlainText.append(file.bytes, to: &output)
        output.append(UInt8(ascii: "\t"))
      }
      for (index, column) in columns.enumerated() {
        if index > 0 { output.append(UInt8(ascii: "\t")) }
        PlainText.append(column.utf8, to: &output)
      }
      output.append(UInt8(ascii: "\n"))
    }
    for score in result.scores.prefix(topK) {
      let number = result.problemType == .regression ? score.logit : score.probability
      append([score.label, decimal(Double(number), digits: 4)])
    }
    for word in result.contributions {
      let sign = word.weight < 0 ? "" : "+"
      append([
        sign + decimal(Double(word.weight), digits: 4), String(decoding: text(word.bytes), as: UTF8.self),
        "\(word.bytes.start)", "\(word.bytes.end)",
      ])
    }
    return output
  }

  /// Why there is no label, where there is none.
  var complaint: String? {
    guard result.notEnoughText else { return nil }
    return "\(file.string): not enough text: \(result.distinctWords) distinct word(s)"
  }

  /// One object, on one line. Names and meanings are those of the C API.
  func json(topK: Int?) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("file")
      writer.string(file.bytes)
      result.writeMembers(text: document, labelLimit: topK, to: &writer)
    }
    return writer.takeLine()
  }
}
