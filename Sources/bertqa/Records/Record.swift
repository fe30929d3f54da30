/// One record of the input: where its bytes and fields are in its block. Ranges count from the block's start.
struct Record {
  enum Kind {
    case data
    /// The line with the names of a table's columns.
    case header
    /// Lines of white space, one or a run of them, which are passed through.
    case blank(lineCount: Int)
    /// A part of a record above the size limit. Parts are without bytes where nobody wants to keep them.
    case part(isFirst: Bool, isLast: Bool)
  }

  var kind: Kind
  /// All of it: with the line end, or the length before it.
  var raw: Range<Int>
  /// Without line end, length and byte order mark.
  var content: Range<Int>
  /// The line it begins on, from 1; for length-prefixed records their number.
  var number: Int
  /// Offset in the file behind it.
  var endOffset: Int
  /// Lines up to its end.
  var endNumber: Int
  /// nil while nothing is wrong with it.
  var problem: RecordProblem?
  /// Whether it has null for a text, which is to be skipped.
  var hasNoText = false
  /// Its first text in `Block.fields`.
  var firstField = 0
  /// The value that names it in messages, as the input spells it.
  var id: Range<Int>?
  /// Where a JSON record takes the result, or the cell of a row's text; nil if it has no place for one.
  var place: ResultPlace?
  /// Columns that a table's row lacks.
  var missingColumns = 0
}

/// What of a JSON record the result replaces.
struct ResultPlace {
  /// The old value, or an empty range before the closing brace of an object.
  var range: Range<Int>
  /// Path segments that exist already; all of them where a value is replaced.
  var depth: Int
  /// Whether other members come before it.
  var needsComma: Bool
  /// The old reason of a failure: a value that is replaced; nil if there is none.
  var reason: Range<Int>?
}

/// A text of a record.
struct FieldText {
  /// Among the block's decoded texts instead of its input.
  var isDecoded: Bool
  var range: Range<Int>
  /// Of the field in the input, with its quotes.
  var spelled: Range<Int>
}

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
    /// The texts took longer than a record may.
    case deadlineExceeded = "deadline_exceeded"
    /// The input ended, or the filter was stopped, inside the record.
    case truncated
    /// The filter was stopped before the record was done.
    case stopped
  }

  let kind: Kind
  let message: String

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }
}
