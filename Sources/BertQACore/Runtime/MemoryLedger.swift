import Synchronization

/// Counts the memory of one call that grows with its input, on all threads, including the results that a binding makes.
/// Memory above the limit is refused before it is allocated.
package final class MemoryLedger: Sendable {
  /// Bytes; 0: none.
  private let limit: Int
  private let parent: MemoryLedger?
  private let held = Atomic<Int>(0)
  /// Bytes of results that are still free.
  private let free = Atomic<Int>(freeResults)

  /// Bytes of results, and of arrays with an element for each item of a batch, that do not count.
  private static var freeResults: Int { 64 << 10 }
  /// Bytes of a slice of work that do not count.
  static var freeWork: Int { 64 << 10 }

  package init(limit: Int) {
    self.limit = limit
    parent = nil
  }

  /// A part of a call's work: what it holds is given back when the part is over.
  /// - Parameter taken: bytes that the call holds for it already.
  init(partOf parent: MemoryLedger, taken: Int = 0) {
    limit = 0
    self.parent = parent
    held.store(taken, ordering: .relaxed)
  }

  deinit { parent?.release(heldBytes) }

  var heldBytes: Int { held.load(ordering: .relaxed) }

  /// Bytes below the limit.
  var room: Int { limit > 0 ? max(0, limit - heldBytes) : parent?.room ?? .max }

  /// Counts memory before it is allocated. A failed call counts nothing.
  package func hold(_ bytes: Int) throws(BertQAError) {
    try parent?.hold(bytes)
    let sum = held.wrappingAdd(bytes, ordering: .relaxed).newValue
    guard limit > 0, sum > limit, bytes > 0 else { return }
    held.wrappingSubtract(bytes, ordering: .relaxed)
    throw BertQAError(
      .tooLarge, argument: "max_bytes",
      "is \(limit), but the call needs \(sum) bytes by now: split the text or raise it")
  }

  /// Counts results, and arrays with an element for each item of a batch, without the first `freeResults` bytes.
  package func holdResult(_ bytes: Int) throws(BertQAError) {
    if let parent { return try parent.holdResult(bytes) }
    let before = free.wrappingSubtract(bytes, ordering: .relaxed).oldValue
    if before < bytes { try hold(bytes - max(0, before)) }
  }

  func release(_ bytes: Int) {
    held.wrappingSubtract(bytes, ordering: .relaxed)
    parent?.release(bytes)
  }
}

extension CallMonitor {
  /// Bytes below the call's limit.
  var room: Int { ledger.room }

  /// Counts the elements of an array.
  package func hold<Element>(_ count: Int, of type: Element.Type) throws(BertQAError) {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
    // Half of the largest number, so that sums do not overflow.
    try hold(overflow ? .max / 2 : bytes)
  }

  /// Counts a slice of work without the first `freeWork` bytes. A call has one slice at a time.
  func holdWork(_ bytes: Int) throws(BertQAError) {
    if bytes > MemoryLedger.freeWork { try hold(bytes - MemoryLedger.freeWork) }
  }

  /// Counts elements of results, or of arrays with an element for each item.
  package func holdResult<Element>(_ count: Int, of type: Element.Type) throws(BertQAError) {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
    try ledger.holdResult(overflow ? .max / 2 : bytes)
  }

  /// Runs `body`, and releases what it counted if it fails.
  package func undoing<Result>(
    _ body: () throws(BertQAError) -> Result
  ) throws(BertQAError) -> Result {
    let before = heldBytes
    do throws(BertQAError) {
      return try body()
    } catch {
      release(heldBytes - before)
      throw error
    }
  }

  /// Runs `body`, and releases what it counted.
  package func temporarily<Result>(
    _ body: () throws(BertQAError) -> Result
  ) throws(BertQAError) -> Result {
    let before = heldBytes
    defer { release(heldBytes - before) }
    return try body()
  }

  /// Returns a ledger that releases what was counted since `mark` when it is freed.
  func part(since mark: Int) -> MemoryLedger { MemoryLedger(partOf: ledger, taken: heldBytes - mark) }
}
