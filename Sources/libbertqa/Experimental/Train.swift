import BertQACore
import CBertQAHeader

final class TrainerHandle: Handle {
  private let trainer: ClassifierTrainer
  fileprivate let progress: TrainingProgress
  /// The group of texts added from now on.
  fileprivate var group: [UInt8] = []
  private var isInUse = false

  init(_ options: TrainOptions) throws(BertQAError) {
    let progress = TrainingProgress()
    var options = options
    options.progress = { stage, fraction in progress.report?(stage, fraction) }
    self.progress = progress
    trainer = try ClassifierTrainer(options: options)
  }

  /// Runs a call. Its hooks cannot use the trainer.
  fileprivate func use(_ body: (ClassifierTrainer) throws(BertQAError) -> Void) throws(BertQAError) {
    guard !isInUse else {
      throw BertQAError(
        .invalidArgument, argument: "trainer",
        "is in use by the call whose hook this is: use it after that call")
    }
    isInUse = true
    defer { isInUse = false }
    try body(trainer)
  }
}

/// The progress hook of a training. Each call sets its own.
final class TrainingProgress: @unchecked Sendable {
  // Sendable: a trainer is used by one thread at a time.

  fileprivate(set) var report: ((_ stage: StaticString, _ fraction: Double) -> Void)?
}

extension bertqa_train_options: COptions {
  static let name: StaticString = "bertqa_train_options"
  static var narrowFieldCount: Int { 12 }
}

private func trainOptions(
  _ pointer: UnsafePointer<bertqa_train_options>?
) throws(BertQAError) -> TrainOptions {
  let raw = try readOptions(pointer)
  var options = TrainOptions()
  options.algorithm = try enumeration(raw.algorithm, "algorithm")
  options.minWordLength = number(raw.min_word_length, default: options.minWordLength)
  options.minDistinctWords = number(raw.min_distinct_words, default: options.minDistinctWords)
  options.maxNGram = number(raw.max_ngram, default: options.maxNGram)
  options.usesTFIDF = try switched(raw.tf_idf, "tf_idf") ?? options.usesTFIDF
  options.minDocumentCount = number(raw.min_document_count, default: options.minDocumentCount)
  options.maxDocumentFraction = number(raw.max_document_fraction, default: options.maxDocumentFraction)
  options.maxVocabulary = number(raw.max_vocabulary, default: options.maxVocabulary)
  if raw.c != 0 { options.c = raw.c }
  options.alpha = number(raw.alpha, default: options.alpha)
  options.maxIterations = number(raw.max_iterations, default: options.maxIterations)
  options.tolerance = number(raw.tolerance, default: options.tolerance)
  options.folds = number(raw.folds, none: -1) ?? options.folds
  options.threads = Int(raw.threads)
  options.seed = raw.seed
  options.calibrates = try switched(raw.calibrate, "calibrate") ?? options.calibrates
  options.features = try enumeration(raw.features, "features")
  if raw.embedding_model != nil {
    options.embeddingModel = try pathArgument(raw.embedding_model, "embedding_model")
  }
  return options
}

@_cdecl("bertqa_trainer_create")
public func bertqa_trainer_create(
  _ options: UnsafePointer<bertqa_train_options>?, _ trainer: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(trainer, "trainer") { () throws(BertQAError) in
    try TrainerHandle(trainOptions(options))
  }
}

@_cdecl("bertqa_trainer_free")
public func bertqa_trainer_free(_ trainer: OpaquePointer?) {
  TrainerHandle.release(trainer)
}

@_cdecl("bertqa_trainer_add")
public func bertqa_trainer_add(
  _ trainer: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ length: Int,
  _ label: UnsafePointer<CChar>?, _ label_length: Int, _ call: UnsafePointer<bertqa_call_options>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let handle = try TrainerHandle.borrowed(trainer, "trainer")
    let call = try callOptions(call)
    let bytes = try textArgument(text, length, "text")
    let label = try labelArgument(label, label_length, "label")
    try handle.use { trainer throws(BertQAError) in
      try trainer.add(bytes, label: label, group: handle.group, call: call)
    }
  }
}

@_cdecl("bertqa_trainer_set_group")
public func bertqa_trainer_set_group(
  _ trainer: OpaquePointer?, _ group: UnsafePointer<CChar>?, _ length: Int
) -> bertqa_status {
  status { () throws(BertQAError) in
    let handle = try TrainerHandle.borrowed(trainer, "trainer")
    let bytes = try textArgument(group, length, "group")
    try Memory.require(bytes.count)
    try handle.use { _ in handle.group = Array(bytes) }
  }
}

@_cdecl("bertqa_trainer_finish")
public func bertqa_trainer_finish(
  _ trainer: OpaquePointer?, _ model_directory: UnsafePointer<CChar>?,
  _ call: UnsafePointer<bertqa_call_options>?, _ report: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    report?.pointee = nil
    let handle = try TrainerHandle.borrowed(trainer, "trainer")
    let directory = try pathArgument(model_directory, "model_directory")
    let options = try callOptions(call)
    try handle.use { trainer throws(BertQAError) in
      handle.progress.report = try stagedProgress(call)
      defer { handle.progress.report = nil }
      let trained = try trainer.finish(modelDirectory: directory, call: options)
      report?.pointee = try TrainingReportHandle(trained).passed()
    }
  }
}

/// Returns the progress hook of a call with several stages.
private func stagedProgress(
  _ pointer: UnsafePointer<bertqa_call_options>?
) throws(BertQAError) -> ((StaticString, Double) -> Void)? {
  let raw = try readOptions(pointer)
  guard let progress = raw.progress else { return nil }
  let user = raw.user
  return { stage, fraction in outsideGate { progress(user, staticCString(stage), fraction) } }
}
