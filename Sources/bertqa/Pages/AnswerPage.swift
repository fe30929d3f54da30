import BertQACore

/// The page of `bertqa answer --html`: the questions with their answers, best first, and the documents with
/// the answers highlighted.
struct AnswerPage {
  private struct Line {
    var gap: Float
    var row: String
  }

  private let questions: [ArgumentText]
  /// The answers to each question.
  private var lines: [[Line]]
  private var isImpossible: [Bool]
  private var documents = ""
  private var answerCount = 0

  init(questions: [ArgumentText]) {
    self.questions = questions
    lines = Array(repeating: [], count: questions.count)
    isImpossible = Array(repeating: true, count: questions.count)
  }

  /// Adds one document's answers: a record for each question, in order.
  mutating func add(_ records: [AnswerRecord]) {
    guard let first = records.first else { return }
    let file = first.file.shownAsFile
    var marks: [Mark] = []
    for (index, record) in records.enumerated() {
      if !record.result.isImpossible { isImpossible[index] = false }
      for answer in record.result.answers {
        answerCount += 1
        let probability = AnswerDisplay.probability(answer)
        marks.append(
          Mark(
            range: answer.bytes, name: "answer-\(answerCount)",
            title: "\(record.question.string) (\(probability))"))
        let text = HTMLText.escaped(record.document[answer.bytes.start..<answer.bytes.end])
        let faint = record.result.isImpossible ? " class=\"faint\"" : ""
        lines[index].append(
          Line(
            gap: answer.gap,
            row: "<tr\(faint)><td class=\"number\">\(probability)</td>"
              + "<td><a href=\"#answer-\(answerCount)\"><bdi>\(text)</bdi></a></td>"
              + "<td class=\"faint\">\(HTMLText.escaped(file))</td></tr>\n"))
      }
    }
    // HTML ignores the line break after `<pre>`, but would also ignore one of the text.
    documents += "<section>\n<h2>\(HTMLText.escaped(file))</h2>\n<pre dir=\"auto\">\n"
    documents += Mark.apply(marks, to: first.document)
    documents += "</pre>\n</section>\n"
  }

  var text: String {
    var body = "<h1>Answers</h1>\n"
    for (index, question) in questions.enumerated() {
      body += "<h2>\(HTMLText.escaped(question.bytes))</h2>\n"
      if isImpossible[index] { body += "<p class=\"faint\">The text does not seem to say.</p>\n" }
      let ranked = lines[index].sorted { $0.gap > $1.gap }
      guard !ranked.isEmpty else { continue }
      body += "<table>\n<tr><th class=\"number\">probability</th><th>answer</th><th>document</th></tr>\n"
      body += ranked.map(\.row).joined() + "</table>\n"
    }
    return HTMLText.page(title: "Answers", style: Self.style, body: body + documents)
  }

  private static let style = """
    pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; border-left: 3px solid var(--line);
      padding-left: 1rem; }
    mark { color: inherit; background: var(--mark); border-radius: .2rem; padding: 0 .1rem; }
    mark:has(:target) { outline: 2px solid var(--accent); }
    """

  /// A highlighted range. Ranges of several questions may overlap.
  private struct Mark {
    var range: TextRange
    var name: String
    var title: String

    /// Returns the text with its marks. Each stretch with the same answers becomes one element, which contains an
    /// empty element for each answer that begins there.
    static func apply(_ marks: [Mark], to text: UnsafeBufferPointer<UInt8>) -> String {
      let places = Set(marks.flatMap { [$0.range.start, $0.range.end] } + [0, text.count]).sorted()
      let ordered = marks.sorted { $0.range.start < $1.range.start }
      var next = ordered.startIndex
      var open: [Mark] = []
      var output = ""
      for (start, end) in zip(places, places.dropFirst()) {
        open.removeAll { $0.range.end <= start }
        var targets = ""
        while next < ordered.endIndex, ordered[next].range.start <= start {
          open.append(ordered[next])
          targets += "<span id=\"\(ordered[next].name)\"></span>"
          next += 1
        }
        let part = HTMLText.escaped(text[start..<end])
        guard !open.isEmpty else {
          output += part
          continue
        }
        let title = HTMLText.escaped(open.map(\.title).joined(separator: "; "))
        output += "<mark title=\"\(title)\">\(targets)\(part)</mark>"
      }
      return output
    }
  }
}
