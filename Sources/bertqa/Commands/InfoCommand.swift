import BertQACore

enum InfoCommand: Command {
  static let name = "info"
  static let summary = "show a model's sizes and how it would run here"
  static let options = ModelChoice.runOptions + [.json]

  static let help = """
    Usage: bertqa info [OPTION]...

    Load a model and print what it is and how it runs on this machine, one fact a line.

    \(ModelChoice.help)
          --json                print one JSON object
    \(ModelChoice.runHelp)
      -h, --help                print this help
      -V, --version             print the version

    Exit codes: 0 done; 2 wrong usage; 3 the model cannot be read or is invalid; 4 out of
    memory or disk space, or a defect in the program.

    """

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    if let operand = arguments.operands.first {
      throw .usage("unexpected operand '\(operand.string)'", command: invocation)
    }
    let info = try ModelChoice(arguments, command: invocation).load(command: invocation).info
    if arguments.has(.json) {
      var writer = JSONWriter()
      writer.object { writer in
        for (key, value) in facts(info) {
          writer.key(key)
          value.write(to: &writer)
        }
      }
      output.write(writer.takeLine())
    } else {
      for (key, value) in facts(info) {
        let padding = String(repeating: " ", count: 25 - key.utf8.count)
        var line = Array("\(key)\(padding)".utf8)
        PlainText.append(value.text.utf8, to: &line)
        output.write(line + [UInt8(ascii: "\n")])
      }
    }
    return .done
  }

  private enum Fact {
    case text(String)
    case integer(Int)
    case number(Float)
    case boolean(Bool)

    var text: String {
      switch self {
      case .text(let value): return value
      case .integer(let value): return String(value)
      case .number(let value): return value.description
      case .boolean(let value): return value ? "yes" : "no"
      }
    }

    func write(to writer: inout JSONWriter) {
      switch self {
      case .text(let value): writer.string(value)
      case .integer(let value): writer.integer(value)
      case .number(let value): writer.number(value)
      case .boolean(let value): writer.boolean(value)
      }
    }
  }

  /// Named as in Hugging Face's config.json where it has the fact.
  private static func facts(_ info: ModelInfo) -> [(String, Fact)] {
    [
      ("version", .text(libraryVersion.description)),
      ("model", .text(info.directory)),
      ("architecture", .text(info.architecture)),
      ("precision", .text(spelling(of: info.precision, in: precisions))),
      ("isa", .text(spelling(of: info.instructionSet, in: instructionSets))),
      ("threads", .integer(info.threads)),
      ("vocab_size", .integer(info.vocabularySize)),
      ("hidden_size", .integer(info.hiddenSize)),
      ("num_hidden_layers", .integer(info.layerCount)),
      ("num_attention_heads", .integer(info.headCount)),
      ("intermediate_size", .integer(info.intermediateSize)),
      ("max_position_embeddings", .integer(info.maxPositions)),
      ("lowercase", .boolean(info.lowercase)),
      ("no_answer_threshold", .number(info.noAnswerThreshold)),
    ]
  }
}
