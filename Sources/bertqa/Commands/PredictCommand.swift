import BertQACore

/// `bertqa predict`, its arguments read.
struct PredictCommand: Command {
  static let name = "predict"
  static let summary = "continue a text, or say how likely one is"
  static let options: [Option] =
    ModelChoice.runOptions + [
      .next, .score, .rank, .json, .maxWords, .temperature, .topK, .topP, .seed, .includeEnd,
    ]

  /// What is asked of the model.
  enum Mode {
    case generate, next, score, rank
  }

  let mode: Mode
  let operands: [ArgumentText]
  let model: ModelChoice
  let printsJSON: Bool
  let includesEnd: Bool
  private(set) var generateOptions = GenerateOptions()
  /// For --next.
  private(set) var wordCount = 10

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    let command = try PredictCommand(arguments)
    let context = try command.model.load(command: invocation)
    switch command.mode {
    case .generate: try command.generate(context, to: output)
    case .next: try command.predictNext(context, to: output)
    case .score: return try command.score(context, to: output)
    case .rank: try command.rank(context, to: output)
    }
    return .done
  }

  private init(_ arguments: ParsedArguments) throws(ToolError) {
    let modes: [(Option, Mode)] = [(.next, .next), (.score, .score), (.rank, .rank)]
    let chosen = modes.filter { arguments.has($0.0) }
    if chosen.count > 1 {
      throw .usage(
        "--\(chosen[0].0.rawValue) and --\(chosen[1].0.rawValue) exclude each other",
        command: Self.invocation)
    }
    mode = chosen.first?.1 ?? .generate
    operands = arguments.operands
    model = try ModelChoice(arguments, command: Self.invocation, task: .predict)
    printsJSON = arguments.has(.json)
    includesEnd = arguments.has(.includeEnd)
    for case (let option, let value?) in arguments.options {
      switch option {
      case .maxWords: generateOptions.maxWords = try value.integer(of: option, command: Self.invocation)
      case .temperature: generateOptions.temperature = try value.number(of: option, command: Self.invocation)
      case .topP: generateOptions.topP = try value.number(of: option, command: Self.invocation)
      case .seed: generateOptions.seed = try value.unsigned(of: option, command: Self.invocation)
      case .topK:
        wordCount = try value.integer(of: option, command: Self.invocation)
        generateOptions.topK = wordCount
      default: break
      }
    }
    do throws(BertQAError) {
      // Before anything is read: a mistake in the options is reported at once.
      if mode == .generate { try generateOptions.validate() }
    } catch {
      throw ToolError(error, command: Self.invocation)
    }
    if mode == .next, wordCount < 1 {
      throw .usage("--top-k is \(wordCount), but must be at least 1", command: Self.invocation)
    }
  }
}
