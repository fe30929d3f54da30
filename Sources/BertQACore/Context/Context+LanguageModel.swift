extension Context {
  /// Reads a word (in character models, a character) after a state and predicts the next one. The same word
  /// and state always lead to the same bits.
  /// - Parameters:
  ///   - state: nil starts a sequence.
  public func predict(
    word: UnsafeBufferPointer<UInt8>, state: SequenceState? = nil,
    options: SequenceOptions = SequenceOptions()
  ) throws(BertQAError) -> (prediction: Prediction, state: SequenceState) {
    try sequenceModel().predict(word, state: state, options: options)
  }

  public func predict(
    word: String, state: SequenceState? = nil,
    options: SequenceOptions = SequenceOptions()
  ) throws(BertQAError) -> (prediction: Prediction, state: SequenceState) {
    try withBytes(of: word) { word throws(BertQAError) in
      try predict(word: word, state: state, options: options)
    }
  }

  /// Splits a text into the model's words, reads them, and predicts the next word. An empty text needs a
  /// state.
  public func predict(
    after text: UnsafeBufferPointer<UInt8>, state: SequenceState? = nil,
    options: SequenceOptions = SequenceOptions()
  ) throws(BertQAError) -> (prediction: Prediction, state: SequenceState) {
    try sequenceModel().predict(after: text, state: state, options: options)
  }

  public func predict(
    after text: String, state: SequenceState? = nil, options: SequenceOptions = SequenceOptions()
  ) throws(BertQAError) -> (prediction: Prediction, state: SequenceState) {
    try withBytes(of: text) { text throws(BertQAError) in
      try predict(after: text, state: state, options: options)
    }
  }

  /// Splits a text into the model's words and reads them without a prediction. An empty text needs a state.
  public func read(
    text: UnsafeBufferPointer<UInt8>, state: SequenceState? = nil,
    options: SequenceOptions = SequenceOptions()
  ) throws(BertQAError) -> SequenceState {
    try sequenceModel().read(text: text, state: state, options: options)
  }

  /// Reads a word without a prediction, which takes a fraction of the time.
  public func read(
    word: UnsafeBufferPointer<UInt8>, state: SequenceState? = nil,
    options: SequenceOptions = SequenceOptions()
  ) throws(BertQAError) -> SequenceState {
    try sequenceModel().read(word, state: state, options: options)
  }

  /// Advances many independent sequences by one step.
  /// - Parameters:
  ///   - ids: the ids of words in the vocabulary.
  ///   - states: one for each id; nil starts a sequence.
  ///   - logits: [ids.count][vocabulary size]; nil if they are not needed.
  public func step(
    ids: UnsafeBufferPointer<Int32>, states: [SequenceState?],
    logits: UnsafeMutablePointer<Float>? = nil, options: SequenceOptions = SequenceOptions()
  ) throws(BertQAError) -> [SequenceState] {
    guard states.count == ids.count else {
      throw BertQAError(
        .invalidArgument, argument: "states", "has \(states.count) elements, but there are \(ids.count) ids")
    }
    return try sequenceModel().step(ids: ids, states: states, logits: logits, options: options)
  }

  /// Splits a prompt into the model's words, reads them, and generates a continuation. An empty prompt needs
  /// a state.
  public func generate(
    prompt: UnsafeBufferPointer<UInt8>, state: SequenceState? = nil,
    options: GenerateOptions = GenerateOptions()
  ) throws(BertQAError) -> Generation {
    try sequenceModel().generate(prompt, state: state, options: options)
  }

  public func generate(
    prompt: String, state: SequenceState? = nil, options: GenerateOptions = GenerateOptions()
  ) throws(BertQAError) -> Generation {
    try withBytes(of: prompt) { prompt throws(BertQAError) in
      try generate(prompt: prompt, state: state, options: options)
    }
  }

  /// nil for models of other tasks.
  public var sequenceInfo: SequenceInfo? {
    guard case .languageModel(let model) = engine else { return nil }
    let words = model.words
    let end = words.endID.map { String(decoding: words.vocabulary.piece($0), as: UTF8.self) }
    return SequenceInfo(
      stateLength: model.configuration.stateLength, separator: words.separator, end: end, endID: words.endID,
      unknownID: words.unknownID)
  }

  /// Computes the likelihood of a text, split into the model's words.
  /// - Parameters:
  ///   - state: the state that the text follows; nil starts a sequence, whose first word is not predicted.
  public func likelihood(
    of text: UnsafeBufferPointer<UInt8>, after state: SequenceState? = nil,
    options: SequenceOptions = SequenceOptions()
  ) throws(BertQAError) -> SequenceScore {
    try sequenceModel().likelihood(text, state: state, options: options)
  }

  public func likelihood(
    of text: String, after state: SequenceState? = nil, options: SequenceOptions = SequenceOptions()
  ) throws(BertQAError) -> SequenceScore {
    try withBytes(of: text) { text throws(BertQAError) in
      try likelihood(of: text, after: state, options: options)
    }
  }

  /// Ranks several continuations of a prefix. Returns their indices, highest log-likelihood per word first,
  /// and the scores of their own words in the given order.
  public func rank(
    _ continuations: [UnsafeBufferPointer<UInt8>], after prefix: UnsafeBufferPointer<UInt8>,
    state: SequenceState? = nil, options: SequenceOptions = SequenceOptions()
  ) throws(BertQAError) -> (order: [Int], scores: [SequenceScore]) {
    try sequenceModel().rank(continuations, after: prefix, state: state, options: options)
  }

  /// Returns a state of this model from the numbers of `SequenceState.values`.
  public func state(values: [Float]) throws(BertQAError) -> SequenceState {
    try SequenceState(values: values, of: sequenceModel())
  }

  /// Returns a state of this model from the bytes of `SequenceState.serialized`.
  public func state(serialized bytes: UnsafeRawBufferPointer) throws(BertQAError) -> SequenceState {
    try SequenceState(bytes, of: sequenceModel())
  }
}

extension Context {
  private func sequenceModel() throws(BertQAError) -> SequenceModel {
    guard case .languageModel(let model) = try runningEngine() else {
      throw wrongModel(needed: .predict)
    }
    return model
  }
}
