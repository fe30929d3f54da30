/// The number format of a context's matrix products.
enum Arithmetic: Sendable {
  /// f32 weights and activations.
  case f32
  /// bf16 weights and activations, f32 sums; attention in bf16.
  case bf16
  /// s8 weights with a scale per output, u8 activations with a scale and offset per token, exact sums.
  /// Attention is in int8 too if the instruction set supports it, else in f32.
  case int8

  /// Resolves a caller's choice for a model and an instruction set.
  ///
  /// `auto` is the fastest one that keeps the accuracy contract: int8 for checkpoints in the int8 form, whose
  /// maker measured their accuracy; bf16 for others if the CPU multiplies bf16 faster than f32; else f32.
  init(_ precision: Precision, model: LoadedModel, kernels: Kernels) throws(BertQAError) {
    switch precision {
    case .f32:
      self = .f32
    case .bf16:
      guard kernels.table.linear_bf16 != nil else {
        throw BertQAError(
          .unsupported, argument: "precision",
          "bf16 needs an instruction set with bf16 products; use f32 or auto")
      }
      self = .bf16
    case .int8:
      self = .int8
    case .auto:
      if model.encoder.layers.allSatisfy({ $0.query.weight.dataType == .i8 }) {
        self = .int8
      } else {
        self = kernels.prefersBF16 ? .bf16 : .f32
      }
    }
    let problem = Self.problem(with: model.configuration)
    guard self != .f32, let problem else { return }
    guard precision == .auto else {
      throw BertQAError(
        .unsupported, argument: "precision", "\(precision) \(problem); use f32 or auto")
    }
    self = .f32
  }

  /// The packed kernels take features in fours and heads in twos.
  private static func problem(with configuration: ModelConfiguration) -> String? {
    if configuration.hiddenSize % 4 == 0, configuration.intermediateSize % 4 == 0,
      configuration.layerWidth % 4 == 0, configuration.headSize % 2 == 0
    {
      return nil
    }
    return "needs hidden_size and intermediate_size in multiples of 4 and an even head size"
  }

  /// True if attention takes query, key and value in f32 and multiplies them as bytes.
  func attendsInInt8(_ configuration: ModelConfiguration, _ kernels: Kernels) -> Bool {
    self == .int8 && kernels.table.attention_s8 != nil && configuration.headSize % 4 == 0
      && configuration.maxPositions <= 1 << 16
  }

  /// True if attention multiplies queries and keys with distance vectors in bf16.
  func meetsDistancesInBF16(_ configuration: ModelConfiguration, _ kernels: Kernels) -> Bool {
    self == .bf16 || (attendsInInt8(configuration, kernels) && kernels.prefersBF16)
  }

  var precision: Precision {
    switch self {
    case .f32: .f32
    case .bf16: .bf16
    case .int8: .int8
    }
  }
}

/// The number format of the arithmetic, with the numbers of `bertqa_precision`.
public enum Precision: Int32, Sendable, CaseIterable, CustomStringConvertible {
  /// The fastest one that keeps the accuracy contract for the model.
  case auto = 0
  case f32 = 1
  case bf16 = 2
  case int8 = 3

  /// As messages, options and programs spell it.
  public var name: StaticString {
    switch self {
    case .auto: "auto"
    case .f32: "f32"
    case .bf16: "bf16"
    case .int8: "int8"
    }
  }

  public var description: String { name.description }
}
