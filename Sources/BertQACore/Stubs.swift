// Stand-ins for types that other areas own.

struct Tokens: Sendable {
  var ids: [Int32] = []
  var starts: [UInt32] = []
  var ends: [UInt32] = []
}

struct Window: Sendable {
  let firstToken: Int
  let tokenCount: Int
  let secondSegment: Int
}

struct WindowBatch: Sendable {
  var ids: [Int32]
  var windows: [Window]
}

public struct Cancellation: Sendable {
  public let isCancelled: @Sendable () -> Bool
  public init(isCancelled: @escaping @Sendable () -> Bool) { self.isCancelled = isCancelled }
}

protocol LogitsSource: Sendable {
  func logits(
    of batch: WindowBatch, cancellation: Cancellation?
  ) throws(BertQAError) -> (start: [Float], end: [Float])
}
