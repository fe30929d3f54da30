import Glibc

/// An array that throws an error if it cannot grow, instead of ending the process, and that accounts for its
/// memory while it lives.
struct GrowableBuffer<Element: BitwiseCopyable>: ~Copyable {
  private(set) var base: UnsafeMutablePointer<Element>
  private(set) var count = 0
  private(set) var capacity = 0
  /// Accounts for memory that the buffer allocates from now on, and releases all of it when the buffer is
  /// freed.
  var ledger: MemoryLedger?

  init(_ ledger: MemoryLedger? = nil) {
    self.ledger = ledger
    base = UnsafeMutablePointer(bitPattern: MemoryLayout<Element>.alignment).unsafelyUnwrapped
  }

  /// `count` elements of value `element`.
  init(repeating element: Element, count: Int, _ ledger: MemoryLedger? = nil) throws(BertQAError) {
    self.init(ledger)
    try reserve(count)
    base.initialize(repeating: element, count: count)
    self.count = count
  }

  deinit {
    if capacity > 0 { free(base) }
    ledger?.release(byteCount)
  }

  subscript(index: Int) -> Element {
    @inline(__always) get { base[index] }
    @inline(__always) nonmutating set { base[index] = newValue }
  }

  var byteCount: Int { capacity * MemoryLayout<Element>.stride }

  var elements: UnsafeMutableBufferPointer<Element> { UnsafeMutableBufferPointer(start: base, count: count) }

  @inline(__always)
  mutating func append(_ element: Element) throws(BertQAError) {
    if count == capacity { try makeRoom(for: 1) }
    base[count] = element
    count &+= 1
  }

  /// Appends an element into room made by `reserve`.
  @inline(__always)
  mutating func appendReserved(_ element: Element) {
    precondition(count < capacity)
    base[count] = element
    count &+= 1
  }

  mutating func append(_ source: UnsafePointer<Element>, count added: Int) throws(BertQAError) {
    try makeRoom(for: added)
    (base + count).update(from: source, count: added)
    count += added
  }

  /// Makes room for `capacity` elements in total.
  mutating func reserve(_ capacity: Int) throws(BertQAError) {
    if capacity > self.capacity { try reallocate(capacity) }
  }

  /// Makes room for `added` more elements, and some in reserve.
  @inline(never)
  mutating func makeRoom(for added: Int) throws(BertQAError) {
    guard added > capacity - count else { return }
    try reallocate(max(count + added, capacity + capacity / 2, 16))
  }

  /// Drops the elements from index `count` on.
  mutating func truncate(to count: Int) {
    self.count = min(count, self.count)
  }

  private mutating func reallocate(_ capacity: Int) throws(BertQAError) {
    let (bytes, overflow) = capacity.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
    try Memory.require(overflow ? Int.max : bytes)
    try ledger?.hold(overflow ? .max / 2 : bytes)
    guard !overflow, let memory = realloc(self.capacity > 0 ? base : nil, bytes) else {
      ledger?.release(overflow ? .max / 2 : bytes)
      throw BertQAError(.outOfMemory, "cannot allocate memory for \(capacity) elements")
    }
    ledger?.release(byteCount)
    base = memory.bindMemory(to: Element.self, capacity: capacity)
    self.capacity = capacity
  }
}
