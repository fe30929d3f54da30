@preconcurrency import CSystem  // its result variables are global; the tool parses on one thread
import Glibc

/// Parses arguments with libc's getopt_long: unambiguous prefixes of long names are accepted, values may
/// follow `=`, options and operands may be mixed, and `--` ends the options.
enum OptionParser {
  /// - Parameters:
  ///   - arguments: `argv` from the command's name on; getopt_long reorders it.
  ///   - count: the number of arguments, including the command's name.
  ///   - command: the command as typed, for error messages.
  static func parse(
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, count: Int,
    accepting rows: [OptionRow], command: String
  ) throws(ToolError) -> ParsedArguments {
    let rows = withoutRepetition(rows)
    var letters: [CChar] = [CChar(bitPattern: UInt8(ascii: ":"))]  // reports a missing value as ':'
    var table: [option] = []
    for (index, row) in rows.enumerated() {
      if let letter = row.letter?.asciiValue {
        letters.append(CChar(bitPattern: letter))
        letters += Array(repeating: letters[0], count: Int(row.value.code))
      }
      table.append(
        CSystem.option(
          name: strdup(row.option.rawValue), has_arg: row.value.code, flag: nil,
          val: firstLongValue + Int32(index)))
    }
    defer { for entry in table { free(UnsafeMutableRawPointer(mutating: entry.name)) } }
    table.append(CSystem.option(name: nil, has_arg: 0, flag: nil, val: 0))
    letters.append(0)

    var parsed = ParsedArguments(command: command)
    optind = 0  // restarts the scan
    opterr = 0
    while true {
      let code = getopt_long(Int32(count), arguments, letters, table, nil)
      if code == -1 { break }
      guard let row = row(for: code, among: rows) else {
        throw .usage(complaint(code, arguments, rows), command: command)
      }
      parsed.options.append(
        ParsedOption(
          option: row.option, text: optarg.map { ArgumentText(pointer: $0) }, command: command))
    }
    for index in Int(optind)..<max(Int(optind), count) {
      if let operand = arguments[index] { parsed.operands.append(ArgumentText(pointer: operand)) }
    }
    return parsed
  }

  /// The return value of getopt_long for the first long option, above all characters.
  private static let firstLongValue: Int32 = 256

  /// Returns the first row of each option. Rows in other sections describe the same option for another task.
  static func withoutRepetition(_ rows: [OptionRow]) -> [OptionRow] {
    var seen: Set<Option> = []
    return rows.filter { seen.insert($0.option).inserted }
  }

  private static func row(for code: Int32, among rows: [OptionRow]) -> OptionRow? {
    if code >= firstLongValue { return rows[Int(code - firstLongValue)] }
    return rows.first { $0.letter?.asciiValue.map(Int32.init) == code }
  }

  /// Returns the error message for the option at which getopt_long stopped.
  private static func complaint(
    _ code: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, _ rows: [OptionRow]
  ) -> String {
    let known = row(for: optopt, among: rows)
    let name: String
    if optopt < 0 {
      // A byte of a character that is not ASCII, inside this argument.
      name = arguments[Int(optind)].map { String(cString: $0) } ?? ""
    } else if optopt > 0 && optopt < firstLongValue {
      name = "-\(Character(Unicode.Scalar(UInt8(truncatingIfNeeded: optopt))))"
    } else if let known {
      name = known.option.spelling
    } else {
      name = arguments[Int(optind) - 1].map { String(cString: $0) } ?? ""
    }
    if code == Int32(UInt8(ascii: ":")) { return "option '\(name)' needs a value" }
    if known != nil { return "option '\(name)' takes no value" }
    guard name.hasPrefix("--") else { return "unknown option '\(name)'" }
    let typed = name.dropFirst(2).prefix { $0 != "=" }
    let begun = rows.map(\.option.rawValue).filter { $0.hasPrefix(typed) }
    if begun.count > 1 {
      return "option '\(name)' may be --\(begun.joined(separator: " or --"))"
    }
    return "unknown option '\(name)'\(nearest(to: String(typed), among: rows.map(\.option.rawValue), "--"))"
  }

  /// Returns " (did you mean '--top-k'?)" if a known name is within one edit, or a third of the length of
  /// longer names.
  static func nearest(to typed: String, among known: [String], _ prefix: String = "") -> String {
    let word = Array(typed.utf8)
    let distances = known.map { (name: $0, distance: editDistance(word, Array($0.utf8))) }
    guard let best = distances.min(by: { $0.distance < $1.distance }),
      best.distance <= max(1, min(word.count, best.name.utf8.count) / 3)
    else { return "" }
    return " (did you mean '\(prefix)\(best.name)'?)"
  }

  /// Returns the number of insertions, deletions, replacements and swaps of neighbours between two words.
  private static func editDistance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var rows = [Array(0...second.count)]
    for i in 1..<first.count + 1 {
      var row = [i]
      for j in 1..<second.count + 1 {
        var cost = min(
          rows[i - 1][j] + 1, row[j - 1] + 1,
          rows[i - 1][j - 1] + (first[i - 1] == second[j - 1] ? 0 : 1))
        if i > 1, j > 1, first[i - 1] == second[j - 2], first[i - 2] == second[j - 1] {
          cost = min(cost, rows[i - 2][j - 2] + 1)
        }
        row.append(cost)
      }
      rows.append(row)
    }
    return rows[first.count][second.count]
  }
}

extension OptionRow.Value {
  /// The has_arg value of getopt_long.
  fileprivate var code: Int32 {
    switch self {
    case .none: 0
    case .required: 1
    case .optional: 2
    }
  }
}
