import Glibc

/// A command-line argument as bytes. A file name need not be valid UTF-8.
struct ArgumentText: @unchecked Sendable {  // the bytes never change
  /// Lives as long as the process.
  let pointer: UnsafePointer<CChar>

  static let standardInput = ArgumentText(literal: "-")

  init(pointer: UnsafePointer<CChar>) { self.pointer = pointer }

  init(literal: StaticString) {
    pointer = UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  /// An argument for another program.
  init(copying text: String) { pointer = UnsafePointer(strdup(text)) }

  var bytes: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      start: UnsafeRawPointer(pointer).assumingMemoryBound(to: UInt8.self), count: strlen(pointer))
  }

  var string: String { String(cString: pointer) }

  /// Returns a path that is opened by a string. Throws if it is not valid UTF-8: as a string it would be another path.
  /// - Parameters:
  ///   - role: the option, such as "--model", or another description of the argument.
  ///   - command: the command as typed.
  func path(_ role: String, _ command: String) throws(ToolError) -> String {
    guard let path = String(validatingCString: pointer) else {
      throw .usage(Self.notUTF8(role, string), command: command)
    }
    return path
  }

  /// Returns the message about a file whose name is not valid UTF-8.
  static func notUTF8(_ role: String, _ shown: String) -> String {
    "\(role) \(shown): the name is not valid UTF-8: rename it"
  }

  var isStandardInput: Bool { strcmp(pointer, "-") == 0 }

  /// Returns the rest after `prefix`; nil if the argument does not begin with it.
  func dropping(_ prefix: String) -> ArgumentText? {
    guard bytes.starts(with: prefix.utf8) else { return nil }
    return ArgumentText(pointer: pointer + prefix.utf8.count)
  }

  /// The name of the file in messages.
  var shownAsFile: String { isStandardInput ? "standard input" : string }
}
