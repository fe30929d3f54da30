import CBertQA

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
