/// The positions of the tensors in a safetensors file to be written.
///
/// The format allows no gaps, so the order provides the alignment. Tensors whose size is a multiple of 64 bytes come
/// first and start at such a multiple. The others follow, in descending order of the largest power of two that
/// divides their size, so that each is aligned for its elements. Within a class the given order is kept: tensors of
/// equal size that are adjacent in the input are adjacent in the file.
struct SafetensorsLayout {
  struct Tensor {
    let name: String
    let type: SafetensorsType
    let shape: [Int]
  }

  static let alignment = 64

  /// The beginning of the file: the header's length, the header, and spaces up to a multiple of 64 bytes.
  let header: [UInt8]
  /// The range of each tensor in bytes of the file, by name.
  let ranges: [String: Range<Int>]
  /// The size of the file in bytes.
  let size: Int

  /// Names must be unique and sizes must not overflow.
  init(_ tensors: [Tensor]) {
    let sized = tensors.map { (tensor: $0, size: $0.type.byteCount(of: $0.shape) ?? 0) }
    let sorted = sized.sorted(byKey: { -Self.alignment(of: $0.size) })
    var offset = 0
    var begins: [Int] = []
    var text = "{\"__metadata__\":{\"format\":\"pt\"}"
    for (tensor, size) in sorted {
      begins.append(offset)
      text += ","
      JSON.write(tensor.name, to: &text)
      text += ":{\"dtype\":\"\(tensor.type.name)\",\"shape\":\(tensor.shape),"
      text += "\"data_offsets\":[\(offset),\(offset + size)]}"
      offset += size
    }
    text += "}"
    let unpadded = 8 + text.utf8.count
    let dataStart = (unpadded + Self.alignment - 1) / Self.alignment * Self.alignment
    text += String(repeating: " ", count: dataStart - unpadded)
    header = withUnsafeBytes(of: UInt64(text.utf8.count).littleEndian, Array.init) + text.utf8
    var ranges: [String: Range<Int>] = [:]
    for (begin, (tensor, size)) in zip(begins, sorted) {
      ranges[tensor.name] = dataStart + begin..<dataStart + begin + size
    }
    self.ranges = ranges
    size = dataStart + offset
  }

  /// The largest power of two, up to 64, that divides a size.
  private static func alignment(of size: Int) -> Int {
    1 << min(size.trailingZeroBitCount, alignment.trailingZeroBitCount)
  }
}
