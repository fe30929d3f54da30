import BertQACore
import Glibc

/// The options that say which model to load, and how.
struct ModelChoice {
  static let runOptions: [Option] = [.model, .threads, .precision, .isa]

  static var choices: [Option: [String]] {
    [.precision: precisions.map(\.key), .isa: instructionSets.map(\.key)]
  }

  static let help = """
      -m, --model DIR           directory of the model; default: the one installed
                                with bertqa, else $BERTQA_MODEL
    """

  static let runHelp = """
          --threads N           threads; default: one for each processor at hand
          --precision P         auto, f32, bf16 or int8; default auto
          --isa I               instruction set: auto, portable, avx2, avx512,
                                avx512_vnni or avx512_vnni_bf16; default auto
    """

  private var directory: String?
  private var options = ContextOptions()

  /// Takes the options that are its own and leaves the others.
  /// - Parameter task: what the default model is for.
  init(
    _ arguments: ParsedArguments, command: String, task: ModelTask = .answer, tokenizerOnly: Bool = false
  ) throws(ToolError) {
    options.tokenizerOnly = tokenizerOnly
    options.defaultModel = task
    for case (let option, let value?) in arguments.options {
      switch option {
      case .model:
        directory = value.string
      case .threads:
        options.threads = try value.integer(of: option, command: command)
      case .precision:
        options.precision = try value.choice(of: option, from: precisions, command: command)
      case .isa:
        options.instructionSet = try value.choice(of: option, from: instructionSets, command: command)
      default: break
      }
    }
  }

  func load(command: String) throws(ToolError) -> Context {
    do throws(BertQAError) {
      if let directory { return try Context(modelDirectory: directory, options: options) }
      return try Context(defaultModelWithOptions: options)
    } catch {
      throw ToolError(error, command: command)
    }
  }
}

let precisions: KeyValuePairs<String, Precision> = [
  "auto": .auto, "f32": .f32, "bf16": .bf16, "int8": .int8,
]

let instructionSets: KeyValuePairs<String, InstructionSet> = [
  "auto": .auto, "portable": .portable, "avx2": .avx2, "avx512": .avx512, "avx512_vnni": .avx512VNNI,
  "avx512_vnni_bf16": .avx512VNNIBF16,
]

/// What an option's value is called on the command line.
func spelling<Element: Equatable>(
  of element: Element?, in choices: KeyValuePairs<String, Element>
) -> String {
  choices.first { $0.value == element }?.key ?? ""
}
