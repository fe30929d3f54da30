import CBertQA

/// The kernels of one instruction set. `table` documents them (Sources/CBertQA/include/kernels.h):
/// `kernels.table.linear_f32(...)`.
///
/// Unchecked: the table is a constant in C.
struct Kernels: @unchecked Sendable {
  let table: bq_kernels

  /// The kernels of an instruction set (`BQ_ISA_…`; 0 is the best one), or nil if this machine does not have
  /// it.
  init?(isa: Int32 = 0) {
    guard let table = bq_kernels_for(isa) else { return nil }
    self.table = table.pointee
  }

  /// The number of tokens in a block: the innermost dimension of every activation.
  static let lanes = Int(BQ_LANES)

  /// The number of blocks that hold `tokens` tokens.
  static func blocks(tokens: Int) -> Int { (tokens + lanes - 1) / lanes }

  /// The last step of a linear layer.
  enum Epilogue {
    static let bias = Int32(BQ_EPILOGUE_BIAS)
    static let residual = Int32(BQ_EPILOGUE_RESIDUAL)
    static let gelu = Int32(BQ_EPILOGUE_GELU)
    static let geluTanh = Int32(BQ_EPILOGUE_GELU_TANH)
    static let silu = Int32(BQ_EPILOGUE_SILU)
    static let relu = Int32(BQ_EPILOGUE_RELU)
    static let tanh = Int32(BQ_EPILOGUE_TANH)
    static let gate = Int32(BQ_EPILOGUE_GATE)
    static let bf16 = Int32(BQ_EPILOGUE_BF16)
    /// Added to `bias` or to an activation's value.
    static let bf16Pairs = Int32(BQ_EPILOGUE_BF16_PAIRS)

    static func applying(_ activation: Activation) -> Int32 {
      switch activation {
      case .identity: bias
      case .tanh: tanh
      case .relu: relu
      case .gelu: gelu
      case .geluTanh: geluTanh
      case .silu: silu
      }
    }
  }
}
