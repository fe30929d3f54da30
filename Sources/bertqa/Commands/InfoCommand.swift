import BertQACore

enum InfoCommand: Command {
  static let name = "info"
  static let summary = "show a model's sizes and how it would run here"
  static let options = ModelChoice.runOptions + [.json]

  static let help = """
    Usage: bertqa info [OPTION]...

    Load a model and print what it is and how it runs on this machine, one fact a
    line.

    \(ModelChoice.help)
          --json                print one JSON object
    \(ModelChoice.runHelp)
      -h, --help                print this help
      -V, --version             print the version

    Exit codes: 0 done; 2 wrong usage; 3 the model cannot be read or is invalid;
    4 out of memory, the output cannot be written, or a defect in the program.

    """

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    if let operand = arguments.operands.first {
      throw .usage("unexpected operand '\(operand.string)'", command: invocation)
    }
    let info = try ModelChoice(arguments, command: invocation).load(command: invocation).info
    facts(info).print(asJSON: arguments.has(.json), to: output)
    return .done
  }

  /// Named as in Hugging Face's config.json where it has the fact.
  private static func facts(_ info: ModelInfo) -> Facts {
    var facts: [(String, Facts.Value)] = [
      ("version", .text(libraryVersion.description)),
      ("model", .text(info.directory)),
      ("architecture", .text(info.architecture)),
      ("task", .text(info.task?.description ?? "")),
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
    if !info.labels.isEmpty { facts.append(("labels", .text(info.labels.joined(separator: ", ")))) }
    if info.embeddingLength > 0 { facts.append(("embedding_length", .integer(info.embeddingLength))) }
    return Facts(facts)
  }
}
