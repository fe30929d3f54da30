import BertQACore

/// A string with a NUL at its end, at a fixed address, for pointers that C callers keep.
final class CString {
  let base: UnsafeMutablePointer<CChar>
  /// The length without the NUL.
  let count: Int

  init(_ text: String) {
    let bytes = text.utf8
    count = bytes.count
    base = .allocate(capacity: count + 1)
    var end = base
    for byte in bytes {
      end.initialize(to: CChar(bitPattern: byte))
      end += 1
    }
    end.initialize(to: 0)
  }

  deinit { base.deallocate() }

  var pointer: UnsafePointer<CChar> { UnsafePointer(base) }
}

func staticCString(_ string: StaticString) -> UnsafePointer<CChar> {
  UnsafeRawPointer(string.utf8Start).assumingMemoryBound(to: CChar.self)
}
