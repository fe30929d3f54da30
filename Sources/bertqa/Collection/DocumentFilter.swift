/// Which documents of a collection a search may find: `--path` and `--field`.
struct DocumentFilter {
  /// A GLOB pattern of paths; nil: all.
  private let path: String?
  /// An object of JSON with a GLOB pattern for each field that counts; nil: all.
  private let fields: [UInt8]?

  static let rows = [
    OptionRow(
      .path, value: "PATTERN", "of a collection, only documents whose path matches, such as '*/2024/*'",
      detail: "SQLite's GLOB. The path of a document without a file is its name."),
    OptionRow(
      .field, value: "NAME=PATTERN",
      "of a collection, only documents whose field matches, such as 'from=*@example.org*'; may be given several times",
      detail: "SQLite's GLOB, for the whole value. Mail has the fields from, to, date and message_id; "
        + "'bertqa index --field' stores those of records."),
  ]

  init(_ arguments: ParsedArguments) throws(ToolError) {
    path = arguments.last(.path)?.string
    var patterns: [(name: Substring, pattern: Substring)] = []
    for given in arguments.options where given.option == .field {
      let parts = given.string.split(
        separator: "=" as Character, maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw given.wrong("NAME=PATTERN, such as 'from=*@example.org*'")
      }
      patterns.append((parts[0], parts[1]))
    }
    var writer = JSONWriter()
    writer.object { writer in
      for (name, pattern) in patterns {
        writer.string(String(name), pattern.utf8)
      }
    }
    fields = patterns.isEmpty ? nil : writer.bytes
  }

  var isEmpty: Bool { path == nil && fields == nil }

  /// The parameters of the statements.
  var values: [SQLiteValue] { [path.map { .text($0) } ?? .null, fields.map { .text($0) } ?? .null] }
}
