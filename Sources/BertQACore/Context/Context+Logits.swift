extension Context {
  /// Computes start and end logits of each token, for callers that build their own windows and search.
  /// - Parameters:
  ///   - ids: the tokens of the windows, end to end.
  ///   - windowLengths: the number of tokens of each window, 1 to `info.maxPositions`; their sum is
  ///     `ids.count`.
  ///   - secondSegments: the index within each window of its first token of type 1; nil: no token has type 1.
  public func logits(
    ids: [Int32], windowLengths: [Int], secondSegments: [Int]? = nil, call: CallOptions = CallOptions()
  ) throws(BertQAError) -> (start: [Float], end: [Float]) {
    guard case .answering(_, let encoder) = try runningEngine() else {
      throw wrongModel(needed: .answer, for: "compute start and end logits")
    }
    guard secondSegments == nil || secondSegments?.count == windowLengths.count else {
      throw BertQAError(
        .invalidArgument, argument: "second_segments", "must have one element per window")
    }
    let monitor = CallMonitor(call)
    var windows = try [Window](checkedCapacity: windowLengths.count, monitor)
    var firstToken = 0
    for (index, length) in windowLengths.enumerated() {
      guard (1...info.maxPositions).contains(length), length <= ids.count - firstToken else {
        throw BertQAError(
          .invalidArgument, argument: "window_lengths",
          "has \(length) at \(index), but must have 1 to \(info.maxPositions), and the sum of all must be id_count "
            + "(\(ids.count))")
      }
      let second = secondSegments?[index] ?? length
      guard (0...length).contains(second) else {
        throw BertQAError(
          .invalidArgument, argument: "second_segments",
          "has \(second) at \(index), but must have 0 to \(length)")
      }
      windows.append(Window(firstToken: firstToken, tokenCount: length, secondSegment: second))
      firstToken += length
    }
    guard firstToken == ids.count else {
      throw BertQAError(
        .invalidArgument, argument: "window_lengths",
        "has the sum \(firstToken), but id_count is \(ids.count)")
    }
    let rows = encoder.configuration.vocabSize
    for (index, id) in ids.enumerated() where id < 0 || Int(id) >= rows {
      throw BertQAError(
        .invalidArgument, argument: "ids", "has \(id) at \(index), but must have 0 to \(rows - 1)")
    }
    let outputs = try encoder.outputs(
      of: WindowBatch(ids: ids, windows: windows), giving: nil, monitor)
    guard outputs.values.allSatisfy(\.isFinite) else {
      throw .nonFiniteResult("logits that are not finite numbers")
    }
    try Memory.require(outputs.values.count, of: Float.self)
    try monitor.hold(outputs.values.count, of: Float.self)
    return (Array(outputs.values[..<ids.count]), Array(outputs.values[ids.count...]))
  }
}
