import Glibc

/// Memory for kernels and tables, aligned to a cache line; freed with its owner. It has one size, which `reserve`
/// replaces by a larger one.
struct AlignedBuffer<Element: BitwiseCopyable>: ~Copyable {
  /// Bytes; a cache line and the widest vector register.
  static var alignment: Int { 64 }

  /// The first element. Valid until the buffer grows or goes; without meaning while `capacity` is 0.
  private(set) var base = UnsafeMutablePointer<Element>(bitPattern: Self.alignment).unsafelyUnwrapped
  /// Elements.
  private(set) var capacity = 0

  init() {}

  /// Room for `count` elements of unspecified value.
  init(uninitializedCount count: Int) throws(BertQAError) {
    if count != 0 { base = try Self.allocate(count) }
    capacity = count
  }

  /// `count` elements of value `element`.
  init(repeating element: Element, count: Int) throws(BertQAError) {
    try self.init(uninitializedCount: count)
    base.initialize(repeating: element, count: count)
  }

  /// A copy of `elements`.
  init(copying elements: [Element]) throws(BertQAError) {
    try self.init(uninitializedCount: elements.count)
    let base = base
    elements.withUnsafeBufferPointer { source in
      if let first = source.baseAddress { base.initialize(from: first, count: source.count) }
    }
  }

  deinit {
    if capacity > 0 { free(base) }
  }

  subscript(index: Int) -> Element {
    @inline(__always) get { base[index] }
    @inline(__always) nonmutating set { base[index] = newValue }
  }

  /// Makes room for `count` elements. Growing drops the contents and fills with zero bytes, so that
  /// lanes which no token uses hold finite numbers from the beginning.
  mutating func reserve(_ count: Int) throws(BertQAError) {
    guard count > capacity else { return }
    let grown = try Self.allocate(count)
    memset(grown, 0, count * MemoryLayout<Element>.stride)
    if capacity > 0 { free(base) }
    base = grown
    capacity = count
  }

  private static func allocate(_ count: Int) throws(BertQAError) -> UnsafeMutablePointer<Element> {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
    try Memory.require(overflow ? Int.max : bytes)
    var memory: UnsafeMutableRawPointer?
    guard count >= 0, !overflow, posix_memalign(&memory, alignment, max(bytes, alignment)) == 0,
      let memory
    else { throw BertQAError(.outOfMemory, "cannot allocate memory for \(count) elements") }
    return memory.bindMemory(to: Element.self, capacity: count)
  }
}
