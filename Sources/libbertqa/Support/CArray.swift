import BertQACore

/// Elements at a fixed address, for pointers that C callers keep.
final class CArray<Element> {
  let elements: UnsafeMutableBufferPointer<Element>

  /// Copies the elements. A lazy collection is not copied twice.
  init(_ elements: some Collection<Element>) throws(BertQAError) {
    try Memory.require(elements.count, of: Element.self)
    self.elements = .allocate(capacity: elements.count)
    _ = self.elements.initialize(from: elements)
  }

  /// Makes the elements in parts and polls between them. The memory counts for the call.
  init(
    count: Int, _ monitor: CallMonitor, _ element: (Int) -> Element
  ) throws(BertQAError) {
    try Memory.require(count, of: Element.self)
    try monitor.holdResult(count, of: Element.self)
    // `elements` is set last: once all properties are set, a throw would run deinit.
    let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: count)
    var next = 0
    while next < count {
      let end = min(count, next + CallPoll.elementInterval)
      for index in next..<end { memory.initializeElement(at: index, to: element(index)) }
      next = end
      if next == count { break }
      do throws(BertQAError) {
        try monitor.check()
      } catch {
        memory[..<next].deinitialize()
        memory.deallocate()
        throw error
      }
    }
    elements = memory
  }

  deinit {
    elements.deinitialize()
    elements.deallocate()
  }

  var count: Int { elements.count }

  /// nil if there are no elements.
  var base: UnsafePointer<Element>? { elements.isEmpty ? nil : UnsafePointer(elements.baseAddress) }

  /// Returns nil outside the array.
  func pointer(at index: Int) -> UnsafePointer<Element>? {
    base.flatMap { elements.indices.contains(index) ? $0 + index : nil }
  }
}
