import BertQACore
import Glibc

/// A session of questions. Each is answered, and "n" shows the next best answer to the last one.
final class AskSession {
  private let context: Context
  private let corpus: any Corpus
  private let options: AnswerOptions
  private let limits: CallLimits
  private let output: Output
  private let usesColor: Bool
  /// True if the answers are shown on a terminal.
  private let isRead: Bool
  private let form: Form
  private var question = ""
  private var texts: [AskedText] = []
  /// Of all texts, best first.
  private var answers: [Answer] = []
  /// The number of answers shown so far.
  private var shownCount = 0
  /// True if at least one question had no answer, or probably none.
  private(set) var hasUnanswered = false

  /// How answers are written.
  struct Form {
    /// True writes a JSON object for each question, with all its answers.
    var isJSON = false
    /// The number of answers that are written at once.
    var count = 1
  }

  /// The bytes of text shown on each side of an answer's sentence.
  private static let surroundings = 160

  init(
    _ context: Context, _ corpus: any Corpus, _ options: AnswerOptions, _ limits: CallLimits, usesColor: Bool,
    _ form: Form, to output: Output
  ) {
    self.context = context
    self.corpus = corpus
    self.options = options
    self.limits = limits
    self.usesColor = usesColor
    self.form = form
    isRead = Terminal.isThere(STDOUT_FILENO) && !form.isJSON
    self.output = output
  }

  static let help = """
    Type a question. Then: n  the next best answer     q, Ctrl-D  quit     ?  this help

    """

  func run(_ lines: LineReader) throws(ToolError) {
    if lines.isInteractive, isRead { output.write(Self.help) }
    try output.flush()
    while let line = try lines.line(prompt: "? ") {
      let line = PlainText.trimmed(line)
      switch line {
      case "": continue
      case "q", "quit", "exit": return
      case "?", "h", "help": output.write(Self.help)
      case "n", "next": showNext()
      default:
        do throws(ToolError) {
          try ask(line)
        } catch {
          // The error concerns this question only.
          guard error.code == .input else { throw error }
          hasUnanswered = true
          report(error.message)
        }
      }
      try output.flush()
    }
  }

  func ask(_ question: String) throws(ToolError) {
    self.question = question
    answers = []
    shownCount = 0
    var options = options
    limits.limit(&options.call)
    let asked = try corpus.texts(for: Array(question.utf8), options.call)
    texts = asked.texts
    let result = texts.isEmpty ? nil : try result(asked, options)
    answers = result?.answers ?? []
    if result?.isImpossible ?? true { hasUnanswered = true }
    if form.isJSON { return writeJSON(result) }
    guard !answers.isEmpty else {
      return report(texts.isEmpty ? "no text has these words" : "no answer to '\(question)'")
    }
    if result?.isImpossible == true {
      report("the text does not seem to answer this: the best passage is probably no answer")
    }
    for _ in 0..<min(form.count, answers.count) { showNext() }
  }

  /// Reads all texts as one collection.
  private func result(_ asked: AskedTexts, _ options: AnswerOptions) throws(ToolError) -> AnswerResult {
    var options = options
    let progress = Progress(subject: "reading")
    progress?.follow(&options.call)
    defer { progress?.clear() }
    let documents = asked.texts.map(\.document)
    return try Array(question.utf8).withElements { question throws(ToolError) in
      try ofCore(AskCommand.invocation) { () throws(BertQAError) in
        if let search = asked.search {
          return try context.answer(search, passages: documents, options: options)
        }
        return try context.answer(question: question, documents: documents, options: options)
      }
    }
  }

  private func writeJSON(_ result: AnswerResult?) {
    var writer = JSONWriter()
    writer.object { writer in
      writer.string("question", question)
      guard let result else {
        writer.array("answers") { _ in }
        return writer.boolean("is_impossible", true)
      }
      result.writeMembers(to: &writer) {
        texts[$0.documentIndex].bytes
      } place: { answer, writer in
        texts[answer.documentIndex].writePlace(ofByte: answer.bytes.start, to: &writer)
      }
    }
    output.write(writer.takeLine())
  }

  private func showNext() {
    guard shownCount < answers.count else {
      return report(answers.isEmpty ? "ask something first" : "there is no further answer")
    }
    let answer = answers[shownCount]
    shownCount += 1
    if isRead { show(answer) } else { write(answer) }
  }

  /// Shows the answer with its surrounding text and its position.
  private func show(_ answer: Answer) {
    let text = texts[answer.documentIndex]
    let display = AnswerDisplay(usesColor: usesColor)
    output.write(display.passage(answer, in: text.bytes, around: Self.surroundings))
    var place = "\(AnswerDisplay.probability(answer))  "
    place += PlainText.of(text.place(ofByte: answer.bytes.start))
    if shownCount < answers.count { place += "  (n: next answer)" }
    output.write(usesColor ? "\n\(AnswerDisplay.dim)\(place)\(AnswerDisplay.plain)\n" : "\n\(place)\n")
  }

  /// Writes the columns: the text's name if there are several texts, question, probability, answer.
  private func write(_ answer: Answer) {
    let text = texts[answer.documentIndex]
    var line: [UInt8] = []
    for column in (corpus.hasSeveralTexts ? [text.source(ofByte: answer.bytes.start)] : []) + [
      question, AnswerDisplay.probability(answer),
    ] {
      PlainText.append(column.utf8, to: &line)
      line.append(UInt8(ascii: "\t"))
    }
    PlainText.append(text.bytes[answer.bytes.start..<answer.bytes.end], to: &line)
    line.append(UInt8(ascii: "\n"))
    output.write(line)
  }
}
