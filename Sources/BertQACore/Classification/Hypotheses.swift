/// Zero-shot classification (Yin et al. 2019, Benchmarking Zero-shot Text Classification): for each of the caller's
/// labels, a model of entailment judges whether a text entails a sentence with the label. Probabilities and their
/// order are those of Hugging Face's zero-shot-classification pipeline.
struct Hypotheses {
  private let labels: [String]
  /// By label. The caller keeps their texts.
  private let tokenized: [TokenizedText]
  /// The tokens of all, end to end, and where those of each begin.
  private let tokens: [Int32]
  private let starts: [Int]
  /// The rows of the model's output.
  private let (entailment, contradiction): (Int, Int)
  private let problemType: ProblemType

  /// Returns one sentence per label.
  static func sentences(
    _ options: ClassifyOptions, _ monitor: CallMonitor
  ) throws(BertQAError) -> [String] {
    let size = options.hypothesisTemplate.utf8.count
    // The template's parts, one after the other, and the sentences.
    let total = options.labels.reduce((options.labels.count + 3) * size) { $0 + $1.utf8.count }
    try Memory.require(total)
    try monitor.hold(total)
    let template = Array(options.hypothesisTemplate.utf8)
    let places = template.indices.dropLast().lazy.filter {
      template[$0] == UInt8(ascii: "{") && template[$0 + 1] == UInt8(ascii: "}")
    }
    guard places.count == 1, let place = places.first else {
      throw BertQAError(
        .invalidArgument, argument: "hypothesis_template",
        "has {} \(places.count) times, but must have it once: the label's place")
    }
    return options.labels.map {
      String(decoding: template[..<place] + Array($0.utf8) + template[(place + 2)...], as: UTF8.self)
    }
  }

  static func wrongModel(_ reason: String) -> BertQAError {
    BertQAError(
      .wrongModel, argument: "labels",
      "need a model of entailment (natural language inference), but \(reason)")
  }

  /// - Parameters:
  ///   - sentences: the bytes of `sentences(options)`.
  ///   - names: the model's labels.
  init(
    _ sentences: [UnsafeBufferPointer<UInt8>], _ options: ClassifyOptions, names: [String],
    _ tokenizer: any Tokenizer, _ monitor: CallMonitor
  ) throws(BertQAError) {
    guard let entailment = names.firstIndex(where: { $0.lowercased().hasPrefix("entail") }), names.count > 1
    else {
      throw Self.wrongModel("this one has no label \"entailment\"")
    }
    labels = options.labels
    self.entailment = entailment
    contradiction = entailment == 0 ? names.count - 1 : 0
    problemType = options.allowsSeveralLabels || labels.count == 1 ? .multiLabel : .singleLabel
    var tokenized = try [TokenizedText](checkedCapacity: sentences.count, monitor)
    var tokens: [Int32] = []
    var starts = try [Int](checkedCapacity: sentences.count, monitor)
    for sentence in sentences {
      try monitor.check()
      try TextLimit.check(sentence, "labels")
      let text = try TokenizedText(sentence, tokenizer, monitor)
      starts.append(tokens.count)
      try tokens.makeRoom(for: text.count, monitor)
      tokens += text.tokens.ids
      tokenized.append(text)
    }
    self.tokenized = tokenized
    self.tokens = tokens
    self.starts = starts
  }

  /// Returns a text's windows with each label's sentence, and by label the end of its windows.
  func item(
    of text: TokenizedText, _ layout: WindowLayout, _ monitor: CallMonitor
  ) throws(BertQAError) -> (item: WindowReader.Item, ends: [Int]) {
    var windows: [WindowLayout.Parts] = []
    var ends = try [Int](checkedCapacity: tokenized.count, monitor)
    for (label, sentence) in tokenized.enumerated() {
      let parts = try layout.parts(first: text, second: sentence, monitor)
      try windows.makeRoom(for: parts.count, monitor)
      for part in parts {
        let second = part.second ?? 0..<0
        windows.append(
          WindowLayout.Parts(
            first: part.first, second: starts[label] + second.lowerBound..<starts[label] + second.upperBound))
      }
      ends.append(windows.count)
    }
    return (WindowReader.Item(first: text.tokens.ids[...], second: tokens[...], windows: windows), ends)
  }

  /// Returns a label's logit, from the model's logits for its sentence: that of entailment or, if labels do not
  /// exclude each other, that of entailment minus that of contradiction.
  func logit(_ logits: [Float]) -> Float {
    problemType == .singleLabel ? logits[entailment] : logits[entailment] - logits[contradiction]
  }

  /// - Parameter logits: one per label.
  func classification(_ logits: [Float], _ poll: CallPoll) throws(BertQAError) -> Classification {
    try Classification(logits: logits, labels: labels, problemType: problemType, poll)
  }
}
