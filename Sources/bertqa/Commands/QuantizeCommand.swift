import BertQACore

enum QuantizeCommand: Command {
  static let name = "quantize"
  static let summary = "make the int8 form of a model"

  static let table = CommandTable(
    usages: ["[OPTION]... HF_DIR OUT_DIR"],
    operands: .modelAndDirectory,
    description: [
      "Write the model in HF_DIR, a directory in the format of Hugging Face's save_pretrained, to OUT_DIR with its "
        + "matrices as 8-bit integers. They take a quarter of the size of F32, and any safetensors reader can read them. OUT_DIR "
        + "must not exist or be empty; it is written completely or not at all. Print a summary, one fact "
        + "per line; rms_weight and rms_error are the root mean squares of the rounded weights and of the rounding errors."
    ],
    sections: [
      OptionSection(
        "",
        [
          OptionRow(
            .noAnswerThreshold, value: "X",
            "store X as the model's threshold: the minimum score of an answer relative to 'no answer'; default: as "
              + "in HF_DIR"),
          CallLimits.timeoutRow("the work", includesLoading: true), OptionRow(.json, "print one JSON object"),
        ])
    ],
    exitCodes:
      "0 done; 2 wrong usage, or OUT_DIR is not empty; 3 HF_DIR cannot be read or is invalid, or OUT_DIR "
      + "cannot be written; 4 out of memory, standard output cannot be written, or a defect in the program",
    examples: [
      .init("a checkpoint of a quarter of the size", "bertqa quantize bert-base-squad bert-base-squad-int8"),
      .init(
        "a model that answers only when it is surer",
        "bertqa quantize --no-answer-threshold 2.5 bert-base-squad2 sure-int8"),
    ])

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    guard arguments.operands.count == 2 else {
      throw arguments.usage("quantize needs two directories, HF_DIR and OUT_DIR")
    }
    var options = QuantizeOptions()
    options.noAnswerThreshold = try arguments.last(.noAnswerThreshold)?.number()
    options.call = try CallLimits(arguments).call
    let source = try arguments.operands[0].path("HF_DIR", invocation)
    let target = arguments.operands[1].string
    PartialDirectories.remove(of: target)
    let report = try ofCore(invocation) { () throws(BertQAError) in
      try Quantizer.quantize(
        ModelDirectory(pathOrName: source), to: target, options: options)
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
