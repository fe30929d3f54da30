import BertQACore
import CBertQAHeader

extension bertqa_quantize_options: COptions {
  static let name: StaticString = "bertqa_quantize_options"
  static var narrowFieldCount: Int { 2 }
}

@_cdecl("bertqa_quantize")
public func bertqa_quantize(
  _ directory: UnsafePointer<CChar>?, _ output: UnsafePointer<CChar>?,
  _ options: UnsafePointer<bertqa_quantize_options>?,
  _ report: UnsafeMutablePointer<bertqa_quantize_report>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let raw = try readOptions(options)
    var options = QuantizeOptions()
    options.call = try callOptions(raw.call)
    options.noAnswerThreshold = try threshold(
      raw.no_answer_threshold, used: raw.use_no_answer_threshold)
    if let report { _ = try checkedSize(of: report, "bertqa_quantize_report") }
    let model = try pathArgument(directory, "directory")
    if model.isEmpty { throw BertQAError(.invalidArgument, argument: "directory", "is empty") }
    let result = try Quantizer.quantize(
      ModelDirectory(pathOrName: model), to: pathArgument(output, "output"), options: options)
    if let report { try write(bertqa_quantize_report(result), to: report, "bertqa_quantize_report") }
  }
}

extension bertqa_quantize_report {
  fileprivate init(_ report: QuantizationReport) {
    self.init()
    tensor_count = report.tensorCount
    quantized_count = report.quantizedCount
    bytes_read = report.bytesRead
    bytes_written = report.bytesWritten
    rms_weight = report.rmsWeight
    rms_error = report.rmsError
    rms_error_of_largest = report.rmsErrorOfLargest
  }
}
