/// A copy of a tensor whose file does not align its elements.
final class AlignedArray<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
  // Sendable: nothing changes after init.

  let elements: UnsafeBufferPointer<Element>

  /// Copies as many whole elements as `bytes` hold.
  init(copying bytes: UnsafeRawBufferPointer) {
    let count = bytes.count / MemoryLayout<Element>.stride
    let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: count)
    UnsafeMutableRawBufferPointer(memory).copyBytes(
      from: bytes.prefix(count * MemoryLayout<Element>.stride))
    elements = UnsafeBufferPointer(memory)
  }

  deinit { elements.deallocate() }
}
