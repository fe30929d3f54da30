import BertQACore

enum QuantizeCommand: Command {
  static let name = "quantize"
  static let summary = "make the int8 form of a model"
  static let options: [Option] = [.noAnswerThreshold]

  static let help = """
    Usage: bertqa quantize [OPTION]... HF_DIR OUT_DIR

    """

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    return .done
  }
}
