/// Elements at a fixed address, for pointers that C callers keep.
final class CArray<Element> {
  let elements: UnsafeMutableBufferPointer<Element>

  convenience init(_ elements: [Element]) {
    self.init(elements, count: elements.count)
  }

  /// - Parameter count: how many elements there are.
  init(_ elements: some Sequence<Element>, count: Int) {
    self.elements = .allocate(capacity: count)
    _ = self.elements.initialize(from: elements)
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
