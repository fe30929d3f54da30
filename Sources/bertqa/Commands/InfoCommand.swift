import BertQACore

enum InfoCommand: Command {
  static let name = "info"
  static let summary = "show a model's sizes and how it would run here"

  static let table = CommandTable(
    usages: ["[OPTION]..."],
    operands: .none,
    description: [
      "Load a model and print its properties and how it runs on this machine, one fact per line."
    ],
    sections: [
      OptionSection(
        "",
        [
          ModelChoice.row(), OptionRow(.json, "print one JSON object"),
          OptionRow(
            .check, value: "DIR", use: .model,
            "compare the model in DIR with transformers, which must be installed, and print no properties",
            detail: "'python3 -m bertqa.check' compares tokens, ranges and numbers with transformers, "
              + "sentence-transformers or model2vec, and prints a line for each. No other option can be used."
          ),
        ] + ModelChoice.runRows)
    ],
    exitCodes:
      "0 done; 1 --check found a difference; 2 wrong usage; 3 the model cannot be read or is invalid, or Python or "
      + "transformers is missing; 4 out of memory, the output cannot be "
      + "written, or a defect in the program",
    examples: [
      .init("the default model on this machine", "bertqa info"),
      .init("the precision that a model would run in", "bertqa info --json -m my-model | jq -r .precision"),
    ])

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    if let operand = arguments.operands.first {
      throw arguments.usage("unexpected operand '\(operand.string)'")
    }
    try arguments.check(.check, goesOnlyWith: [])
    if let model = arguments.last(.check)?.text {
      throw PythonModule.run("bertqa.check", [model], for: .check, advice: "")
    }
    let info = try ModelChoice(arguments).loadAny().info
    facts(info).print(asJSON: arguments.has(.json), to: output)
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
    if !info.family.isEmpty { facts.append(("family", .text(info.family))) }
    if !info.tokenizer.isEmpty { facts.append(("tokenizer", .text(info.tokenizer))) }
    if !info.labels.isEmpty { facts.append(("labels", .list(info.labels))) }
    if info.embeddingLength > 0 { facts.append(("embedding_length", .integer(info.embeddingLength))) }
    if let embedding = info.embedding { facts += self.facts(embedding) }
    if !info.ignoredTensors.isEmpty {
      facts.append(("ignored_tensors", .text(summary(of: info.ignoredTensors))))
    }
    return Facts(facts)
  }

  private static func facts(_ embedding: EmbeddingInfo) -> [(String, Facts.Value)] {
    var facts: [(String, Facts.Value)] = []
    switch embedding.output {
    case .vector: facts.append(("pooling", .text(embedding.poolings.joined(separator: ", "))))
    case .tokenVectors, .pieceWeights: facts.append(("output", .text(embedding.output.rawValue)))
    }
    facts.append(("normalize", .boolean(embedding.normalizes)))
    if let lengths = embedding.interactionLengths {
      facts += [("query_length", .integer(lengths.query)), ("document_length", .integer(lengths.document))]
    } else {
      facts.append(("max_seq_length", .integer(embedding.maxSequenceLength)))
    }
    let dense = embedding.denseWidths.map { "\($0)" }.joined(separator: ", ")
    if !dense.isEmpty { facts.append(("dense", .text(dense))) }
    for prompt in embedding.prompts { facts.append(("prompt_\(prompt.name)", .text(prompt.text))) }
    if let name = embedding.defaultPromptName { facts.append(("default_prompt_name", .text(name))) }
    if !embedding.poolsPrompts { facts.append(("include_prompt", .boolean(false))) }
    return facts
  }

  /// The first names, and how many more there are.
  private static func summary(of names: [String]) -> String {
    let shown = 8
    let first = names.prefix(shown).joined(separator: ", ")
    return names.count > shown ? "\(first) and \(names.count - shown) more" : first
  }
}
