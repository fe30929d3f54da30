import Glibc

/// Memory for parameters that cannot be used where the mapping has them; freed all at once.
final class ParameterMemory: @unchecked Sendable {
  // Sendable: changes only while its one owner is being made.

  private var blocks: [UnsafeMutableRawPointer] = []

  deinit { for block in blocks { free(block) } }

  /// Room for `count` elements, aligned to a cache line.
  func take<Element: BitwiseCopyable>(
    _ type: Element.Type, count: Int
  ) throws(BertQAError) -> UnsafeMutablePointer<Element> {
    var memory: UnsafeMutableRawPointer?
    let bytes = max(1, count) * MemoryLayout<Element>.stride
    guard posix_memalign(&memory, 64, bytes) == 0, let memory else {
      throw BertQAError(.outOfMemory, "cannot allocate \(bytes) bytes for weights")
    }
    blocks.append(memory)
    return memory.bindMemory(to: type, capacity: count)
  }
}
