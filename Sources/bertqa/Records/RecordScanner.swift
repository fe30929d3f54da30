/// Finds a record's fields.
protocol RecordScanner {
  /// The number of columns of a table whose first line was read; otherwise 0.
  var columnCount: Int { get }

  /// Reads the line with the column names. Throws if a required name is missing.
  mutating func readHeader(_ content: Range<Int>, in block: Block) throws(ToolError)

  /// Returns the column names in a form that does not depend on quoting.
  func names(_ content: Range<Int>, in block: Block) throws(ToolError) -> [UInt8]

  /// Finds the record's texts, its id and the position of its result, or sets its problem.
  mutating func scan(_ record: inout Record, in block: Block) throws(ToolError)
}

/// The treatment of null where a text is expected.
enum NullText: String, CaseIterable {
  /// The record fails.
  case fail
  /// The record has no text and gets an empty result. In tables, empty fields are null.
  case skip
  /// The text is empty, as tables read empty fields.
  case empty
}

/// The fields that a run expects in its records.
struct RecordFields {
  /// The paths of the texts, in this order.
  let texts: [FieldPath]
  /// The number of leading texts that must be strings. The others may be numbers or booleans, as the input
  /// spells them.
  let stringCount: Int
  /// The number of leading texts that a record must have. The others are empty if they are missing or null.
  var requiredCount = Int.max
  var id: FieldPath?
  /// The path of the result.
  let output: FieldPath
  /// The maximum size of a text in bytes.
  let maximumTextBytes: Int
  var nullText = NullText.fail
  /// True if the result replaces the first text, which must then not appear in the output.
  var isTextReplaced = false
  /// True if the first text must be valid UTF-8 because parts of it are redacted.
  var isTextRedacted = false

  func missing(_ field: FieldPath) -> RecordProblem {
    RecordProblem(.missingField, "there is no field '\(field.name)'\(field.advice)")
  }

  func tooLarge(_ field: FieldPath, _ count: Int) -> RecordProblem {
    RecordProblem(
      .documentTooLarge,
      "the field '\(field.name)' has \(count) bytes, but --max-document-bytes is \(maximumTextBytes)")
  }
}

extension Input {
  /// The problem of a record whose bytes are not text.
  var encodingProblem: RecordProblem {
    RecordProblem(.invalidRecord, encoding.flaw)
  }
}

extension UnsafeBufferPointer<UInt8> {
  var isValidUTF8: Bool {
    // Most text is ASCII, which needs no copy.
    allSatisfy { $0 < 0x80 } || String(validating: self, as: UTF8.self) != nil
  }
}
