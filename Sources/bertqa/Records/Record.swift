/// One record of the input: the positions of its bytes and fields in its block. Ranges are relative to the
/// block's start.
struct Record {
  enum Kind {
    case data
    /// The line with a table's column names.
    case header
    /// The same line at the start of a later file. It has no bytes.
    case repeatedHeader
    /// One or more lines of white space, which are passed through.
    case blank(lineCount: Int)
    /// A part of a record above the size limit. Parts have no bytes unless the run keeps large records.
    case part(isFirst: Bool, isLast: Bool)
  }

  var kind: Kind
  /// The complete record, with the line end or the length prefix.
  var raw: Range<Int>
  /// The record without line end, length prefix and byte order mark.
  var content: Range<Int>
  /// The number of its first line, from 1; for length-prefixed records, the record's number.
  var number: Int
  /// True if the input ended before the record did, as its format tells.
  var isCut = false
  /// The offset in the file after the record.
  var endOffset: Int
  /// The number of lines up to its end.
  var endNumber: Int
  /// nil if no problem was found.
  var problem: RecordProblem?
  /// True if a text is null and the record is to be skipped.
  var hasNoText = false
  /// The index of its first text in `Block.fields`.
  var firstField = 0
  /// The value that identifies it in messages, as the input spells it.
  var id: Range<Int>?
  /// The position of the result in a JSON record, or of the text's cell in a row; nil if there is none.
  var place: ResultPlace?
  /// The number of columns that a table's row lacks.
  var missingColumns = 0
}

/// The part of a JSON record that the result replaces.
struct ResultPlace {
  /// The old value, or an empty range before the closing brace of an object.
  var range: Range<Int>
  /// The number of path segments that already exist; all of them if a value is replaced.
  var depth: Int
  /// True if other members precede it.
  var needsComma: Bool
  /// True if the old value is null, as a failed run leaves it.
  var isNull = false
  /// The range of an old failure reason; nil if there is none. A new reason replaces it. A result leaves it unless
  /// `isNull`: the input itself may have a member of this name.
  var reason: Range<Int>?
  /// The other values of a key that occurs twice. A failure replaces them as well.
  var others: [Range<Int>] = []
}

/// A text of a record.
struct FieldText {
  /// True if the text is among the block's decoded texts rather than in its input.
  var isDecoded: Bool
  var range: Range<Int>
  /// The range of the field in the input, with its quotes.
  var spelled: Range<Int>
}

/// The reason why a record has no result.
struct RecordProblem: Error {
  /// The kind of problem, for counting. The raw values appear in the summary and in the metrics.
  enum Kind: String, CaseIterable {
    case invalidRecord = "invalid_record"
    case missingField = "missing_field"
    case wrongType = "wrong_type"
    case recordTooLarge = "record_too_large"
    case documentTooLarge = "document_too_large"
    /// The library rejected the texts.
    case refused
    /// The texts exceeded a record's time limit.
    case deadlineExceeded = "deadline_exceeded"
    /// The input ended, or the filter stopped, inside the record.
    case truncated
    /// The filter stopped before the record was finished.
    case stopped
  }

  let kind: Kind
  let message: String

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }
}
