import BertQACore

/// `bertqa answer`, its arguments read.
struct AnswerCommand: Command {
  static let name = "answer"
  static let summary = "answer questions from documents"
  static let options: [Option] =
    ModelChoice.runOptions + [
      .question, .json, .context, .color,
    ] + AnswerOptions.commandLineOptions

  static var choices: [Option: [String]] { [.color: Terminal.colorChoices.map(\.key)] }

  let questions: [ArgumentText]
  let files: [ArgumentText]
  let model: ModelChoice
  private(set) var answerOptions = AnswerOptions()
  private(set) var showsContext = false
  private(set) var color = Terminal.ColorChoice.auto
  let printsJSON: Bool

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    try AnswerCommand(arguments).run(to: output)
  }

  init(_ arguments: ParsedArguments) throws(ToolError) {
    let command = Self.invocation
    questions = arguments.options.filter { $0.option == .question }.compactMap(\.value)
    files = arguments.operands.isEmpty ? [.standardInput] : arguments.operands
    model = try ModelChoice(arguments, command: command)
    printsJSON = arguments.has(.json)
    for (option, value) in arguments.options { try set(option, value) }
    if questions.isEmpty { throw .usage("no --question was given", command: command) }
  }

  private mutating func set(_ option: Option, _ value: ArgumentText?) throws(ToolError) {
    switch option {
    case .context: showsContext = true
    case .color:
      color =
        try value?.choice(
          of: option, from: Terminal.colorChoices, command: Self.invocation) ?? .always
    default: try answerOptions.set(option, value, command: Self.invocation)
    }
  }
}
