// Texts of checkpoints, with the checksum behind them made right where the first byte says so, as few drawn
// ones would be. What is read comes out as it went in.
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
  guard let checkpoint = FilterCheckpoint(text: bytes) else { return 0 }
  let text = checkpoint.text
  guard let again = FilterCheckpoint(text: Array(text.utf8)), again.text == text else {
    fatalError("not read again: \(text)")
  }
  return 0
}
