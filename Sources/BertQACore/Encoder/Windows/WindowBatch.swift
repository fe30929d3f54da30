/// One input of the model: a text or a pair of texts, or parts of them, with special tokens.
struct Window: Sendable, Equatable {
  /// The window's tokens are `firstToken` ..< `firstToken + tokenCount` of the batch.
  var firstToken: Int
  var tokenCount: Int
  /// Tokens from this index within the window on have token type 1; those before it have type 0.
  var secondSegment: Int
  /// The number of first tokens that the window's vector omits; fewer than it has.
  var unpooledCount = 0
  /// The number of last tokens that no token attends to; fewer than it has.
  var unattendedCount = 0
}

/// The frame around the tokens of every window of a call.
struct WindowFrame: Sendable {
  var template: Template
  /// Tokens after the template's end; nil: none.
  var padding: Padding?

  struct Padding: Sendable {
    var id: Int32
    /// The number of tokens up to which a window is padded.
    var length: Int
    /// True if tokens attend to the padding.
    var isAttended: Bool
  }
}

/// Any number of windows, their tokens end to end, without padding.
struct WindowBatch: Sendable {
  var ids: [Int32] = []
  var windows: [Window] = []

  /// Appends the window of a text or of a pair of texts.
  mutating func append(
    first: ArraySlice<Int32>, second: ArraySlice<Int32>?, _ template: Template,
    unpooledCount: Int = 0, padding: WindowFrame.Padding? = nil
  ) {
    let firstToken = ids.count
    let secondSegment = template.append(first: first, second: second, to: &ids)
    var window = Window(
      firstToken: firstToken, tokenCount: ids.count - firstToken, secondSegment: secondSegment,
      unpooledCount: min(unpooledCount, ids.count - firstToken - 1))
    if let padding, padding.length > window.tokenCount {
      let count = padding.length - window.tokenCount
      ids += repeatElement(padding.id, count: count)
      // Padding belongs to the first text.
      if second == nil { window.secondSegment += count }
      window.tokenCount += count
      window.unattendedCount = padding.isAttended ? 0 : count
    }
    windows.append(window)
  }

  var byteCount: Int {
    ids.count * MemoryLayout<Int32>.stride + windows.count * MemoryLayout<Window>.stride
  }

  mutating func removeAll() {
    ids.removeAll(keepingCapacity: true)
    windows.removeAll(keepingCapacity: true)
  }
}

/// A model that reads windows of tokens and returns numbers for them: the encoder, or a test double.
protocol WindowModel: Sendable {
  /// Runs the model and its head on all windows of a batch.
  /// - Parameter input: whether to return numbers per token or per window; nil: as the model's head does.
  func outputs(
    of batch: WindowBatch, giving input: HeadInput?, _ monitor: CallMonitor?
  ) throws(BertQAError) -> HeadOutputs
}

extension BertQAError {
  /// The error for a model whose parameters are finite but whose results are not.
  /// - Parameter what: for example "logits that are not finite numbers".
  static func nonFiniteResult(_ what: String) -> BertQAError {
    BertQAError(
      .invalidModel,
      "the model produced \(what): its weights are damaged or overflow the chosen precision; check the model's "
        + "files")
  }
}

/// A head's numbers for a batch.
struct HeadOutputs {
  var input: HeadInput
  var columns: Int
  /// For tokens [columns][tokens of the batch], with 0 for tokens that no window covers; for windows
  /// [windows][columns], with 0 for windows without tokens.
  var values: [Float]
}
