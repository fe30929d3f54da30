import BertQACore

/// `bertqa embed`, its arguments read.
struct EmbedCommand: Command {
  static let name = "embed"
  static let summary = "turn texts into vectors"
  static let options: [Option] =
    ModelChoice.runOptions + [
      .lines, .format, .pooling, .normalize, .noNormalize, .maxSequenceLength, .truncate,
    ]

  static var choices: [Option: [String]] {
    [.format: VectorWriter.formats.map(\.key), .pooling: poolings.map(\.key)]
  }

  static let help = """
    Usage: bertqa embed -m DIR [OPTION]... [FILE|-]...

    Turn each FILE, or standard input, into a vector for search, clustering and
    comparison, and print them in the order of the texts.

          --lines               each line is a text of its own, empty ones too
          --format F            json: an object a line with file, line, embedding;
                                npy: a NumPy array of float32, a row a text;
                                raw: its numbers alone; default json
          --pooling P           how a text's token vectors become one: mean, cls, or
                                model: as the model's files say; default model
          --normalize           scale vectors to length 1; default: as the model's
                                files say
          --no-normalize        leave their length as it is
          --max-seq-len N       tokens of one window; default: as the model's files
                                say
          --truncate            cut longer texts, as sentence-transformers does;
                                default: average the vectors of their windows
      -m, --model DIR           directory of the model; there is no default one
    \(ModelChoice.runHelp)
      -h, --help                print this help
      -V, --version             print the version

    Exit codes: 0 done; 2 wrong usage; 3 a file or the model cannot be read or is
    invalid: nothing is printed then; 4 out of memory, the output cannot be written,
    or a defect in the program.

    """

  private let files: [ArgumentText]
  private let model: ModelChoice
  private let hasLines: Bool
  private var format = VectorWriter.Format.json
  private var embedOptions = EmbedOptions()

  /// Texts whose vectors are in memory at once.
  private static let sliceTexts = 1024

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    try EmbedCommand(arguments).run(to: output)
  }

  private init(_ arguments: ParsedArguments) throws(ToolError) {
    files = arguments.operands.isEmpty ? [.standardInput] : arguments.operands
    model = try ModelChoice(arguments, command: Self.invocation, task: .embed)
    hasLines = arguments.has(.lines)
    for (option, value) in arguments.options {
      try embedOptions.set(option, value, command: Self.invocation)
      if option == .format, let value {
        format = try value.choice(of: option, from: VectorWriter.formats, command: Self.invocation)
      }
    }
  }

  private func run(to output: Output) throws(ToolError) -> ExitCode {
    let context = try model.load(command: Self.invocation)
    // Before any file is read: a mistake in the options is reported at once.
    _ = try embed([], context)
    var inputs: [InputText] = []
    var texts: [(file: ArgumentText, line: Int?, text: TextPair)] = []
    for file in files {
      let input = try InputText(file)
      inputs.append(input)
      if hasLines {
        for (index, line) in input.lines.enumerated() {
          texts.append((file, index + 1, TextPair(text: line)))
        }
      } else {
        texts.append((file, nil, TextPair(text: input.bytes)))
      }
    }
    defer { withExtendedLifetime(inputs) {} }
    var writer = VectorWriter(format, length: context.info.embeddingLength, output)
    writer.begin(count: texts.count)
    for first in stride(from: 0, to: texts.count, by: Self.sliceTexts) {
      let slice = texts[first..<min(first + Self.sliceTexts, texts.count)]
      let vectors = try embed(slice.map(\.text), context)
      for (index, text) in slice.enumerated() {
        let start = index * context.info.embeddingLength
        writer.write(
          vectors[start..<start + context.info.embeddingLength], file: text.file, line: text.line)
        try output.flushIfLarge()
      }
    }
    return .done
  }

  private func embed(_ texts: [TextPair], _ context: Context) throws(ToolError) -> [Float] {
    do throws(BertQAError) {
      return try context.embed(texts, options: embedOptions)
    } catch {
      throw ToolError(error, command: Self.invocation)
    }
  }
}
