import BertQACore

/// Strings that each end with a NUL, in one block of memory, for pointers that C callers keep.
final class CStrings {
  private let bytes: UnsafeMutableBufferPointer<CChar>
  /// The start of each string, and the end of the last one.
  private let begins: [Int]

  /// - Parameter monitor: accounts for the memory.
  init(_ texts: some Collection<String>, _ monitor: CallMonitor? = nil) throws(BertQAError) {
    var byteCount = 0
    for text in texts { byteCount += text.utf8.count + 1 }
    try Memory.require(byteCount)
    try monitor?.holdResult(byteCount + 8 * (texts.count + 1), of: UInt8.self)
    var begins = try [Int](checkedCapacity: texts.count + 1)
    bytes = .allocate(capacity: byteCount)
    var end = 0
    for text in texts {
      begins.append(end)
      for byte in text.utf8 {
        bytes.initializeElement(at: end, to: CChar(bitPattern: byte))
        end += 1
      }
      bytes.initializeElement(at: end, to: 0)
      end += 1
    }
    begins.append(end)
    self.begins = begins
  }

  deinit { bytes.deallocate() }

  var count: Int { begins.count - 1 }

  /// Returns a string and its length without the NUL; nil outside the list.
  func string(at index: Int) -> (base: UnsafePointer<CChar>, count: Int)? {
    guard (0..<count).contains(index), let base = bytes.baseAddress else { return nil }
    return (UnsafePointer(base + begins[index]), begins[index + 1] - begins[index] - 1)
  }
}
