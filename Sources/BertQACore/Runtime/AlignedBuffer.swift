import Glibc

/// Memory for kernels and tables, aligned to a cache line and freed with its owner. It has a fixed size;
/// `reserve` replaces it by a larger one.
struct AlignedBuffer<Element: BitwiseCopyable>: ~Copyable {
  /// In bytes: a cache line, which is also the widest vector register.
  static var alignment: Int { 64 }

  /// The first element. Valid until the buffer grows or is freed; meaningless while `capacity` is 0.
  private(set) var base = UnsafeMutablePointer<Element>(bitPattern: Self.alignment).unsafelyUnwrapped
  /// In elements.
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

  /// Makes room for `count` elements. Growing discards the contents and fills the memory with zeros, so that
  /// unused lanes always hold finite numbers.
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
