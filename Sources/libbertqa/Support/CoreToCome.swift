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

extension WordCountTrainer {
  func add(_ text: UnsafeBufferPointer<UInt8>, label: String, call: CallOptions) throws(BertQAError) {
    try add(text, label: label)
  }

  func finish(
    modelDirectory: String, call: CallOptions, progress: (@Sendable (String, Double) -> Void)?
  ) throws(BertQAError) -> TrainingReport {
    try finish(modelDirectory: modelDirectory)
  }
}

extension TrainingReport {
  func labelFigures(_ index: Int) -> (precision: Double, recall: Double, f1: Double) { (.nan, .nan, .nan) }

  func confusionCount(_ truth: Int, _ predicted: Int) -> Int {
    guard confusion.indices.contains(truth), confusion[truth].indices.contains(predicted) else { return 0 }
    return confusion[truth][predicted]
  }
}

enum LibraryProcess {
  static func warmUp() throws(BertQAError) {}
  static func setThreads(_ count: Int) throws(BertQAError) {}
  static func startThreads() throws(BertQAError) {}
  static func shutDownThreads() throws(BertQAError) {}
}
