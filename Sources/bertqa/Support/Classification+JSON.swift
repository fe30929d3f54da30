import BertQACore

extension Classification {
  /// The members of an object, named as in the C API.
  /// - Parameter labelLimit: how many labels to give, the most probable ones; nil for all.
  func writeMembers(
    text: UnsafeBufferPointer<UInt8>, labelLimit: Int? = nil, to writer: inout JSONWriter
  ) {
    writer.key("labels")
    writer.array { writer in
      for score in scores.prefix(labelLimit ?? scores.count) { score.write(to: &writer) }
    }
    writer.key("problem_type")
    writer.string(problemType.spelling)
    writer.key("not_enough_text")
    writer.boolean(notEnoughText)
    writer.key("distinct_words")
    writer.integer(distinctWords)
    writer.key("window_count")
    writer.integer(windowCount)
    writer.key("contributions")
    writer.array { writer in
      for contribution in contributions { contribution.write(text: text, to: &writer) }
    }
  }
}

extension LabelScore {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.key("label")
      writer.string(label)
      writer.key("id")
      writer.integer(id)
      writer.key("probability")
      writer.number(probability)
      writer.key("logit")
      writer.number(logit)
    }
  }
}

extension WordContribution {
  fileprivate func write(text: UnsafeBufferPointer<UInt8>, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.place(bytes, codePoints, utf16, in: text)
      writer.key("weight")
      writer.number(weight)
    }
  }
}

extension ProblemType {
  /// Hugging Face's.
  fileprivate var spelling: String {
    switch self {
    case .singleLabel: "single_label_classification"
    case .multiLabel: "multi_label_classification"
    case .regression: "regression"
    }
  }
}
