import BertQACore

enum QuantizeCommand: Command {
  static let name = "quantize"
  static let summary = "make the int8 form of a model"
  static let options: [Option] = [.noAnswerThreshold, .json]

  static let help = """
    Usage: bertqa quantize [OPTION]... HF_DIR OUT_DIR

    Write the model in HF_DIR, a directory as Hugging Face's save_pretrained makes
    it, to OUT_DIR with its matrices as 8-bit integers: a quarter of the size of
    F32, readable by any safetensors reader. OUT_DIR must not exist or be empty.
    Print what was done, one fact a line; rms_weight and rms_error are the root mean
    squares of the rounded weights and of their change.

          --no-answer-threshold X
                                store X as the model's own threshold: the score by
                                which an answer must beat 'no answer'; default: as
                                in HF_DIR
          --json                print one JSON object
      -h, --help                print this help
      -V, --version             print the version

    Exit codes: 0 done; 2 wrong usage, or OUT_DIR is not empty; 3 HF_DIR cannot be
    read or is invalid, or OUT_DIR cannot be written; 4 out of memory, standard
    output cannot be written, or a defect in the program.

    """

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    guard arguments.operands.count == 2 else {
      throw .usage("quantize needs two directories, HF_DIR and OUT_DIR", command: invocation)
    }
    var options = QuantizeOptions()
    for case (.noAnswerThreshold, let value?) in arguments.options {
      options.noAnswerThreshold = try value.number(of: .noAnswerThreshold, command: invocation)
    }
    let report: QuantizationReport
    do throws(BertQAError) {
      report = try Quantizer.quantize(
        ModelDirectory(path: arguments.operands[0].string), to: arguments.operands[1].string, options: options)
    } catch {
      throw ToolError(error, command: invocation)
    }
    Facts([
      ("tensors", .integer(report.tensorCount)),
      ("int8_weights", .integer(report.quantizedCount)),
      ("bytes_before", .integer(report.bytesRead)),
      ("bytes_after", .integer(report.bytesWritten)),
      ("rms_weight", .number(Float(report.rmsWeight))),
      ("rms_error", .number(Float(report.rmsError))),
    ]).print(asJSON: arguments.has(.json), to: output)
    return .done
  }
}
