import BertQACore

/// Elements at a fixed address, for pointers that C callers keep.
final class CArray<Element> {
  let elements: UnsafeMutableBufferPointer<Element>

  /// For a collection that is lazy there is no other copy.
  init(_ elements: some Collection<Element>) throws(BertQAError) {
    try Memory.require(elements.count, of: Element.self)
    self.elements = .allocate(capacity: elements.count)
    _ = self.elements.initialize(from: elements)
  }

  /// Made of parts, so that a monitor can be asked between them. It is told of the memory.
  init(
    count: Int, _ monitor: CallMonitor, _ element: (Int) -> Element
  ) throws(BertQAError) {
    try Memory.require(count, of: Element.self)
    try monitor.holdResult(count, of: Element.self)
    // Not `elements` yet: an object that has all its properties is deinitialised when its initialiser throws.
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

  /// nil without elements.
  var base: UnsafePointer<Element>? { elements.isEmpty ? nil : UnsafePointer(elements.baseAddress) }

  /// nil outside of the array.
  func pointer(at index: Int) -> UnsafePointer<Element>? {
    base.flatMap { elements.indices.contains(index) ? $0 + index : nil }
  }
}
