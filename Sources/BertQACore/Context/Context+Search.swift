/// Collections of passages: cutting texts, and searching by words and by vectors.
extension Context {
  /// Cuts a text into passages of whole sentences, as a collection stores them. Returns ranges of bytes.
  package func passages(
    of text: UnsafeBufferPointer<UInt8>, call: CallOptions = CallOptions()
  ) throws(BertQAError) -> [TextRange] {
    let tokens = try tokenize(text, call: call)
    guard let tokenizer = engine.tokenizer else { return [] }
    return try PassageLayout.passages(
      of: TokenizedText(text: text, tokens: tokens, tokenizer: tokenizer), CallMonitor(call))
  }

  /// Begins a search by the question's words and by its vector, computed with the model's prompt for queries.
  /// - Parameter fingerprint: identifies the model of the collection's vectors.
  package func search(
    question: UnsafeBufferPointer<UInt8>, fingerprint: UnsafeBufferPointer<UInt8>,
    call: CallOptions = CallOptions()
  ) throws(BertQAError) -> PassageSearch {
    try checkVectors(fingerprint, call)
    var options = EmbedOptions()
    options.call = call
    options.promptName = PromptName.query
    options.normalizes = true
    let vector = try embed([TextPair(text: question)], options: options)
    return try PassageSearch(
      question: question, vector: questionVector(vector), threads: info.threads, call: call)
  }

  /// Answers a search's question on its best passages, which are read as the search ranks them.
  /// - Parameter passages: the texts of `search.best(passages.count)`, in this order.
  package func answer(
    _ search: PassageSearch, passages: [QuestionItem.Document], options: AnswerOptions
  ) throws(BertQAError) -> AnswerResult {
    let ranks = search.best(passages.count).map { max($0.score, .leastNormalMagnitude) }
    guard ranks.count == passages.count else {
      throw BertQAError(
        .invalidArgument, argument: "count",
        "is \(passages.count), but the search found \(ranks.count) passages")
    }
    return try search.question.withElements { question throws(BertQAError) in
      try answer(question: question, documents: passages, ranks: ranks, options: options)
    }
  }

  /// The text whose vector identifies a model.
  private static let probe = "Who signed the lease of the house by the river?"
  /// The lowest cosine of two of the probe's vectors by one model, in any precisions and instruction sets.
  private static let leastCosine: Float = 0.99

  /// Returns bytes that identify stored vectors as this model's, regardless of its precision and file: the probe's
  /// vector, as a scale and a row.
  package func vectorFingerprint(call: CallOptions = CallOptions()) throws(BertQAError) -> [UInt8] {
    guard info.embeddingLength % 4 == 0 else {
      throw BertQAError(
        .unsupported,
        "\(info.directory): its vectors have \(info.embeddingLength) numbers, but vectors to search have a multiple of 4"
      )
    }
    let vector = try probeVector(call)
    var scale: Float = 0
    var row = [Int8](repeating: 0, count: vector.count)
    try row.withMutableElements { row throws(BertQAError) in
      try vector.withElements { vector throws(BertQAError) in
        guard let base = row.baseAddress else { return }
        try VectorRows.quantize(vector, length: vector.count, rows: base, scales: &scale)
      }
    }
    return withUnsafeBytes(of: scale.bitPattern.littleEndian) { Array($0) }
      + row.map { UInt8(bitPattern: $0) }
  }

  /// Throws `.wrongModel` if the fingerprint is that of another model. Static models without a word of the probe, such
  /// as those of another script, cannot be told apart: they give a vector of zeros.
  private func checkVectors(
    _ fingerprint: UnsafeBufferPointer<UInt8>, _ call: CallOptions
  ) throws(BertQAError) {
    let vector = try probeVector(call)
    let scaleSize = MemoryLayout<Float>.size
    var cosine: Float = 0
    var areZero = false
    if fingerprint.count == scaleSize + vector.count, let base = fingerprint.baseAddress {
      let scale = Float(
        bitPattern: UInt32(littleEndian: UnsafeRawPointer(base).loadUnaligned(as: UInt32.self)))
      areZero = true
      for (index, value) in vector.enumerated() {
        let stored = scale * Float(Int8(bitPattern: fingerprint[scaleSize + index]))
        cosine += value * stored
        if value != 0 || stored != 0 { areZero = false }
      }
    }
    guard cosine >= Self.leastCosine || areZero else {
      throw BertQAError(
        .wrongModel,
        "the vectors are those of another model than \(info.directory): use the model that made them, or index "
          + "the texts again with this one")
    }
  }

  /// Of length 1.
  private func probeVector(_ call: CallOptions) throws(BertQAError) -> [Float] {
    var options = EmbedOptions()
    options.call = call
    options.normalizes = true
    return try withBytes(of: [Self.probe]) { texts throws(BertQAError) in
      try embed([TextPair(text: texts[0])], options: options)
    }
  }

  private func questionVector(_ vector: [Float]) throws(BertQAError) -> QuestionVector {
    guard let kernels = Kernels(isa: info.instructionSet?.rawValue ?? 0) else {
      throw BertQAError(.internal, "an embedding model without kernels")
    }
    return try vector.withElements { vector throws(BertQAError) in
      try QuestionVector(vector, kernels: kernels)
    }
  }
}
