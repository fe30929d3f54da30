import BertQACore

/// The bytes of a result as they are written, within the memory that its call may have. A writer asks for room
/// before it appends; without room, the result is incomplete and `failure` says why.
struct ResultBytes {
  var bytes: [UInt8] = []
  /// The reason why the rest is missing.
  private(set) var failure: BertQAError?
  /// False once there is a failure. Quick to ask, unlike `failure`.
  private var isComplete = true
  /// The call's; it learns of the memory. Nil: without a limit.
  let monitor: CallMonitor?

  /// More than most results have, so that they grow once.
  private static let leastGrowth = 1024

  init(_ monitor: CallMonitor?) { self.monitor = monitor }

  @inline(__always)
  mutating func hasRoom(for count: Int) -> Bool {
    isComplete && (count <= bytes.capacity - bytes.count || makeRoom(for: count))
  }

  @inline(never)
  private mutating func makeRoom(for count: Int) -> Bool {
    guard let monitor else { return true }
    do throws(BertQAError) {
      try bytes.makeRoom(for: max(count, Self.leastGrowth), monitor)
    } catch {
      fail(error)
    }
    return isComplete
  }

  mutating func fail(_ error: BertQAError) {
    failure = failure ?? error
    isComplete = false
  }

  mutating func append(_ byte: UInt8) { bytes.append(byte) }
  mutating func append(_ part: some Sequence<UInt8>) { bytes.append(contentsOf: part) }
}
