/// The instruction set of the kernels, with the numbers of `bertqa_isa`.
public enum InstructionSet: Int32, Sendable, CaseIterable, CustomStringConvertible {
  /// The best one of this CPU, except AMX.
  case auto = 0
  case portable = 1
  case avx2 = 2
  case avx512 = 3
  case avx512VNNI = 4
  case avx512VNNIBF16 = 5
  case avx2VNNI = 6
  case neon = 7
  case neonDotProduct = 8
  case neonI8MMBF16 = 9
  case avx512AMX = 10

  /// The name in the command line, Python and messages.
  public var description: String {
    switch self {
    case .auto: "auto"
    case .portable: "portable"
    case .avx2: "avx2"
    case .avx512: "avx512"
    case .avx512VNNI: "avx512_vnni"
    case .avx512VNNIBF16: "avx512_vnni_bf16"
    case .avx2VNNI: "avx2_vnni"
    case .neon: "neon"
    case .neonDotProduct: "neon_dotprod"
    case .neonI8MMBF16: "neon_i8mm_bf16"
    case .avx512AMX: "avx512_amx"
    }
  }
}
