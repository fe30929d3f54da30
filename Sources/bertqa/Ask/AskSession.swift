import BertQACore
import Glibc

/// A session of questions. Each is answered, and "n" shows the next best answer to the last one.
final class AskSession {
  private struct Hit {
    let text: AskedText
    let answer: Answer
    let isImpossible: Bool
  }

  private let context: Context
  private let corpus: any Corpus
  private let options: AnswerOptions
  private let limits: CallLimits
  private let output: Output
  private let usesColor: Bool
  /// True if the answers are shown on a terminal.
  private let isRead = Terminal.isThere(STDOUT_FILENO)
  private var question = ""
  private var hits: [Hit] = []
  /// The number of hits shown so far.
  private var shownCount = 0
  /// True if at least one question had no answer, or probably none.
  private(set) var hasUnanswered = false

  /// The bytes of text shown on each side of an answer's sentence.
  private static let surroundings = 160

  init(
    _ context: Context, _ corpus: any Corpus, _ options: AnswerOptions, _ limits: CallLimits, usesColor: Bool,
    to output: Output
  ) {
    self.context = context
    self.corpus = corpus
    self.options = options
    self.limits = limits
    self.usesColor = usesColor
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

  private func ask(_ question: String) throws(ToolError) {
    self.question = question
    hits = []
    shownCount = 0
    let texts = try corpus.texts(for: question)
    hits = try answers(texts)
    guard let best = hits.first else {
      hasUnanswered = true
      return report(texts.isEmpty ? "no text has these words" : "no answer to '\(question)'")
    }
    if best.isImpossible {
      hasUnanswered = true
      report("the text does not seem to answer this: the best passage is probably no answer")
    }
    showNext()
  }

  /// Returns the answers from all texts, best first, sorted by gap, which compares texts better than the
  /// score.
  private func answers(_ texts: [AskedText]) throws(ToolError) -> [Hit] {
    var options = options
    let progress = Progress(subject: "reading")
    progress?.follow(&options.call)
    limits.limit(&options.call)
    defer { progress?.clear() }
    let bytes = Array(question.utf8)
    let results = try bytes.withElements { question throws(ToolError) in
      try ofCore(AskCommand.invocation) { () throws(BertQAError) in
        try context.answerBatch(
          texts.map { QuestionDocumentPair(question: question, document: .text($0.bytes)) },
          options: options)
      }
    }
    var hits: [Hit] = []
    for (text, result) in zip(texts, results) {
      hits += result.answers.map { Hit(text: text, answer: $0, isImpossible: result.isImpossible) }
    }
    let ranked = hits.enumerated().sorted {
      ($0.element.answer.gap, $1.offset) > ($1.element.answer.gap, $0.offset)
    }
    return ranked.map(\.element)
  }

  private func showNext() {
    guard shownCount < hits.count else {
      return report(hits.isEmpty ? "ask something first" : "there is no further answer")
    }
    let hit = hits[shownCount]
    shownCount += 1
    if isRead { show(hit) } else { write(hit) }
  }

  /// Shows the answer with its surrounding text and its position.
  private func show(_ hit: Hit) {
    let display = AnswerDisplay(usesColor: usesColor)
    output.write(display.passage(hit.answer, in: hit.text.bytes, around: Self.surroundings))
    var place = "\(AnswerDisplay.probability(hit.answer))  "
    place += PlainText.of(hit.text.place(ofByte: hit.answer.bytes.start))
    if shownCount < hits.count { place += "  (n: next answer)" }
    output.write(usesColor ? "\n\(AnswerDisplay.dim)\(place)\(AnswerDisplay.plain)\n" : "\n\(place)\n")
  }

  /// Writes the columns: the text's name if there are several texts, question, probability, answer.
  private func write(_ hit: Hit) {
    var line: [UInt8] = []
    for column in (corpus.hasSeveralTexts ? [hit.text.name] : []) + [
      question, AnswerDisplay.probability(hit.answer),
    ] {
      PlainText.append(column.utf8, to: &line)
      line.append(UInt8(ascii: "\t"))
    }
    PlainText.append(hit.text.bytes[hit.answer.bytes.start..<hit.answer.bytes.end], to: &line)
    line.append(UInt8(ascii: "\n"))
    output.write(line)
  }
}
