import Glibc

/// Reads lines: on a terminal they can be edited and earlier ones called back with the keys of Emacs and readline;
/// from anything else they are read as they are.
final class LineEditor {
  private let input: Int32
  /// Where the prompt and the line are drawn; nil where there is nobody to see them.
  private let screen: Int32?
  private let canEdit: Bool
  /// Bytes read and not used yet.
  private var pending: [UInt8] = []
  private var isAtEnd = false
  private var history: [String] = []

  init(input: Int32) {
    self.input = input
    let isTerminal = isatty(input) == 1
    screen = !isTerminal ? nil : isatty(STDOUT_FILENO) == 1 ? STDOUT_FILENO : STDERR_FILENO
    canEdit = isTerminal && (screen.map(Terminal.isCapable) ?? false)
  }

  /// Whether a person types.
  var isInteractive: Bool { screen != nil }

  /// The next line without its end; nil at the end of the input, or when the person at the terminal has enough.
  func line(prompt: String) throws(ToolError) -> String? {
    guard canEdit, var saved = Self.attributes(input) else {
      if let screen { write(prompt, to: screen) }
      return try plainLine()
    }
    var raw = saved
    raw.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
    raw.c_iflag &= ~tcflag_t(ICRNL | INLCR | IXON)
    guard tcsetattr(input, TCSADRAIN, &raw) == 0 else { return try plainLine() }
    defer { tcsetattr(input, TCSADRAIN, &saved) }
    var edited = EditedLine(prompt: prompt, history: history)
    draw(edited)
    while true {
      let key = try key()
      if case .stop = key {
        tcsetattr(input, TCSADRAIN, &saved)
        raise(SIGTSTP)
        tcsetattr(input, TCSADRAIN, &raw)
      }
      switch edited.apply(key) {
      // What is pasted is drawn once.
      case .goOn: if pending.isEmpty { draw(edited) }
      case .done:
        edited.moveToEnd()
        draw(edited)
        write("\r\n", to: screen)
        let line = edited.text
        if !line.isEmpty, history.last != line { history.append(line) }
        return line
      case .end:
        write("\r\n", to: screen)
        return nil
      }
    }
  }

  private static func attributes(_ descriptor: Int32) -> termios? {
    var attributes = termios()
    return tcgetattr(descriptor, &attributes) == 0 ? attributes : nil
  }

  private func write(_ text: String, to descriptor: Int32?) {
    guard let descriptor else { return }
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { FileWriting.write($0, to: descriptor) }
  }

  private func draw(_ line: EditedLine) {
    guard let screen else { return }
    write(line.drawing(width: Terminal.width(screen)), to: screen)
  }

  // MARK: - Reading

  private static let longestLine = 1 << 20

  private func plainLine() throws(ToolError) -> String? {
    var line: [UInt8] = []
    while let byte = try byte() {
      if byte == UInt8(ascii: "\n") {
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return String(decoding: line, as: UTF8.self)
      }
      line.append(byte)
      guard line.count <= Self.longestLine else {
        throw ToolError(.input, "a line of the input is longer than \(Self.longestLine) bytes")
      }
    }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  /// The next byte; nil at the end.
  private func byte() throws(ToolError) -> UInt8? {
    if pending.isEmpty, !isAtEnd {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = buffer.withUnsafeMutableBytes { bytes in
        var count = read(input, bytes.baseAddress, bytes.count)
        while count < 0, errno == EINTR { count = read(input, bytes.baseAddress, bytes.count) }
        return count
      }
      // A terminal that is gone reads as an error.
      if count < 0, !isInteractive { throw Input.error("standard input", errno) }
      isAtEnd = count <= 0
      pending = buffer.prefix(max(0, count)).reversed()
    }
    return pending.popLast()
  }

  /// Whether more of an escape sequence follows at once; a person's next key takes longer.
  private func followsAtOnce() -> Bool {
    if !pending.isEmpty { return true }
    var waiting = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, 50) > 0
  }

  private func key() throws(ToolError) -> EditedLine.Key {
    guard let first = try byte() else { return .end }
    switch first {
    case 0x0D, 0x0A: return .enter
    case 0x1B: return followsAtOnce() ? try sequence() : .none
    case 0x7F, 0x08: return .backspace
    case 0..<0x20: return EditedLine.Key(control: first)
    case 0..<0x80: return .insert(Unicode.Scalar(first))
    default: return try scalar(first)
    }
  }

  private func scalar(_ first: UInt8) throws(ToolError) -> EditedLine.Key {
    var bytes = [first]
    let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    while bytes.count < length, let next = try byte() {
      bytes.append(next)
      if next & 0xC0 != 0x80 { break }
    }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.unicodeScalars.first.map { .insert($0) } ?? .none
  }

  /// What follows an escape: a cursor key (`[A`, `OA`, `[1~`), or a letter with Alt.
  private func sequence() throws(ToolError) -> EditedLine.Key {
    guard let kind = try byte() else { return .end }
    guard kind == UInt8(ascii: "[") || kind == UInt8(ascii: "O") else { return EditedLine.Key(alt: kind) }
    var parameters: [UInt8] = []
    while let byte = try byte() {
      guard (0x20..<0x40).contains(byte), parameters.count < 16 else {
        return EditedLine.Key(final: byte, parameters: String(decoding: parameters, as: UTF8.self))
      }
      parameters.append(byte)
    }
    return .end
  }
}
