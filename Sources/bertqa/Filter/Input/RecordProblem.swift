/// Why a record has no result.
struct RecordProblem: Error {
  /// For counting; the raw values are those of the summary and the metrics.
  enum Kind: String, CaseIterable {
    case invalidRecord = "invalid_record"
    case missingField = "missing_field"
    case wrongType = "wrong_type"
    case recordTooLarge = "record_too_large"
    case documentTooLarge = "document_too_large"
    /// The library refused the texts.
    case refused
    /// The input ended, or the filter was stopped, inside the record.
    case truncated
  }

  let kind: Kind
  let message: String

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }
}
