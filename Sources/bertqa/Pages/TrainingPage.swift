import BertQACore

/// The page of `bertqa train-classifier --html`: a classifier's quality with the confusion matrix as a
/// picture.
struct TrainingPage {
  let report: TrainingReport
  let holdout: Holdout?

  /// The maximum number of labels for which the confusion matrix is drawn.
  private static let pictureLabels = 100

  var text: String {
    var body = "<h1>Training report</h1>\n"
    body += Self.table([
      ("texts", String(report.textCount)), ("labels", String(report.labels.count)),
      (report.features == .words ? "vocabulary" : "numbers of a vector", String(report.vocabularySize)),
    ])
    if report.confusion.isEmpty {
      body += "<p class=\"faint\">There was no cross-validation.</p>\n"
    } else {
      body += Self.section("Cross-validation", report.evaluation)
    }
    if let holdout { body += Self.section("Texts held out", holdout.evaluation) }
    return HTMLText.page(title: "Training report", style: Self.style, body: body)
  }

  private static func section(_ title: String, _ evaluation: EvaluationRecord) -> String {
    var section = "<h2>\(title)</h2>\n"
    section += table([
      ("accuracy", decimal(evaluation.accuracy, digits: 4)),
      ("macro F1", decimal(evaluation.macroF1, digits: 4)),
      ("calibration error", decimal(evaluation.calibrationError, digits: 4)),
    ])
    section +=
      evaluation.labels.count > pictureLabels
      ? "<p class=\"faint\">Too many labels for a picture.</p>\n" : picture(evaluation)
    return section + labels(evaluation)
  }

  private static func table(_ facts: [(String, String)]) -> String {
    let rows = facts.map { "<tr><th>\($0)</th><td class=\"number\">\($1)</td></tr>\n" }
    return "<table>\n\(rows.joined())</table>\n"
  }

  /// Returns a table of texts, precision, recall and F1 for each label.
  private static func labels(_ evaluation: EvaluationRecord) -> String {
    let names = ["texts", "precision", "recall", "F1"]
    var table =
      "<table>\n<tr><th>label</th>\(names.map { "<th class=\"number\">\($0)</th>" }.joined())</tr>\n"
    for (row, label) in evaluation.labels.enumerated() {
      let scores = [evaluation.precision[row], evaluation.recall[row], evaluation.f1[row]]
      let cells = [String(evaluation.labelTexts[row])] + scores.map { decimal($0, digits: 4) }
      table += "<tr><td><bdi>\(HTMLText.escaped(label))</bdi></td>"
      table += cells.map { "<td class=\"number\">\($0)</td>" }.joined() + "</tr>\n"
    }
    return table + "</table>\n"
  }

  // MARK: - Picture

  /// The size of a cell and of the space for labels, in units of the picture.
  private static let cell = 44
  private static let margin = 150
  /// The maximum number of characters shown of a label; the title has all of it.
  private static let shownLabel = 18
  /// The opacity of a cell with all texts of its row. The contrast of text on it is above 4.5:1 in both colour
  /// schemes.
  private static let darkest = 0.6

  /// Draws a row for each label and a column for each predicted label. Darker cells are a larger part of the
  /// row.
  private static func picture(_ evaluation: EvaluationRecord) -> String {
    let labels = evaluation.labels
    let side = margin + labels.count * cell
    var svg =
      "<svg viewBox=\"0 0 \(side + 80) \(side + 4)\" style=\"max-width: \(side + 80)px\" role=\"img\" "
    svg +=
      "aria-label=\"Confusion matrix: rows are labels, columns are predicted labels. The table below has precision and recall.\">\n"
    for (index, label) in labels.enumerated() {
      let middle = margin + index * cell + cell / 2
      let name = HTMLText.escaped(
        String(label.prefix(shownLabel)) + (label.count > shownLabel ? "…" : ""))
      let title = "<title>\(HTMLText.escaped(label))</title>"
      svg += "<text x=\"\(margin - 6)\" y=\"\(middle + 4)\" text-anchor=\"end\">\(title)\(name)</text>\n"
      svg +=
        "<text transform=\"translate(\(middle + 4) \(margin - 6)) rotate(-60)\">\(title)\(name)</text>\n"
    }
    var counts: [[Int]: Int] = [:]
    for entry in evaluation.confusion { counts[[entry.trueLabel, entry.predictedLabel]] = entry.count }
    for row in labels.indices {
      let total = labels.indices.reduce(0) { $0 + (counts[[row, $1]] ?? 0) }
      for column in labels.indices {
        svg += square(row, column, counts[[row, column]] ?? 0, of: total, labels)
      }
    }
    return svg + "</svg>\n"
  }

  private static func square(_ row: Int, _ column: Int, _ count: Int, of total: Int, _ labels: [String])
    -> String
  {
    let part = total > 0 ? Double(count) / Double(total) : 0
    let (x, y) = (margin + column * cell, margin + row * cell)
    let names = "\(labels[row]) predicted as \(labels[column]): \(count) of \(total)"
    let kind = row == column ? "right" : "wrong"
    return "<g><title>\(HTMLText.escaped(names))</title>"
      + "<rect class=\"cell\" x=\"\(x)\" y=\"\(y)\" width=\"\(cell)\" height=\"\(cell)\"/>"
      + "<rect class=\"\(kind)\" fill-opacity=\"\(decimal(part * darkest, digits: 3))\" x=\"\(x)\" y=\"\(y)\" "
      + "width=\"\(cell)\" height=\"\(cell)\"/>"
      + "<text x=\"\(x + cell / 2)\" y=\"\(y + cell / 2 + 4)\" "
      + "text-anchor=\"middle\">\(count)</text></g>\n"
  }

  private static let style = """
    svg { width: 100%; font: 12px system-ui, sans-serif; }
    svg text { fill: var(--text); }
    svg .cell { fill: none; stroke: var(--line); }
    svg .right { fill: #1a6e3c; }
    svg .wrong { fill: #b3261e; }
    """
}
