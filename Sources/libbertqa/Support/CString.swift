import BertQACore

/// A string with a NUL at its end, at a fixed address, for pointers that C callers keep.
final class CString {
  let base: UnsafeMutablePointer<CChar>
  /// Without the NUL.
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

  /// As many objects, and memory for them.
  static func all(_ texts: some Collection<String>) throws(BertQAError) -> [CString] {
    var bytes = 0
    for text in texts { bytes += objectSize + text.utf8.count }
    try Memory.require(bytes)
    return try texts.checkedMap { CString($0) }
  }

  /// Of an object and its bytes, beside those of the text: what malloc takes at least for two.
  private static let objectSize = 80

  deinit { base.deallocate() }

  var pointer: UnsafePointer<CChar> { UnsafePointer(base) }
}

func staticCString(_ string: StaticString) -> UnsafePointer<CChar> {
  UnsafeRawPointer(string.utf8Start).assumingMemoryBound(to: CChar.self)
}
