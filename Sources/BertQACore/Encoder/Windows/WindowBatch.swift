/// One input of the model: a text or a pair of texts, or parts of them, with special tokens.
struct Window: Sendable, Equatable {
  /// The window's tokens are `firstToken` ..< `firstToken + tokenCount` of the batch.
  var firstToken: Int
  var tokenCount: Int
  /// Tokens from this index within the window on have token type 1; those before it have type 0.
  var secondSegment: Int
}

/// Any number of windows, their tokens end to end, without padding.
struct WindowBatch: Sendable {
  var ids: [Int32] = []
  var windows: [Window] = []

  /// Appends the window of a text or of a pair of texts, and returns it.
  @discardableResult
  mutating func append(
    first: ArraySlice<Int32>, second: ArraySlice<Int32>?, _ template: Template
  ) -> Window {
    let firstToken = ids.count
    let secondSegment = template.append(first: first, second: second, to: &ids)
    let window = Window(
      firstToken: firstToken, tokenCount: ids.count - firstToken, secondSegment: secondSegment)
    windows.append(window)
    return window
  }

  var byteCount: Int {
    ids.count * MemoryLayout<Int32>.stride + windows.count * MemoryLayout<Window>.stride
  }

  mutating func removeAll() {
    ids.removeAll(keepingCapacity: true)
    windows.removeAll(keepingCapacity: true)
  }
}
