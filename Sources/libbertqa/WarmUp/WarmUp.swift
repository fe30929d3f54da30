import BertQACore
import CBertQA
import CBertQAHeader
import Glibc
import Synchronization

/// Runs every function of the ABI once while fork() waits: the Swift runtime sets itself up for code on its first
/// use, under locks that a child forked meanwhile would find taken for ever.
enum WarmUp {
  private static let isDone = Atomic<Bool>(false)

  static func run() {
    guard !isDone.load(ordering: .acquiring) else { return }
    bq_hold_fork()
    defer { bq_release_fork() }
    guard !isDone.load(ordering: .acquiring) else { return }
    let message = LastErrorCopy()
    Self.failures()
    ZeroModel.answering.use(Self.answering)
    ZeroModel.classifying.use(Self.classifying)
    ZeroModel.wordCounts.use(Self.classifying)
    ZeroModel.embedding.use(Self.embedding)
    ZeroModel.entities.use(Self.entities)
    ZeroModel.recurrent.use(Self.sequences)
    Self.quantizing()
    Self.training()
    Self.wordCounts()
    _ = bertqa_pool_set_threads(-1)
    message.restore()
    isDone.store(true, ordering: .releasing)
  }

  /// A string with a NUL, as C callers pass it.
  fileprivate static func withText<Result>(
    _ text: StaticString, _ body: (UnsafePointer<CChar>, Int) -> Result
  ) -> Result {
    body(UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self), text.utf8CodeUnitCount)
  }

  private static func failures() {
    var context: OpaquePointer?
    withText("/\n") { path, _ in _ = bertqa_context_create(path, nil, &context) }
    _ = bertqa_context_create_at(-1, nil, nil, &context)
    _ = bertqa_quantize(nil, nil, nil, nil)
    for status: Int32 in 0...11 { _ = bertqa_status_name(status) }
    _ = (bertqa_last_error(), bertqa_last_error_item(), bertqa_last_error_argument(), bertqa_version())
    _ = (bertqa_precision_name(0), bertqa_isa_name(0), bertqa_task_name(1), bertqa_deadline_after(1))
  }

  /// What any context does.
  private static func information(_ context: OpaquePointer) {
    var length = 0
    _ = bertqa_context_info(context)
    _ = bertqa_context_label_get(context, 0, &length)
    _ = bertqa_context_sequence_info(context)
    if let piece = bertqa_context_vocabulary_piece(context, 0, &length) {
      _ = bertqa_context_vocabulary_id(context, piece, length)
    }
    var tokens: OpaquePointer?
    withText("a [SEP] \u{E9}b.") { _ = bertqa_tokenize(context, $0, $1, nil, &tokens) }
    _ = (bertqa_tokens_count(tokens), bertqa_tokens_ids(tokens), bertqa_tokens_ranges(tokens))
    bertqa_tokens_free(tokens)
  }

  private static func answering(_ context: OpaquePointer) {
    information(context)
    withText("a b. a a b. b a b a b a b a.") { text, length in
      var answers: [OpaquePointer?] = [nil, nil]
      guard let statuses = try? CArray<bertqa_status>([0, 0]) else { return }
      _ = bertqa_answer(context, text, 1, text, length, nil, &answers[0])
      _ = (bertqa_answers_count(answers[0]), bertqa_answers_get(answers[0], 0))
      _ = bertqa_answers_summary(answers[0])
      bertqa_answers_free(answers[0])
      let pair = bertqa_answer_pair(
        question: text, question_length: 1, document: text, document_length: length)
      for statuses in [nil, statuses.elements.baseAddress] {
        _ = bertqa_answer_batch(
          context, [pair, pair], 2, nil, &answers, statuses)
        answers.forEach { bertqa_answers_free($0) }
        answers = [nil, nil]
      }
      var document: OpaquePointer?
      _ = bertqa_document_create(context, text, length, nil, &document)
      _ = bertqa_document_answer(context, document, text, 1, nil, &answers[0])
      bertqa_answers_free(answers[0])
      let questions = [bertqa_text(text: text, length: 1), bertqa_text(text: nil, length: 1)]
      for statuses in [nil, statuses.elements.baseAddress] {
        _ = bertqa_document_answer_batch(
          context, document, questions, statuses == nil ? 1 : 2, nil, &answers,
          statuses)
        answers.forEach { bertqa_answers_free($0) }
        answers = [nil, nil]
      }
      bertqa_document_free(document)
      var (starts, ends): (Float, Float) = (0, 0)
      _ = bertqa_logits(context, [1], 1, [1], nil, 1, nil, &starts, &ends)
    }
    columns { questions, documents in
      var array = ArrowArray()
      var schema = ArrowSchema()
      _ = bertqa_answer_arrow(context, questions, documents, nil, &array, &schema)
      array.release?(&array)
      schema.release?(&schema)
    }
  }

  private static func classifying(_ context: OpaquePointer) {
    information(context)
    var options = bertqa_classify_options()
    options.struct_size = MemoryLayout<bertqa_classify_options>.size
    options.contributions = 1
    withText("a b. a a b. b a b a b a b a.") { text, length in
      var results: [OpaquePointer?] = [nil, nil]
      guard let statuses = try? CArray<bertqa_status>([0, 0]) else { return }
      _ = bertqa_classify(context, text, length, &options, &results[0])
      use(results[0])
      let pairs = [
        bertqa_text_pair(text: text, length: length, second: nil, second_length: 0),
        bertqa_text_pair(text: text, length: length, second: text, second_length: 1),
      ]
      for statuses in [nil, statuses.elements.baseAddress] {
        _ = bertqa_classify_batch(
          context, pairs, 2, nil, &results, statuses)
        results.forEach { bertqa_classification_free($0) }
      }
    }
    columns { texts, _ in
      var array = ArrowArray()
      var schema = ArrowSchema()
      _ = bertqa_classify_arrow(context, texts, nil, &array, &schema)
      array.release?(&array)
      schema.release?(&schema)
    }
  }

  private static func use(_ classification: OpaquePointer?) {
    _ = (bertqa_classification_count(classification), bertqa_classification_get(classification, 0))
    _ = bertqa_classification_contribution_count(classification)
    _ = bertqa_classification_contribution_get(classification, 0)
    _ = bertqa_classification_summary(classification)
    bertqa_classification_free(classification)
  }

  private static func entities(_ context: OpaquePointer) {
    information(context)
    withText("a b. a a b. b a b a b a b a.") { text, length in
      var lists: [OpaquePointer?] = [nil, nil]
      guard let statuses = try? CArray<bertqa_status>([0, 0]) else { return }
      withText("x") { label, size in
        withUnsafePointer(to: bertqa_text(text: label, length: size)) { label in
          var options = bertqa_entities_options()
          options.struct_size = MemoryLayout<bertqa_entities_options>.size
          (options.labels, options.label_count) = (label, 1)
          (options.ignore_labels, options.ignore_label_count) = (label, 1)
          _ = bertqa_entities(context, text, length, &options, &lists[0])
        }
      }
      use(list: lists[0], of: text, length)
      let texts = [bertqa_text(text: text, length: length), bertqa_text(text: text, length: 1)]
      for statuses in [nil, statuses.elements.baseAddress] {
        _ = bertqa_entities_batch(context, texts, 2, nil, &lists, statuses)
        lists.forEach { bertqa_entity_list_free($0) }
      }
    }
    columns { texts, _ in
      var array = ArrowArray()
      var schema = ArrowSchema()
      _ = bertqa_entities_arrow(context, texts, nil, &array, &schema)
      array.release?(&array)
      schema.release?(&schema)
    }
    withText("a@b.de +1 212 555 1234, 4111 1111 1111 1111; GB82WEST12345698765432 1.2.3.4 ::1 www.b.de/(a)") {
      text, length in
      var list: OpaquePointer?
      _ = bertqa_patterns(text, length, nil, &list)
      use(list: list, of: text, length)
    }
  }

  private static func use(list: OpaquePointer?, of text: UnsafePointer<CChar>, _ length: Int) {
    _ = (bertqa_entity_list_count(list), bertqa_entity_list_get(list, 0), bertqa_entity_list_summary(list))
    var needed = 0
    var output = [CChar](repeating: 0, count: 256)
    _ = bertqa_redact(text, length, [list], 1, nil, 0, nil, nil, 0, &needed)
    _ = bertqa_redact(text, length, [list], 1, text, 1, nil, &output, output.count, &needed)
    bertqa_entity_list_free(list)
  }

  private static func embedding(_ context: OpaquePointer) {
    information(context)
    let length = bertqa_context_info(context)?.pointee.embedding_length ?? 0
    withText("a b a b") { text, size in
      let pair = bertqa_text_pair(text: text, length: size, second: nil, second_length: 0)
      var vector = [Float](repeating: 0, count: length)
      guard let statuses = try? CArray<bertqa_status>([0]) else { return }
      _ = bertqa_embed(context, [pair], 1, nil, &vector, length, nil)
      _ = bertqa_embed(context, [pair], 1, nil, &vector, length, statuses.elements.baseAddress)
      let example = bertqa_example(text: text, length: size, label: text, label_length: 1)
      var labeler: OpaquePointer?
      _ = bertqa_labeler_create(context, [example], 1, nil, &labeler)
      _ = (bertqa_labeler_label_count(labeler), bertqa_labeler_label_get(labeler, 0, nil))
      var results: [OpaquePointer?] = [nil]
      for statuses in [nil, statuses.elements.baseAddress] {
        _ = bertqa_labeler_classify(
          labeler, [pair], 1, nil, &results, statuses)
        use(results[0])
      }
      bertqa_labeler_free(labeler)
    }
  }
}

extension WarmUp {
  fileprivate static func sequences(_ context: OpaquePointer) {
    information(context)
    withText("a b") { text, length in
      var prediction: OpaquePointer?
      var state: OpaquePointer?
      _ = bertqa_sequence_predict(context, text, 1, nil, nil, &prediction, &state)
      _ = (bertqa_prediction_count(prediction), bertqa_prediction_get(prediction, 0))
      _ = (bertqa_prediction_is_unknown(prediction), bertqa_prediction_probabilities(prediction))
      bertqa_prediction_free(prediction)
      var next: OpaquePointer?
      _ = bertqa_sequence_predict_text(context, text, length, state, nil, &prediction, &next)
      bertqa_prediction_free(prediction)
      bertqa_sequence_state_free(next)
      _ = bertqa_sequence_predict_text(context, text, length, state, nil, nil, &next)
      bertqa_sequence_state_free(next)
      states(context, state)
      var generation: OpaquePointer?
      _ = bertqa_sequence_generate(context, text, length, state, nil, &generation)
      _ = (bertqa_generation_count(generation), bertqa_generation_get(generation, 0))
      _ = (bertqa_generation_text(generation, nil), bertqa_generation_stop(generation))
      _ = (bertqa_generation_unknown_count(generation), bertqa_generation_state(generation))
      bertqa_generation_free(generation)
      var score = bertqa_sequence_score()
      score.struct_size = MemoryLayout<bertqa_sequence_score>.size
      _ = bertqa_sequence_likelihood(context, text, length, state, nil, &score)
      let continuation = bertqa_text(text: text, length: length)
      var order = [0, 0]
      _ = bertqa_sequence_rank(
        context, text, 1, [continuation, continuation], 2, state, nil, &order, nil, nil)
      bertqa_sequence_state_free(state)
    }
  }

  private static func states(_ context: OpaquePointer, _ state: OpaquePointer?) {
    var other: OpaquePointer?
    let count = bertqa_context_sequence_info(context)?.pointee.state_length ?? 0
    var values = [Float](repeating: 0, count: count)
    _ = bertqa_sequence_state_export(state, &values, count)
    _ = bertqa_sequence_state_import(context, values, count, &other)
    bertqa_sequence_state_free(other)
    bertqa_sequence_state_free(bertqa_sequence_state_clone(state))
    var length = 0
    _ = bertqa_sequence_state_serialize(state, nil, 0, &length)
    var bytes = [UInt8](repeating: 0, count: length)
    _ = bertqa_sequence_state_serialize(state, &bytes, length, &length)
    _ = bertqa_sequence_state_deserialize(context, bytes, length, &other)
    bertqa_sequence_state_free(other)
    _ = bertqa_sequence_step(context, [0], [state], 1, nil, &other, nil, 0)
    bertqa_sequence_state_free(other)
  }

  fileprivate static func quantizing() {
    ZeroModel.answering.withFiles { files in
      _ = try? Quantizer.warmUp(ModelDirectory(borrowing: fileArguments(files, files.count)))
    }
  }

  fileprivate static func training() {
    var trainer: OpaquePointer?
    _ = bertqa_trainer_create(nil, &trainer)
    withText("a") { _ = bertqa_trainer_set_group(trainer, $0, $1) }
    withText("a b") { _ = bertqa_trainer_add(trainer, $0, $1, $0, 1, nil) }
    // Fails for want of a second label, before anything is written.
    withText("/\n/\n") { path, _ in _ = bertqa_trainer_finish(trainer, path, nil, nil) }
    bertqa_trainer_free(trainer)
    var training = TrainingReport()
    (training.labels, training.labelTexts) = (["a"], [1])
    let report = (try? TrainingReportHandle(training))?.passed()
    _ = (bertqa_training_report_summary(report), bertqa_training_report_label_count(report))
    _ = (bertqa_training_report_label_get(report, 0), bertqa_training_report_confusion(report, 0, 0))
    bertqa_training_report_free(report)
  }

  fileprivate static func wordCounts() {
    withText("two words two word\u{E9}s") { text, length in
      var list: OpaquePointer?
      _ = bertqa_word_counts(text, length, nil, &list)
      _ = (bertqa_word_count_list_count(list), bertqa_word_count_list_get(list, 0))
      bertqa_word_count_list_free(list)
    }
  }

  /// Two columns of one text each.
  fileprivate static func columns(_ body: (bertqa_column, bertqa_column) -> Void) {
    withText("a b") { text, length in
      let offsets: [Int64] = [0, Int64(length)]
      offsets.withUnsafeBytes { offsets in
        var buffers: [UnsafeRawPointer?] = [nil, offsets.baseAddress, UnsafeRawPointer(text)]
        buffers.withUnsafeMutableBufferPointer { buffers in
          var array = ArrowArray()
          (array.length, array.n_buffers, array.buffers) = (1, 3, buffers.baseAddress)
          array.release = { _ in }
          var schema = ArrowSchema()
          schema.release = { _ in }
          withText("U") { format, _ in
            schema.format = format
            withUnsafePointer(to: array) { array in
              withUnsafePointer(to: schema) { schema in
                let column = bertqa_column(array: array, schema: schema)
                body(column, column)
              }
            }
          }
        }
      }
    }
  }
}

/// This thread's last error, which warming up shall not change.
private struct LastErrorCopy {
  private let message = String(cString: bq_last_error())
  private let argument = String(cString: bq_last_error_argument())
  private let item = bq_last_error_item()

  func restore() {
    message.withCString { message in
      argument.withCString { argument in
        bq_set_last_error(message, strlen(message), argument, strlen(argument), item)
      }
    }
  }
}
