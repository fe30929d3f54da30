import BertQACore

/// The bytes of a result as they are written, within the memory that its call may have. A writer asks for room
/// before it appends; without room, the result is incomplete and `failure` says why.
struct ResultBytes {
  var bytes: [UInt8] = []
  /// The reason why the rest is missing.
  var failure: BertQAError?
  /// The call's; it learns of the memory. Nil: without a limit.
  let monitor: CallMonitor?

  init(_ monitor: CallMonitor?) { self.monitor = monitor }

  mutating func hasRoom(for count: Int) -> Bool {
    guard failure == nil else { return false }
    guard let monitor else { return true }
    do throws(BertQAError) {
      try bytes.makeRoom(for: count, monitor)
      return true
    } catch {
      failure = error
      return false
    }
  }

  mutating func append(_ byte: UInt8) { bytes.append(byte) }
  mutating func append(_ part: some Sequence<UInt8>) { bytes.append(contentsOf: part) }
}
