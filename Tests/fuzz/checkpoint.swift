// Texts of checkpoints. If the first byte is odd, the target appends the right checksum, which few random texts have. A
// checkpoint that is read and written again has the same text.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCheckpoint(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  guard size >= 1 else { return 0 }
  var bytes = Array(UnsafeBufferPointer(start: data + 1, count: size - 1))
  if data[0] & 1 == 1 {
    if let end = bytes.dropLast().lastIndex(of: UInt8(ascii: "\n")) { bytes = Array(bytes[...end]) }
    var hash = ContentHash()
    hash.update(String(decoding: bytes, as: UTF8.self))
    bytes += Array("end \(hash.value)\n".utf8)
  }
  guard let text = read(bytes) else { return 0 }
  guard read(Array(text.utf8)) == text else {
    fatalError("not read again: \(text)")
  }
  return 0
}

private func read(_ bytes: [UInt8]) -> String? {
  try? FilterCheckpoint(text: bytes, shown: "checkpoint").text
}
