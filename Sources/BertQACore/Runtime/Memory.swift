import Glibc

/// Checks that memory is there before something is allocated whose failure could not be told to the caller: Swift's
/// arrays and objects end the process where malloc fails.
package enum Memory {
  /// What must be left beside what is asked for, in bytes: small objects, of which no size is known, come out of it.
  package static let reserve = 8 << 20

  /// Smaller requests come out of the reserve: a check costs two system calls.
  private static let leastChecked = 1 << 20

  /// Throws `.outOfMemory` unless `bytes` and the reserve could be mapped now. Another thread may take them before
  /// the caller does; the reserve makes that unlikely to matter.
  ///
  /// Maps and unmaps rather than calling malloc: freeing a large block would change malloc's own thresholds for the
  /// whole process.
  package static func require(_ bytes: Int) throws(BertQAError) {
    if bytes >= leastChecked { try requireReserve(beside: bytes) }
  }

  /// `count` elements of a type.
  package static func require<Element>(
    _ count: Int, of type: Element.Type
  ) throws(BertQAError) {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
    try require(overflow ? Int.max : bytes)
  }

  /// The same however small `bytes` is: now and then where many small objects are made.
  package static func requireReserve(beside bytes: Int = 0) throws(BertQAError) {
    let (size, overflow) = max(0, bytes).addingReportingOverflow(reserve)
    if !overflow,
      let place = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      place != MAP_FAILED
    {
      munmap(place, size)
      return
    }
    throw BertQAError(.outOfMemory, "cannot allocate \(bytes) bytes and \(reserve) for small objects")
  }
}

extension Array {
  /// Makes room for `added` more elements, twice the room at least where it has to grow.
  @inline(__always)
  mutating func makeRoom(for added: Int) throws(BertQAError) {
    if added > capacity - count { try grow(by: added) }
  }

  @inline(never)
  private mutating func grow(by added: Int) throws(BertQAError) {
    let wanted = Swift.max(count + added, 2 * capacity)
    try Memory.require(wanted, of: Element.self)
    reserveCapacity(wanted)
  }

  /// An empty array with room for `count` elements.
  package init(checkedCapacity count: Int) throws(BertQAError) {
    try Memory.require(count, of: Element.self)
    self.init()
    reserveCapacity(count)
  }
}

extension Array where Element: BitwiseCopyable {
  /// `count` elements of value `element`; the monitor is asked while they are written.
  init(
    repeating element: Element, count: Int, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    try self.init(checkedCapacity: count)
    while self.count < count {
      append(
        contentsOf: repeatElement(element, count: Swift.min(CallPoll.elementInterval, count - self.count)))
      try monitor?.check()
    }
  }
}
