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
