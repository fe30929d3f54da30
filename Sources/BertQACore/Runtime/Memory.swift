import Glibc

/// Checks that memory is available before allocations that cannot report a failure: Swift's arrays and
/// objects end the process if malloc fails.
package enum Memory {
  /// The bytes that must remain available beyond the request, for small objects of unknown size.
  package static let reserve = 8 << 20

  /// Smaller requests are taken from the reserve, because a check costs two system calls.
  private static let leastChecked = 1 << 20

  /// Throws `.outOfMemory` unless `bytes` and the reserve could be mapped now. Another thread may take them
  /// before the caller does; the reserve makes a failure unlikely.
  ///
  /// It maps and unmaps memory instead of calling malloc, because freeing a large block would change malloc's
  /// thresholds for the whole process.
  package static func require(_ bytes: Int) throws(BertQAError) {
    if bytes >= leastChecked { try requireReserve(beside: bytes) }
  }

  /// As `require`, for `count` elements of a type.
  package static func require<Element>(
    _ count: Int, of type: Element.Type
  ) throws(BertQAError) {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
    try require(overflow ? Int.max : bytes)
  }

  /// As `require`, however small `bytes` is: called now and then by code that makes many small objects.
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

  /// The number of items between two checks of the memory for the small objects of each item: items of 64 KiB take half
  /// of the reserve.
  private static let itemsPerCheck = 64

  /// As `requireReserve`, at some of the items of a loop that makes small objects for each.
  static func requireReserve(atItem index: Int) throws(BertQAError) {
    if index % itemsPerCheck == itemsPerCheck - 1 { try requireReserve() }
  }
}

extension Array {
  /// Makes room for `added` more elements; if it grows, the capacity at least doubles.
  /// - Parameter monitor: polled while many elements move; accounts for the memory.
  @inline(__always)
  package mutating func makeRoom(for added: Int, _ monitor: CallMonitor? = nil) throws(BertQAError) {
    if added > capacity - count { try grow(by: added, monitor.map { CallPoll($0) }) }
  }

  /// As above, on any thread.
  @inline(__always)
  mutating func makeRoom(for added: Int, polling poll: CallPoll) throws(BertQAError) {
    if added > capacity - count { try grow(by: added, poll) }
  }

  @inline(never)
  private mutating func grow(by added: Int, _ poll: CallPoll?) throws(BertQAError) {
    let wanted = Swift.max(count + added, 2 * capacity)
    try Memory.require(wanted, of: Element.self)
    guard let poll else { return reserveCapacity(wanted) }
    // The old storage exists until the elements have moved.
    let present = capacity
    try poll.hold(wanted, of: Element.self)
    defer { poll.ledger.release((present + wanted - capacity) * MemoryLayout<Element>.stride) }
    guard count > CallPoll.elementInterval else { return reserveCapacity(wanted) }
    var larger: [Element] = []
    larger.reserveCapacity(wanted)
    for start in stride(from: 0, to: count, by: CallPoll.elementInterval) {
      try poll.check()
      larger += self[start..<Swift.min(start + CallPoll.elementInterval, count)]
    }
    self = larger
  }

  /// An empty array with room for `count` results, or for one value per item.
  package init(resultCapacity count: Int, _ monitor: CallMonitor) throws(BertQAError) {
    try monitor.holdResult(count, of: Element.self)
    try self.init(checkedCapacity: count)
  }

  /// `count` results, all missing.
  package init(
    results missing: Element, count: Int, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try monitor.holdResult(count, of: Element.self)
    try self.init(repeating: missing, count: count, monitor, isHeld: true)
  }

  /// An empty array with room for `count` elements.
  /// - Parameter monitor: accounts for the memory.
  package init(checkedCapacity count: Int, _ monitor: CallMonitor? = nil) throws(BertQAError) {
    try Memory.require(count, of: Element.self)
    try monitor?.hold(count, of: Element.self)
    self.init()
    reserveCapacity(count)
  }
}

extension CallPoll {
  /// Accounts for `count` elements of an array.
  func hold<Element>(_ count: Int, of type: Element.Type) throws(BertQAError) {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
    try ledger.hold(overflow ? .max / 2 : bytes)
  }
}

extension Collection {
  /// As `map`, but checks that there is memory for the result.
  /// - Parameter poll: polled while mapping; accounts for the array.
  package func checkedMap<Value>(
    _ poll: CallPoll? = nil, _ transform: (Element) throws(BertQAError) -> Value
  ) throws(BertQAError) -> [Value] {
    try poll?.hold(count, of: Value.self)
    var values = try [Value](checkedCapacity: count)
    for element in self {
      values.append(try transform(element))
      if values.count % CallPoll.elementInterval == 0 { try poll?.check() }
    }
    return values
  }

  /// As `sorted`, but checks that memory exists for the copy and for sorting, which takes half as much.
  /// - Parameter poll: polled while sorting; accounts for the copy.
  @inline(__always)  // Sorting words is twice as fast with the comparison inside.
  package func checkedSorted(
    _ poll: CallPoll?, by areInIncreasingOrder: (Element, Element) -> Bool
  ) throws(BertQAError) -> [Element] {
    try Memory.require(2 * count, of: Element.self)
    try poll?.hold(2 * count, of: Element.self)
    defer { poll?.ledger.release(count * MemoryLayout<Element>.stride) }
    var comparisons = 0
    do {
      return try sorted {
        comparisons &+= 1
        if comparisons % CallPoll.elementInterval == 0 { try poll?.check() }
        return areInIncreasingOrder($0, $1)
      }
    } catch let error as BertQAError {
      throw error
    } catch {
      // Nothing above throws anything else.
      throw BertQAError(.internal, "sorting failed")
    }
  }
}

extension Array {
  /// As `sort`, but checks that memory exists for sorting, which takes half of the array.
  /// - Parameter poll: polled while sorting; accounts for the memory.
  package mutating func checkedSort(
    _ poll: CallPoll, by areInIncreasingOrder: (Element, Element) -> Bool
  ) throws(BertQAError) {
    try Memory.require(count / 2, of: Element.self)
    try poll.hold(count / 2, of: Element.self)
    defer { poll.ledger.release(count / 2 * MemoryLayout<Element>.stride) }
    var comparisons = 0
    do {
      try sort {
        comparisons &+= 1
        if comparisons % CallPoll.elementInterval == 0 { try poll.check() }
        return areInIncreasingOrder($0, $1)
      }
    } catch let error as BertQAError {
      throw error
    } catch {
      // Nothing above throws anything else.
      throw BertQAError(.internal, "sorting failed")
    }
  }
}

extension Dictionary {
  /// Checks that there is memory for one more key. A table counts as full when 3/4 of it are used; then one of twice
  /// the size replaces it.
  package mutating func makeRoom() throws(BertQAError) {
    if count == capacity { try Memory.require(3 * capacity, of: Element.self) }
  }

  /// Sets the value of a key, after checking that there is memory for a larger table.
  package mutating func insert(_ value: Value, for key: Key) throws(BertQAError) {
    try makeRoom()
    self[key] = value
  }
}

extension Array {
  /// `count` elements of value `element`. Polls the monitor between parts of the array.
  /// - Parameter isHeld: true if the monitor already accounts for the array.
  package init(
    repeating element: Element, count: Int, _ monitor: CallMonitor?, isHeld: Bool = false
  ) throws(BertQAError) {
    try self.init(checkedCapacity: count, isHeld ? nil : monitor)
    while self.count < count {
      append(
        contentsOf: repeatElement(element, count: Swift.min(CallPoll.elementInterval, count - self.count)))
      if self.count < count { try monitor?.check() }
    }
  }
}

extension UnsafeMutablePointer<UInt8> {
  /// As `update`, but polls the monitor.
  package func update(
    from source: UnsafePointer<UInt8>, count: Int, _ monitor: CallMonitor
  ) throws(BertQAError) {
    for start in stride(from: 0, to: count, by: CallPoll.copyInterval) {
      try monitor.check()
      (self + start).update(from: source + start, count: Swift.min(CallPoll.copyInterval, count - start))
    }
  }
}

/// Replaces `withUnsafeBufferPointer` and `withUnsafeMutableBufferPointer`, which lose the type of an error
/// in Swift 6.0.
extension Array {
  @inline(__always)
  package func withElements<Result, Failure>(
    _ body: (UnsafeBufferPointer<Element>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeBufferPointer { elements in
      Swift.Result { () throws(Failure) in try body(elements) }
    }.get()
  }

  @inline(__always)
  package mutating func withMutableElements<Result, Failure>(
    _ body: (UnsafeMutableBufferPointer<Element>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeMutableBufferPointer { elements in
      Swift.Result { () throws(Failure) in try body(elements) }
    }.get()
  }
}
