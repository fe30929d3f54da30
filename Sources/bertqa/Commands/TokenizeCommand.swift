import BertQACore

enum TokenizeCommand: Command {
  static let name = "tokenize"
  static let summary = "split a text into the tokens of a model's vocabulary"
  static let options: [Option] = [.model, .json, .ids, .parseSpecialTokens]

  static let help = """
    Usage: bertqa tokenize [OPTION]... [FILE|-]

    Split FILE, or standard input, into WordPiece tokens, as the model sees them:
    one a line, with id, token, and the range of bytes of the text that it came
    from, separated by tabs.

          --ids                 print the ids only
          --json                print one JSON object with all ids, tokens, ranges
      -m, --model DIR           model directory, vocab.txt or tokenizer.json;
                                default: the one installed with bertqa, else
                                $BERTQA_MODEL
          --parse-special-tokens
                                read [SEP] and its like in the text as tokens
      -h, --help                print this help
      -V, --version             print the version

    Exit codes: 0 done; 2 wrong usage; 3 the text or model cannot be read or is
    invalid; 4 out of memory, the output cannot be written, or a defect in the
    program.

    """

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    if arguments.operands.count > 1 {
      throw .usage("more than one file: '\(arguments.operands[1].string)'", command: invocation)
    }
    if arguments.has(.ids) && arguments.has(.json) {
      throw .usage("--ids and --json exclude each other", command: invocation)
    }
    let context = try ModelChoice(arguments, command: invocation, tokenizerOnly: true)
      .load(command: invocation)
    let file = arguments.operands.first ?? .standardInput
    let text = try InputText(file)
    let tokens: Tokens
    do throws(BertQAError) {
      tokens = try context.tokenize(text.bytes, parseSpecialTokens: arguments.has(.parseSpecialTokens))
    } catch {
      throw ToolError(error, command: invocation)
    }
    if arguments.has(.json) {
      try writeJSON(tokens, of: file, context, to: output)
    } else if arguments.has(.ids) {
      for id in tokens.ids {
        output.write("\(id)\n")
        try output.flushIfLarge()
      }
    } else {
      try writeLines(tokens, context, to: output)
    }
    return .done
  }

  private static func writeLines(
    _ tokens: Tokens, _ context: Context, to output: Output
  ) throws(ToolError) {
    var line: [UInt8] = []
    for (index, id) in tokens.ids.enumerated() {
      line.append(contentsOf: "\(id)\t".utf8)
      if let piece = context.vocabularyPiece(id: id) { PlainText.append(piece, to: &line) }
      line.append(contentsOf: "\t\(tokens.starts[index])\t\(tokens.ends[index])\n".utf8)
      output.write(line)
      line.removeAll(keepingCapacity: true)
      try output.flushIfLarge()
    }
  }

  private static func writeJSON(
    _ tokens: Tokens, of file: ArgumentText, _ context: Context, to output: Output
  ) throws(ToolError) {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("file")
      writer.string(file.bytes)
      tokens.writeMembers(context, to: &writer)
    }
    output.write(writer.takeLine())
  }
}
