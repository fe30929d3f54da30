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
}
