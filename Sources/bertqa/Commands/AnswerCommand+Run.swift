import BertQACore

extension AnswerCommand {
  /// Asks every question about every file, in the order given.
  func run(to output: Output) throws(ToolError) -> ExitCode {
    let context = try model.load(command: Self.invocation)
    let options = answerOptions
    do throws(BertQAError) {
      // Before any file is read: a mistake in the options is reported at once. Models of other tasks, which may
      // have no positions, are refused by the first answer.
      if context.info.task == .answer { try context.validate(options) }
    } catch {
      throw ToolError(error, command: Self.invocation)
    }
    let format = LineFormat(
      showsFile: files.count > 1, showsQuestion: questions.count > 1,
      showsProbability: showsContext || options.topK > 1, showsSentence: showsContext,
      highlights: showsContext && Terminal.usesColor(color))
    var isAnswered = Array(repeating: false, count: questions.count)
    var hasText = false
    let code = try InputText.forEach(files) { file, text throws(ToolError) in
      let document = try Document(file: file, bytes: text.bytes, timesAsked: questions.count, context)
      for (index, question) in questions.enumerated() {
        let record = try document.ask(question, options)
        isAnswered[index] = isAnswered[index] || !record.result.answers.isEmpty
        hasText = hasText || record.result.emptyInput != .emptyDocument
        output.write(printsJSON ? record.json() : record.lines(format))
        try output.flush()
      }
    }
    guard code == .done, isAnswered.contains(false) else { return code }
    if !printsJSON {
      for (question, isAnswered) in zip(questions, isAnswered) where !isAnswered {
        report("no answer to '\(question.string)'\(hasText ? "" : ": there is no text")")
      }
    }
    return .noAnswer
  }

  /// One document, to be asked.
  private struct Document {
    let file: ArgumentText
    let bytes: UnsafeBufferPointer<UInt8>
    let context: Context
    /// nil where it would be asked only once, which works without a copy of the text.
    let prepared: PreparedDocument?

    init(
      file: ArgumentText, bytes: UnsafeBufferPointer<UInt8>, timesAsked: Int, _ context: Context
    ) throws(ToolError) {
      self.file = file
      self.bytes = bytes
      self.context = context
      do throws(BertQAError) {
        prepared = timesAsked > 1 ? try context.prepare(bytes) : nil
      } catch {
        throw ToolError(error, command: invocation)
      }
    }

    func ask(_ question: ArgumentText, _ options: AnswerOptions) throws(ToolError) -> AnswerRecord {
      var options = options
      let progress = Progress(subject: file.string)
      if let progress {
        options.call.cancellation = Cancellation {
          progress.tick()
          return false
        }
        options.call.progress = { done, total in progress.update(done: done, total: total) }
      }
      defer { progress?.clear() }
      do throws(BertQAError) {
        let result =
          if let prepared {
            try context.answer(question: question.bytes, document: prepared, options: options)
          } else {
            try context.answer(question: question.bytes, document: bytes, options: options)
          }
        return AnswerRecord(file: file, question: question, document: bytes, result: result)
      } catch {
        throw ToolError(error, command: invocation)
      }
    }
  }
}
