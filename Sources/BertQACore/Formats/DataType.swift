import CBertQA

/// The element types weights may have.
enum DataType: String, Sendable, CaseIterable {
  case f32 = "F32"
  case f16 = "F16"
  case bf16 = "BF16"
  /// Symmetric, with one scale per row: value = q · scale, q in −127…127.
  case i8 = "I8"

  /// The number of bytes of one element.
  var size: Int {
    switch self {
    case .f32: 4
    case .f16, .bf16: 2
    case .i8: 1
    }
  }

  /// `BQ_FORMAT_…`.
  var format: Int32 {
    switch self {
    case .f32: Int32(BQ_FORMAT_F32)
    case .f16: Int32(BQ_FORMAT_F16)
    case .bf16: Int32(BQ_FORMAT_BF16)
    case .i8: Int32(BQ_FORMAT_S8)
    }
  }
}

/// An element type of the safetensors format. A file may contain any of them; weights need a `DataType`.
struct SafetensorsType: Sendable, Equatable {
  let name: String
  let bits: Int

  init?(_ name: String) {
    switch name {
    case "F4": bits = 4
    case "F6_E2M3", "F6_E3M2": bits = 6
    case "BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ": bits = 8
    case "I16", "U16", "F16", "BF16": bits = 16
    case "I32", "U32", "F32": bits = 32
    case "I64", "U64", "F64", "C64": bits = 64
    default: return nil
    }
    self.name = name
  }

  init(_ type: DataType) {
    name = type.rawValue
    bits = 8 * type.size
  }

  static let i32 = SafetensorsType(name: "I32", bits: 32)

  private init(name: String, bits: Int) {
    self.name = name
    self.bits = bits
  }

  /// Returns the size of a tensor in bytes; nil if it overflows or is not a whole number of bytes.
  func byteCount(of shape: [Int]) -> Int? {
    var total = 1
    for factor in shape + [bits] {
      let (product, overflow) = total.multipliedReportingOverflow(by: factor)
      guard !overflow else { return nil }
      total = product
    }
    return total % 8 == 0 ? total / 8 : nil
  }
}
