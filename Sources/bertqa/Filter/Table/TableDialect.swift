/// How a table's rows are spelled.
struct TableDialect {
  let delimiter: UInt8
  /// Whether fields may stand in quotes, as in CSV (RFC 4180): then they may hold delimiters and line ends,
  /// and a doubled quote stands for one. Without, every line is a row and quotes are text.
  let hasQuotes: Bool

  static let csv = TableDialect(delimiter: UInt8(ascii: ","), hasQuotes: true)
  static let tsv = TableDialect(delimiter: UInt8(ascii: "\t"), hasQuotes: false)
}
