import Glibc

/// Properties of the terminal.
enum Terminal {
  enum ColorChoice: String, CaseIterable {
    case auto, always, never

    init(_ given: ParsedOption) throws(ToolError) {
      self = given.text == nil ? .always : try given.choice()
    }
  }

  /// - Parameter what: what is highlighted.
  static func colorRow(_ what: String) -> OptionRow {
    OptionRow(
      .color, value: "WHEN", isOptional: true, choices: ColorChoice.allCases.map(\.rawValue),
      "highlight \(what): {}; auto: on a terminal",
      detail: "Without a value: always. On a terminal without colour, the answer is in square brackets.")
  }

  static func isThere(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// True if the descriptor is a terminal that supports escape sequences.
  static func isCapable(_ descriptor: Int32) -> Bool {
    guard isatty(descriptor) == 1 else { return false }
    return getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? false
  }

  /// True if standard output is highlighted. A choice on the command line takes precedence over NO_COLOR.
  static func usesColor(_ choice: ColorChoice) -> Bool {
    switch choice {
    case .always: return true
    case .never: return false
    case .auto:
      let isForbidden = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
      return !isForbidden && isCapable(STDOUT_FILENO)
    }
  }

  /// Returns the number of columns of the terminal; 80 if unknown.
  static func width(_ descriptor: Int32) -> Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}
