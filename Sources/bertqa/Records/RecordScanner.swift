/// Finds a record's fields.
protocol RecordScanner {
  /// Columns of a table whose first line was read; else 0.
  var columnCount: Int { get }

  /// Takes the line with the columns' names. Throws if one that is needed is not there.
  mutating func readHeader(_ content: Range<Int>, in block: Block) throws(ToolError)

  /// The columns' names: the same bytes for the same names, however they are quoted.
  func names(_ content: Range<Int>, in block: Block) throws(ToolError) -> [UInt8]

  /// Notes the record's texts, its id and where its result goes, or what is wrong with it.
  mutating func scan(_ record: inout Record, in block: Block) throws(ToolError)
}

/// What null is where a text is wanted.
enum NullText: String, CaseIterable {
  /// The record fails.
  case fail
  /// The record has no text: it gets an empty result. In tables what is empty is null.
  case skip
  /// A text without a character, as which tables read what is empty.
  case empty
}

/// What the records of a run are expected to have.
struct RecordFields {
  /// The texts that are wanted, in this order.
  let texts: [FieldPath]
  /// How many of the texts, from the first on, must be strings; the others may be numbers or truth values,
  /// as their input spells them.
  let stringCount: Int
  var id: FieldPath?
  /// Where results go.
  let output: FieldPath
  /// Bytes that a text may have.
  let maximumTextBytes: Int
  var nullText = NullText.fail
  /// Whether the result takes the place of the first text, which may then be nowhere in the output.
  var isTextReplaced = false
  /// Whether the first text has to be valid UTF-8, as what is found in it is taken out.
  var isTextRedacted = false

  func missing(_ field: FieldPath) -> RecordProblem {
    RecordProblem(.missingField, "there is no field '\(field.name)'")
  }

  func tooLarge(_ field: FieldPath, _ count: Int) -> RecordProblem {
    RecordProblem(
      .documentTooLarge,
      "the field '\(field.name)' has \(count) bytes, but --max-document-bytes is \(maximumTextBytes)")
  }
}

extension Input {
  /// What is wrong with a record whose bytes are not text.
  var encodingProblem: RecordProblem {
    RecordProblem(
      .invalidRecord,
      encoding.map { "not valid \($0.name)" } ?? "not valid UTF-8: --encoding NAME reads another encoding")
  }
}

extension UnsafeBufferPointer<UInt8> {
  var isValidUTF8: Bool {
    // Most text is ASCII, for which no copy is needed.
    allSatisfy { $0 < 0x80 } || String(validating: self, as: UTF8.self) != nil
  }
}
