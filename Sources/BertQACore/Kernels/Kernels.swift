import CBertQA

/// The kernels of one instruction set. `table` documents them (Sources/CBertQA/include/kernels.h):
/// `kernels.table.linear_f32(...)`.
///
/// Unchecked: the table is a constant in C.
struct Kernels: @unchecked Sendable {
  let table: bq_kernels
  /// True if this CPU multiplies bf16 faster than f32.
  let prefersBF16: Bool

  /// The kernels of an instruction set (`BQ_ISA_…`; 0 is the best one), or nil if this machine does not have
  /// it.
  init?(isa: Int32 = 0) {
    guard let table = bq_kernels_for(isa) else { return nil }
    self.table = table.pointee
    prefersBF16 = bq_prefers_bf16(table)
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

/// An instruction set of the kernels, with the numbers of `bertqa_isa`. `BQ_INSTRUCTION_SETS` (kernels.h) is the
/// table of numbers and names.
public struct InstructionSet: RawRepresentable, Hashable, Sendable, CaseIterable, CustomStringConvertible {
  public let rawValue: Int32

  public init?(rawValue: Int32) {
    guard bq_isa_name(rawValue) != nil else { return nil }
    self.rawValue = rawValue
  }

  /// Finds an instruction set by its name, such as "avx2"; nil for other strings.
  public init?(_ name: String) {
    guard let found = Self.allCases.first(where: { $0.description == name }) else { return nil }
    self = found
  }

  /// The best one of this CPU, except AMX.
  public static var auto: Self { Self(number: BQ_ISA_AUTO) }
  public static var portable: Self { Self(number: BQ_ISA_PORTABLE) }

  public static var allCases: [Self] { (BQ_ISA_AUTO...BQ_ISA_LAST).map(Self.init(number:)) }

  /// The name in the command line, Python and messages.
  public var description: String { bq_isa_name(rawValue).map { String(cString: $0) } ?? "unknown" }

  private init(number: Int) { rawValue = Int32(number) }
}
