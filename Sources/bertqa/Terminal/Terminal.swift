import Glibc

/// Properties of the terminal.
enum Terminal {
  enum ColorChoice { case auto, always, never }

  static let colorChoices: KeyValuePairs<String, ColorChoice> = [
    "auto": .auto, "always": .always, "never": .never,
  ]

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
