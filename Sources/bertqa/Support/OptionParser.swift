@preconcurrency import CGetopt  // its result variables are global; the tool parses on one thread
import Glibc

/// The options and operands of a command, in the order given.
struct ParsedArguments {
  var options: [(option: Option, value: ArgumentText?)] = []
  var operands: [ArgumentText] = []

  func has(_ option: Option) -> Bool { options.contains { $0.option == option } }
}

/// libc's getopt_long: long names may be shortened while they are unique, values may stand behind `=`,
/// options and operands may be mixed, `--` ends the options.
enum OptionParser {
  /// - Parameters:
  ///   - arguments: `argv` from the command's name on; reordered.
  ///   - count: how many there are, the command's name included.
  ///   - command: the words to type for the command, for error messages.
  static func parse(
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, count: Int,
    accepting options: [Option], command: String
  ) throws(ToolError) -> ParsedArguments {
    var letters: [CChar] = [CChar(bitPattern: UInt8(ascii: ":"))]  // tell a missing value apart
    var table: [option] = []
    for (index, option) in options.enumerated() {
      if let letter = option.letter {
        letters.append(CChar(bitPattern: letter))
        letters += Array(repeating: letters[0], count: Int(option.value.rawValue))
      }
      table.append(
        CGetopt.option(
          name: strdup(option.rawValue), has_arg: option.value.rawValue, flag: nil,
          val: firstLongValue + Int32(index)))
    }
    defer { for entry in table { free(UnsafeMutableRawPointer(mutating: entry.name)) } }
    table.append(CGetopt.option(name: nil, has_arg: 0, flag: nil, val: 0))
    letters.append(0)

    var parsed = ParsedArguments()
    optind = 0  // start afresh
    opterr = 0
    while true {
      let code = getopt_long(Int32(count), arguments, letters, table, nil)
      if code == -1 { break }
      guard let option = option(for: code, among: options) else {
        throw .usage(complaint(code, arguments, options), command: command)
      }
      parsed.options.append((option, optarg.map { ArgumentText(pointer: $0) }))
    }
    for index in Int(optind)..<max(Int(optind), count) {
      if let operand = arguments[index] { parsed.operands.append(ArgumentText(pointer: operand)) }
    }
    return parsed
  }

  /// Above every character: what getopt_long returns for the first long option.
  private static let firstLongValue: Int32 = 256

  private static func option(for code: Int32, among options: [Option]) -> Option? {
    if code >= firstLongValue { return options[Int(code - firstLongValue)] }
    return options.first { $0.letter.map(Int32.init) == code }
  }

  /// What is wrong with the option that getopt_long stopped at.
  private static func complaint(
    _ code: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, _ options: [Option]
  ) -> String {
    let known = option(for: optopt, among: options)
    let name: String
    if optopt > 0 && optopt < firstLongValue {
      name = "-\(Character(Unicode.Scalar(UInt8(truncatingIfNeeded: optopt))))"
    } else if let known {
      name = "--\(known.rawValue)"
    } else {
      name = arguments[Int(optind) - 1].map { String(cString: $0) } ?? ""
    }
    if code == Int32(UInt8(ascii: ":")) { return "option '\(name)' needs a value" }
    if known != nil { return "option '\(name)' takes no value" }
    return "unknown or ambiguous option '\(name)'"
  }
}
