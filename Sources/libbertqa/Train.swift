import BertQACore
import CBertQAHeader
import Glibc

final class TrainerHandle: Handle {
  let trainer: WordCountTrainer

  init(_ trainer: WordCountTrainer) { self.trainer = trainer }
}

/// Whether a hook has asked to stop; used on the calling thread only.
private final class StopRequest: @unchecked Sendable {
  var isMade = false
}

/// A report and the arrays that it points into. What C sees is the report alone; freeing it frees this.
private struct ReportStorage {
  var report: bertqa_training_report
  let labels: CArray<UnsafePointer<CChar>?>
  let labelTexts: CArray<Int>
  let confusion: CArray<Int>
}

private func defaultTrainOptions() -> bertqa_train_options {
  let defaults = TrainOptions()
  var options = bertqa_train_options()
  options.struct_size = MemoryLayout<bertqa_train_options>.size
  options.algorithm = defaults.algorithm.rawValue
  options.min_word_length = Int32(defaults.minWordLength)
  options.min_distinct_words = Int32(defaults.minDistinctWords)
  options.max_ngram = Int32(defaults.maxNGram)
  options.tf_idf = defaults.usesTFIDF ? 1 : 0
  options.min_document_count = Int32(defaults.minDocumentCount)
  options.max_document_fraction = defaults.maxDocumentFraction
  options.max_vocabulary = Int32(defaults.maxVocabulary)
  options.c = defaults.c
  options.alpha = defaults.alpha
  options.max_iterations = Int32(defaults.maxIterations)
  options.tolerance = defaults.tolerance
  options.folds = Int32(defaults.folds)
  options.threads = Int32(defaults.threads)
  options.seed = defaults.seed
  return options
}

private func trainOptions(
  _ pointer: UnsafePointer<bertqa_train_options>?
) throws(BertQAError) -> TrainOptions {
  let raw = try readOptions(pointer, "bertqa_train_options", defaults: defaultTrainOptions())
  var options = TrainOptions()
  options.algorithm = try enumeration(raw.algorithm, "bertqa_train_options.algorithm")
  options.minWordLength = Int(raw.min_word_length)
  options.minDistinctWords = Int(raw.min_distinct_words)
  options.maxNGram = Int(raw.max_ngram)
  options.usesTFIDF = raw.tf_idf != 0
  options.minDocumentCount = Int(raw.min_document_count)
  options.maxDocumentFraction = raw.max_document_fraction
  options.maxVocabulary = Int(raw.max_vocabulary)
  options.c = raw.c
  options.alpha = raw.alpha
  options.maxIterations = Int(raw.max_iterations)
  options.tolerance = raw.tolerance
  options.folds = Int(raw.folds)
  options.threads = Int(raw.threads)
  options.seed = raw.seed
  if let progress = raw.progress {
    // The core calls this on the calling thread only, during bertqa_trainer_finish.
    nonisolated(unsafe) let user = raw.progress_user
    let stop = StopRequest()
    options.progress = { stage, fraction in
      if stage.withCString({ progress(user, $0, fraction) }) != 0 { stop.isMade = true }
    }
    options.call.cancellation = Cancellation { stop.isMade }
  }
  return options
}

@c @implementation
public func bertqa_train_options_init(
  _ options: UnsafeMutablePointer<bertqa_train_options>?, _ struct_size: Int
) {
  writeDefaults(defaultTrainOptions(), to: options, size: struct_size)
}

@c @implementation
public func bertqa_trainer_create(
  _ options: UnsafePointer<bertqa_train_options>?, _ trainer: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let out = try required(trainer, "trainer")
    out.pointee = nil
    out.pointee = TrainerHandle(try WordCountTrainer(options: try trainOptions(options))).passed()
  }
}

@c @implementation
public func bertqa_trainer_free(_ trainer: OpaquePointer?) {
  TrainerHandle.release(trainer)
}

@c @implementation
public func bertqa_trainer_add(
  _ trainer: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ length: Int,
  _ label: UnsafePointer<CChar>?, _ label_length: Int
) -> bertqa_status {
  status { () throws(BertQAError) in
    let handle = try TrainerHandle.borrowed(trainer, "trainer")
    let bytes = try textArgument(text, length, "text")
    let label = try textArgument(label, label_length, "label")
    try handle.trainer.add(bytes, label: String(decoding: label, as: UTF8.self))
  }
}

@c @implementation
public func bertqa_trainer_finish(
  _ trainer: OpaquePointer?, _ model_directory: UnsafePointer<CChar>?,
  _ report: UnsafeMutablePointer<UnsafePointer<bertqa_training_report>?>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    report?.pointee = nil
    let handle = try TrainerHandle.borrowed(trainer, "trainer")
    let directory = String(cString: try required(model_directory, "model_directory"))
    let trained = try handle.trainer.finish(modelDirectory: directory)
    report?.pointee = made(trained)
  }
}

@c @implementation
public func bertqa_training_report_free(_ report: UnsafePointer<bertqa_training_report>?) {
  guard let report else { return }
  let storage = UnsafeMutableRawPointer(mutating: report).assumingMemoryBound(to: ReportStorage.self)
  for label in storage.pointee.labels.elements { free(UnsafeMutablePointer(mutating: label)) }
  storage.deinitialize(count: 1)
  storage.deallocate()
}

/// The C form, to be given back to `bertqa_training_report_free`.
private func made(_ trained: TrainingReport) -> UnsafePointer<bertqa_training_report> {
  var report = bertqa_training_report()
  report.struct_size = MemoryLayout<bertqa_training_report>.size
  report.text_count = trained.textCount
  report.vocabulary_size = trained.vocabularySize
  report.label_count = trained.labels.count
  report.iterations = Int32(clamping: trained.iterations)
  report.converged = trained.hasConverged ? 1 : 0
  report.loss = trained.loss
  report.accuracy = trained.accuracy
  report.macro_f1 = trained.macroF1
  report.calibration_error = trained.calibrationError
  let labels = CArray<UnsafePointer<CChar>?>(trained.labels.map { UnsafePointer(strdup($0)) })
  let labelTexts = CArray(trained.labelTexts)
  let count = trained.confusion.isEmpty ? 0 : trained.labels.count
  var cells = [Int](repeating: 0, count: count * count)
  for entry in trained.confusion { cells[entry.trueLabel * count + entry.predictedLabel] = entry.count }
  let confusion = CArray(cells)
  report.labels = labels.base
  report.label_texts = labelTexts.base
  report.confusion = confusion.base
  let storage = UnsafeMutablePointer<ReportStorage>.allocate(capacity: 1)
  storage.initialize(
    to: ReportStorage(report: report, labels: labels, labelTexts: labelTexts, confusion: confusion))
  // The report is the first member.
  return UnsafePointer(UnsafeMutableRawPointer(storage).assumingMemoryBound(to: bertqa_training_report.self))
}
