import BertQACore

extension TrainingReport {
  private var facts: [(String, Facts.Value)] {
    [
      ("text_count", .integer(textCount)),
      ("label_count", .integer(labels.count)),
      ("features", .text(features.description)),
      ("vocabulary_size", .integer(vocabularySize)),
      ("iteration_count", .integer(iterations)),
      ("is_converged", .boolean(hasConverged)),
      ("loss", .number(Float(loss))),
    ] + (confusion.isEmpty ? [] : evaluation.facts)
      + (otherAccuracy.isNaN
        ? []
        : [
          ("other_accuracy", .number(Float(otherAccuracy))), ("other_macro_f1", .number(Float(otherMacroF1))),
        ])
  }

  /// The evaluation by cross-validation.
  var evaluation: EvaluationRecord {
    EvaluationRecord(
      labels: labels, labelTexts: labelTexts, accuracy: accuracy, macroF1: macroF1,
      calibrationError: calibrationError, precision: precision, recall: recall, f1: f1, confusion: confusion)
  }

  /// Returns one fact a line, then a table of the labels; then the same for held-out texts.
  func lines(_ holdout: Holdout?) -> [UInt8] {
    var output = Facts(facts).lines()
    if !confusion.isEmpty { output += "\n".utf8 + evaluation.tableLines() }
    if let holdout { output += "\n".utf8 + holdout.lines() }
    return output
  }

  /// Returns one JSON object on one line.
  /// - Parameter skippedCount: the number of invalid records that were skipped.
  func json(skippedCount: Int, _ holdout: Holdout?) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.members(facts.filter { $0.0 != "label_count" })
      writer.integer("skipped_count", skippedCount)
      evaluation.writeLabels(to: &writer)
      if let holdout {
        writer.object("holdout") { holdout.writeMembers(to: &$0) }
      }
    }
    return writer.takeLine()
  }
}
