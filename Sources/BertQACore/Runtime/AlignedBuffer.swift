import Glibc

/// Memory for kernels: aligned to a cache line, grows on demand, is freed with its owner.
struct AlignedBuffer<Element: BitwiseCopyable>: ~Copyable {
  /// Bytes; a cache line and the widest vector register.
  static var alignment: Int { 64 }

  private var storage: UnsafeMutablePointer<Element>?
  private(set) var capacity = 0

  init() {}

  /// Room for `count` elements of unspecified value.
  init(uninitializedCount count: Int) throws(BertQAError) {
    storage = try Self.allocate(count)
    capacity = count
  }

  deinit { free(storage) }

  /// The first element. Valid until the buffer grows or goes; nothing may be read before the first
  /// `reserve` with a positive count.
  var base: UnsafeMutablePointer<Element> {
    storage ?? UnsafeMutablePointer(bitPattern: Self.alignment).unsafelyUnwrapped
  }

  /// Makes room for `count` elements. Growing drops the contents and fills with zero bytes, so that
  /// lanes which no token uses hold finite numbers from the beginning.
  mutating func reserve(_ count: Int) throws(BertQAError) {
    guard count > capacity else { return }
    let grown = try Self.allocate(count)
    memset(grown, 0, count * MemoryLayout<Element>.stride)
    free(storage)
    storage = grown
    capacity = count
  }

  private static func allocate(_ count: Int) throws(BertQAError) -> UnsafeMutablePointer<Element> {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
    var memory: UnsafeMutableRawPointer?
    guard count >= 0, !overflow, posix_memalign(&memory, alignment, max(bytes, alignment)) == 0,
      let memory
    else { throw BertQAError(.outOfMemory, "cannot allocate working memory for \(count) elements") }
    return memory.bindMemory(to: Element.self, capacity: count)
  }
}
