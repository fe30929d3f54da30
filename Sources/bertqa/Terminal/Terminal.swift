import Glibc

/// What is known of the terminal, if there is one.
enum Terminal {
  enum ColorChoice { case auto, always, never }

  static let colorChoices: KeyValuePairs<String, ColorChoice> = [
    "auto": .auto, "always": .always, "never": .never,
  ]

  static func isThere(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// Whether a terminal that understands escape sequences is at this descriptor.
  static func isCapable(_ descriptor: Int32) -> Bool {
    guard isatty(descriptor) == 1 else { return false }
    return getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? false
  }

  /// Whether to highlight on standard output. A choice on the command line outweighs NO_COLOR.
  static func usesColor(_ choice: ColorChoice) -> Bool {
    switch choice {
    case .always: return true
    case .never: return false
    case .auto:
      let isForbidden = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
      return !isForbidden && isCapable(STDOUT_FILENO)
    }
  }

  /// Columns of the terminal at this descriptor; 80 if it does not say.
  static func width(_ descriptor: Int32) -> Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}
