// What the core does not give yet.
import BertQACore

extension ContextOptions {
  var call: CallOptions {
    get { CallOptions() }
    set {}
  }
}

struct SequenceInfo {
  var separator: String
  var end: String?
  var endID: Int32?
  var unknownID: Int32?
}

extension Context {
  var sequenceInfo: SequenceInfo? {
    info.task == .predict ? SequenceInfo(separator: wordSeparator) : nil
  }
}

extension Labeler {
  func classifyEach(
    _ texts: [TextPair], call: CallOptions
  ) throws(BertQAError) -> [Result<Classification, BertQAError>] {
    try classify(texts, call: call).map { .success($0) }
  }
}

enum LibraryProcess {
  static func warmUp() throws(BertQAError) {}
  static func setThreads(_ count: Int) throws(BertQAError) {}
  static func startThreads() throws(BertQAError) {}
  static func shutDownThreads() throws(BertQAError) {}
}
