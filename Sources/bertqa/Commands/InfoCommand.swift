import BertQACore

enum InfoCommand: Command {
  static let name = "info"
  static let summary = "show a model's sizes and how it would run here, or verify its files"

  static let table = CommandTable(
    usages: ["[OPTION]...", "--verify [--json] [MODEL_DIR]..."],
    operands: .models,
    description: [
      "Load a model and print what it is and how it runs on this machine, one fact a line.",
      "With --verify, load nothing: compare the files of each MODEL_DIR, else of every default model that is "
        + "installed, with the list in its file SHA256SUMS, and print those that are changed, missing, extra, "
        + "special (no plain file) or unreadable.",
    ],
    sections: [
      OptionSection(
        "",
        [
          ModelChoice.row(), OptionRow(.json, "print one JSON object"),
          OptionRow(
            .verify, "compare the models' files with their SHA256SUMS",
            detail:
              "The list tells damage and mistakes. Who can change a model can change its list: to be sure of "
              + "where a model comes from, compare the list itself with that of the release."),
        ] + ModelChoice.runRows)
    ],
    exitCodes:
      "0 done; 2 wrong usage; 3 the model cannot be read or is invalid, or --verify found a difference or no "
      + "SHA256SUMS; 4 out of memory, the output cannot be written, or a defect in the program",
    examples: [
      .init("whether the default models are as they were released", "bertqa info --verify"),
      .init("the precision that a model would run in", "bertqa info --json -m my-model | jq -r .precision"),
    ])

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    if arguments.has(.verify) { return try verify(arguments, to: output) }
    if let operand = arguments.operands.first {
      throw arguments.usage("unexpected operand '\(operand.string)'")
    }
    let info = try ModelChoice(arguments).loadAny().info
    facts(info).print(asJSON: arguments.has(.json), to: output)
    return .done
  }

  private static func verify(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    for given in arguments.options where ![.verify, .json, .model].contains(given.option) {
      throw arguments.usage("--verify and \(given.option.spelling) exclude each other")
    }
    var directories = arguments.options.filter { $0.option == .model }.map(\.string)
    directories += arguments.operands.map(\.string)
    if directories.isEmpty {
      directories = try ofCore(invocation) { () throws(BertQAError) in try installedDefaultModels() }
    }
    var verifications: [ModelVerification] = []
    for directory in directories { verifications.append(try ModelVerification(directory: directory)) }
    if arguments.has(.json) {
      var writer = JSONWriter()
      writer.verifications(verifications)
      output.write(writer.takeLine())
    } else {
      for verification in verifications { output.write(verification.lines()) }
    }
    let failed = verifications.filter { !$0.isVerified }.map(\.directory)
    guard failed.isEmpty else {
      try output.flush()
      throw ToolError(
        .input, "not as \(ModelManifest.fileName) says: \(failed.joined(separator: ", "))")
    }
    return .done
  }

  /// Names follow Hugging Face's config.json if it has the fact.
  private static func facts(_ info: ModelInfo) -> Facts {
    var facts: [(String, Facts.Value)] = [
      ("version", .text(libraryVersion.description)),
      ("model", .text(info.directory)),
      ("architecture", .text(info.architecture)),
      ("task", .text(info.task?.description ?? "")),
      ("precision", .text(spelling(of: info.precision, in: ModelChoice.precisions))),
      ("isa", .text(info.instructionSet?.description ?? "")),
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
