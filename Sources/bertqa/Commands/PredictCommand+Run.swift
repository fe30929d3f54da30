import BertQACore

extension PredictCommand {
  /// Prints the continuation word by word.
  func generate(_ context: Context, to output: Output) throws(ToolError) {
    let prompt = try Prompt(operands)
    defer { withExtendedLifetime(prompt) {} }
    var options = generateOptions
    var failure: ToolError?
    var isFirst = true
    if !printsJSON {
      options.onWord = { word in
        // The separator that the joined text has: none between characters.
        if !isFirst { output.write(context.wordSeparator) }
        isFirst = false
        output.write(PlainText.word(word.bytes))
        do throws(ToolError) {
          try output.flush()
          return true
        } catch {
          failure = error
          return false
        }
      }
    }
    let result: Generation
    do throws(BertQAError) {
      result = try context.generate(prompt: prompt.bytes, options: options)
    } catch {
      throw ToolError(error, command: Self.invocation)
    }
    if let failure { throw failure }
    output.write(printsJSON ? PredictionRecord.json(result, prompt: prompt.bytes) : Array("\n".utf8))
  }

  /// Prints the words that may come next, the most probable first.
  func predictNext(_ context: Context, to output: Output) throws(ToolError) {
    let prompt = try Prompt(operands)
    defer { withExtendedLifetime(prompt) {} }
    let prediction: Prediction
    do throws(BertQAError) {
      prediction = try context.predict(after: prompt.bytes, options: SequenceOptions(topK: wordCount))
        .prediction
    } catch {
      throw ToolError(error, command: Self.invocation)
    }
    if printsJSON {
      output.write(PredictionRecord.json(prediction, prompt: prompt.bytes))
      return
    }
    for word in prediction.words {
      output.write("\(decimal(Double(word.probability), digits: 4))\t")
      output.write(PlainText.word(word.bytes))
      output.write("\n")
      try output.flushIfLarge()
    }
  }

  /// Prints the likelihood of each line.
  func score(_ context: Context, to output: Output) throws(ToolError) -> ExitCode {
    try InputText.forEach(operands.isEmpty ? [.standardInput] : operands) { file, text throws(ToolError) in
      for (index, line) in text.lines.enumerated() {
        let score: SequenceScore
        do throws(BertQAError) {
          score = try context.likelihood(of: line, options: SequenceOptions(includesEnd: includesEnd))
        } catch {
          throw ToolError(error, command: Self.invocation)
        }
        let record = LineScore(text: line, file: file, line: index + 1, score: score)
        output.write(printsJSON ? record.json() : record.columns())
        try output.flushIfLarge()
      }
      try output.flush()
    }
  }

  /// Prints continuations of a prefix, the likeliest first.
  func rank(_ context: Context, to output: Output) throws(ToolError) {
    guard let prefix = operands.first else {
      throw .usage("--rank needs the PREFIX that is to be continued", command: Self.invocation)
    }
    let files = operands.count > 1 ? Array(operands.dropFirst()) : [.standardInput]
    var inputs: [InputText] = []
    var lines: [(file: ArgumentText, line: Int, text: UnsafeBufferPointer<UInt8>)] = []
    for file in files {
      let input = try InputText(file)
      inputs.append(input)
      for (index, line) in input.lines.enumerated() { lines.append((file, index + 1, line)) }
    }
    defer { withExtendedLifetime(inputs) {} }
    let ranking: (order: [Int], scores: [SequenceScore])
    do throws(BertQAError) {
      ranking = try context.rank(
        lines.map(\.text), after: prefix.bytes, options: SequenceOptions(includesEnd: includesEnd))
    } catch {
      throw ToolError(error, command: Self.invocation)
    }
    for index in ranking.order {
      let (file, number, text) = lines[index]
      let record = LineScore(text: text, file: file, line: number, score: ranking.scores[index])
      output.write(printsJSON ? record.json() : record.rankColumns())
      try output.flushIfLarge()
    }
  }
}

extension PredictCommand {
  /// The operands joined with spaces, or standard input.
  private final class Prompt {
    /// Valid while this object lives.
    let bytes: UnsafeBufferPointer<UInt8>
    private let input: InputText?
    private let copy: UnsafeMutableBufferPointer<UInt8>

    init(_ operands: [ArgumentText]) throws(ToolError) {
      let joined = Array(operands.map { Array($0.bytes) }.joined(separator: [UInt8(ascii: " ")]))
      let input = operands.isEmpty ? try InputText(.standardInput) : nil
      copy = .allocate(capacity: joined.count)
      _ = copy.initialize(from: joined)
      self.input = input
      bytes = input?.bytes ?? UnsafeBufferPointer(copy)
    }

    deinit { copy.deallocate() }
  }
}
