import BertQACore

/// The classification of one file, ready to be printed.
struct ClassificationRecord {
  let source: TextSource
  let document: UnsafeBufferPointer<UInt8>
  let result: Classification

  private func text(_ range: TextRange) -> Slice<UnsafeBufferPointer<UInt8>> {
    document[range.start..<range.end]
  }

  /// Returns one line for each label and each contribution. Tabs separate the columns.
  func lines(topK: Int) -> [UInt8] {
    var output: [UInt8] = []
    func append(_ columns: [String]) {
      output += source.column
      for (index, column) in columns.enumerated() {
        if index > 0 { output.append(UInt8(ascii: "\t")) }
        PlainText.append(column.utf8, to: &output)
      }
      output.append(UInt8(ascii: "\n"))
    }
    if result.isNone, let best = result.scores.first {
      append(["none", decimal(Double(best.probability), digits: 4)])
    } else {
      for score in result.scores.prefix(topK) {
        let number = result.problemType == .regression ? score.logit : score.probability
        append([score.label, decimal(Double(number), digits: 4)])
      }
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

  /// The reason why there is no label; nil if there is one.
  var complaint: String? {
    guard result.notEnoughText else { return nil }
    return "\(source.shown): too short to classify: \(result.distinctWords) distinct word(s)"
  }

  /// Returns one JSON object on one line. Names and meanings are those of the C API.
  func json(topK: Int?) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      source.writeMembers(to: &writer)
      result.writeMembers(text: document, labelLimit: topK, to: &writer)
    }
    return writer.takeLine()
  }
}

extension Classification {
  /// Writes the members of an object, named as in the C API.
  /// - Parameter labelLimit: the maximum number of labels, the most probable ones; nil for all.
  func writeMembers(
    text: UnsafeBufferPointer<UInt8>, labelLimit: Int? = nil, to writer: inout JSONWriter
  ) {
    writer.array("labels") { writer in
      for score in scores.prefix(labelLimit ?? scores.count) { score.write(to: &writer) }
    }
    writer.string("problem_type", problemType.description)
    writer.boolean("is_too_short", notEnoughText)
    writer.boolean("is_none", isNone)
    writer.integer("distinct_word_count", distinctWords)
    writer.integer("window_count", windowCount)
    writer.array("contributions") { writer in
      for contribution in contributions { contribution.write(text: text, to: &writer) }
    }
  }
}

extension LabelScore {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.string("label", label)
      writer.integer("id", id)
      writer.number("probability", probability)
      writer.number("logit", logit)
    }
  }
}

extension WordContribution {
  fileprivate func write(text: UnsafeBufferPointer<UInt8>, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.place(bytes, codePoints, utf16, in: text)
      writer.number("weight", weight)
    }
  }
}
