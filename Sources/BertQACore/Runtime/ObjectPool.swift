import Synchronization

/// Idle scratch objects, kept for reuse.
///
/// It has no lock: `take` and `give` are one atomic exchange each, so a process may fork at any moment.
/// Objects that other threads use during a fork are lost to the child.
final class ObjectPool<Object: AnyObject>: @unchecked Sendable {
  // Sendable: an object is reachable from exactly one slot or one user.
  private static var slotCount: Int { 64 }
  private let slots: UnsafeMutablePointer<Slot>

  private struct Slot: ~Copyable {
    let bits = Atomic<UInt>(0)
  }

  init() {
    slots = .allocate(capacity: Self.slotCount)
    for index in 0..<Self.slotCount { (slots + index).initialize(to: Slot()) }
  }

  deinit {
    while take() != nil {}
    slots.deinitialize(count: Self.slotCount)
    slots.deallocate()
  }

  /// Returns an idle object, or nil. Callers that always prefer the same number tend to get the same object,
  /// whose memory is still in their core's cache.
  func take(preferring preferred: Int = 0) -> Object? {
    for offset in 0..<Self.slotCount {
      let index = (preferred &+ offset) % Self.slotCount
      guard slots[index].bits.load(ordering: .relaxed) != 0 else { continue }
      let bits = slots[index].bits.exchange(0, ordering: .acquiring)
      if let pointer = UnsafeRawPointer(bitPattern: bits) {
        return Unmanaged<Object>.fromOpaque(pointer).takeRetainedValue()
      }
    }
    return nil
  }

  /// Keeps `object` for a later `take`, or drops it if 64 objects are already idle.
  func give(_ object: consuming Object, preferring preferred: Int = 0) {
    let retained = Unmanaged.passRetained(object)
    let bits = UInt(bitPattern: retained.toOpaque())
    for offset in 0..<Self.slotCount {
      let index = (preferred &+ offset) % Self.slotCount
      let kept = slots[index].bits.compareExchange(expected: 0, desired: bits, ordering: .releasing)
      if kept.exchanged { return }
    }
    retained.release()
  }
}
