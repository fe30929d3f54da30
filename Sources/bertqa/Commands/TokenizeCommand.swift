import BertQACore

enum TokenizeCommand: Command {
  static let name = "tokenize"
  static let summary = "split a text into the tokens of a model's vocabulary"

  static let table = CommandTable(
    usages: ["[OPTION]... [TEXT]...", "[OPTION]... --file FILE..."],
    operands: .texts,
    description: [
      "Print the tokens of a text as the model reads them, one per line: id, token, and the token's range of bytes in the "
        + "text, separated by tabs. Several TEXTs are joined with spaces; without TEXT and "
        + "--file, or for '-', the text is standard input."
    ],
    sections: [
      OptionSection(
        "",
        [TextSource.row, TextSource.encodingRow] + rows + [
          OptionRow(.json, "print one JSON object with all ids, tokens and ranges"),
          OptionRow(
            .model, letter: "m", value: "DIR", use: .model,
            "model directory, vocab.txt or tokenizer.json; default: $BERTQA_MODEL, or the one installed with "
              + "bertqa"),
        ]),
      OptionSection(CallLimits.title, CallLimits.rows("a text")),
    ],
    notes: [TextSource.columnNote],
    exitCodes:
      "0 done; 2 wrong usage; 3 the text or model cannot be read or is invalid; 4 out of memory, the output "
      + "cannot be written, or a defect in the program",
    examples: [
      .init("the tokens of a sentence", "bertqa tokenize \"The quick brown fox\""),
      .init("the number of tokens of a file", "bertqa tokenize --ids -f report.txt | wc -l"),
    ])

  static let rows = [
    OptionRow(.ids, "print only the ids"),
    OptionRow(
      .parseSpecialTokens, "read [SEP] and other special tokens in the text as tokens",
      detail: "Otherwise they are ordinary text."
    ),
  ]

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    if arguments.has(.ids) && arguments.has(.json) {
      throw arguments.usage("use either --ids or --json")
    }
    let limits = try CallLimits(arguments)
    // Accepts any data: the command shows how the model would read it.
    let sources = try TextSource.all(arguments, isForced: true)
    let context = try ModelChoice(arguments, tokenizerOnly: true).load()
    return try TextSource.forEach(sources) { source, text throws(ToolError) in
      let tokens = try ofCore(invocation, subject: source.shown) { () throws(BertQAError) in
        try context.tokenize(
          text.bytes, parseSpecialTokens: arguments.has(.parseSpecialTokens), call: limits.call)
      }
      if arguments.has(.json) {
        writeJSON(tokens, of: source, context, to: output)
      } else if arguments.has(.ids) {
        for id in tokens.ids {
          output.write(source.column + "\(id)\n".utf8)
          try output.flushIfLarge()
        }
      } else {
        try writeLines(tokens, of: source, context, to: output)
      }
      try output.flush()
    }
  }

  private static func writeLines(
    _ tokens: Tokens, of source: TextSource, _ context: Context, to output: Output
  ) throws(ToolError) {
    let column = source.column
    var line: [UInt8] = []
    for (index, id) in tokens.ids.enumerated() {
      line += column
      line.append(contentsOf: "\(id)\t".utf8)
      if let piece = context.vocabularyPiece(id: id) { PlainText.append(piece, to: &line) }
      line.append(contentsOf: "\t\(tokens.starts[index])\t\(tokens.ends[index])\n".utf8)
      output.write(line)
      line.removeAll(keepingCapacity: true)
      try output.flushIfLarge()
    }
  }

  private static func writeJSON(
    _ tokens: Tokens, of source: TextSource, _ context: Context, to output: Output
  ) {
    var writer = JSONWriter()
    writer.object { writer in
      source.writeMembers(to: &writer)
      tokens.writeMembers(context, to: &writer)
    }
    output.write(writer.takeLine())
  }
}
