/// Number format of the arithmetic, in the numbering of `bertqa_precision`.
public enum Precision: Int32, Sendable, CaseIterable {
  /// The fastest whose accuracy contract holds for the model.
  case auto = 0
  case f32 = 1
  case bf16 = 2
  case int8 = 3
}

/// Instruction set of the kernels, in the numbering of `bertqa_isa`.
public enum InstructionSet: Int32, Sendable, CaseIterable, CustomStringConvertible {
  /// The best this CPU has.
  case auto = 0
  case portable = 1
  case avx2 = 2
  case avx512 = 3
  case avx512VNNI = 4
  case avx512VNNIBF16 = 5

  /// The name that the command line, Python and messages use.
  public var description: String {
    switch self {
    case .auto: "auto"
    case .portable: "portable"
    case .avx2: "avx2"
    case .avx512: "avx512"
    case .avx512VNNI: "avx512_vnni"
    case .avx512VNNIBF16: "avx512_vnni_bf16"
    }
  }
}

public struct ContextOptions: Sendable {
  /// Threads that one call may use, the calling one included. 0: as many as the process may run on
  /// (CPU affinity and cgroup quota). At most 1024.
  public var threads = 0
  public var precision = Precision.auto
  public var instructionSet = InstructionSet.auto
  /// Load the vocabulary and tokenizer settings only.
  public var tokenizerOnly = false
  /// Which default model, where no directory is given.
  public var defaultModel = ModelTask.answer
  /// Receives one line for each decision taken while loading; called on the calling thread.
  public var log: (@Sendable (String) -> Void)?

  public init() {}
}
