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

/// Aligned memory with several owners. The last one frees it.
final class SharedBuffer<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
  // Sendable: only its maker writes it, before others see it.

  private let buffer: AlignedBuffer<Element>
  let count: Int

  /// Room for `count` elements of unspecified value.
  init(count: Int) throws(BertQAError) {
    buffer = try AlignedBuffer(uninitializedCount: count)
    self.count = count
  }

  /// Copies as many whole elements as `bytes`, of any alignment, hold.
  convenience init(copying bytes: UnsafeRawBufferPointer) throws(BertQAError) {
    try self.init(count: bytes.count / MemoryLayout<Element>.stride)
    guard let source = bytes.baseAddress else { return }
    UnsafeMutableRawPointer(base).copyMemory(
      from: source, byteCount: count * MemoryLayout<Element>.stride)
  }

  var base: UnsafeMutablePointer<Element> { buffer.base }
}
