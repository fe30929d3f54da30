import Synchronization

/// Counts the memory of one call that grows with its input, on all threads, including the results that a
/// binding makes. Rejects memory above the limit before it is allocated.
package final class MemoryLedger: Sendable {
  /// In bytes; 0: no limit.
  private let limit: Int
  private let parent: MemoryLedger?
  private let held = Atomic<Int>(0)
  /// The bytes of results that may still be taken without being counted.
  private let free = Atomic<Int>(freeResults)

  /// The bytes of results, and of arrays with one element per item of a batch, that are not counted.
  private static var freeResults: Int { 64 << 10 }
  /// The bytes of a slice of work that are not counted.
  static var freeWork: Int { 64 << 10 }

  package init(limit: Int) {
    self.limit = limit
    parent = nil
  }

  /// The account of a part of a call's work. It releases what it counted when it is freed.
  /// - Parameter taken: the bytes that the call already holds for this part.
  init(partOf parent: MemoryLedger, taken: Int = 0) {
    limit = 0
    self.parent = parent
    held.store(taken, ordering: .relaxed)
  }

  deinit { parent?.release(heldBytes) }

  var heldBytes: Int { held.load(ordering: .relaxed) }

  /// The bytes that may still be taken.
  var room: Int { limit > 0 ? max(0, limit - heldBytes) : parent?.room ?? .max }

  /// Counts memory before it is allocated. Counts nothing if it throws.
  package func hold(_ bytes: Int) throws(BertQAError) {
    try parent?.hold(bytes)
    var before = heldBytes
    while true {
      // What is refused is never counted: another thread's memory could be refused for it.
      let sum = before &+ bytes
      guard limit == 0 || sum <= limit || bytes <= 0 else {
        throw BertQAError(
          .tooLarge, argument: "max_bytes",
          "is \(limit), but the call already needs \(sum) bytes: split the text or raise the limit")
      }
      let (isCounted, now) = held.weakCompareExchange(expected: before, desired: sum, ordering: .relaxed)
      if isCounted { return }
      before = now
    }
  }

  /// Counts results, and arrays with one element per item of a batch, beyond the first `freeResults` bytes.
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
  /// The bytes that the call may still take.
  var room: Int { ledger.room }

  /// Counts the elements of an array.
  package func hold<Element>(_ count: Int, of type: Element.Type) throws(BertQAError) {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
    // Half of the largest number, so that sums do not overflow.
    try hold(overflow ? .max / 2 : bytes)
  }

  /// Counts a slice of work beyond the first `freeWork` bytes. A call has one slice at a time.
  func holdWork(_ bytes: Int) throws(BertQAError) {
    if bytes > MemoryLedger.freeWork { try hold(bytes - MemoryLedger.freeWork) }
  }

  /// Counts elements of results, or of arrays with one element per item.
  package func holdResult<Element>(_ count: Int, of type: Element.Type) throws(BertQAError) {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
    try ledger.holdResult(overflow ? .max / 2 : bytes)
  }

  /// Runs `body`. If it fails, releases what it counted.
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

  /// Runs `body`, then releases what it counted.
  package func temporarily<Result>(
    _ body: () throws(BertQAError) -> Result
  ) throws(BertQAError) -> Result {
    let before = heldBytes
    defer { release(heldBytes - before) }
    return try body()
  }

  /// Returns a ledger that, when freed, releases what was counted since `mark`.
  func part(since mark: Int) -> MemoryLedger { MemoryLedger(partOf: ledger, taken: heldBytes - mark) }
}
