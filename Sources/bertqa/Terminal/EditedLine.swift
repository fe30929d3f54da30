/// A line while it is typed: what keys do to it, and how it is drawn.
struct EditedLine {
  enum Key {
    case none, enter, end, cancel, stop
    case insert(Unicode.Scalar)
    case backspace, delete, deleteWord, deleteToEnd, deleteToStart, yank
    case left, right, wordLeft, wordRight, home, toEnd
    case earlier, later
    case redraw
  }

  enum Outcome { case goOn, done, end }

  private let prompt: String
  private let history: [String]
  private var scalars: [Unicode.Scalar] = []
  /// Before which scalar the cursor is.
  private var cursor = 0
  /// Which line of the history is shown; their number for the one that is new.
  private var place: Int
  /// The new line, while another is shown.
  private var draft: [Unicode.Scalar] = []
  private var killed: [Unicode.Scalar] = []
  private var clearsScreen = false

  init(prompt: String, history: [String]) {
    self.prompt = prompt
    self.history = history
    place = history.count
  }

  var text: String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars)
    return String(text)
  }

  mutating func moveToEnd() { cursor = scalars.count }

  mutating func apply(_ key: Key) -> Outcome {
    clearsScreen = false
    switch key {
    case .none, .stop: break
    case .enter: return .done
    case .end: return .end
    case .cancel:
      if scalars.isEmpty { return .end }
      scalars = []
      cursor = 0
    case .insert(let scalar):
      scalars.insert(scalar, at: cursor)
      cursor += 1
    case .backspace: remove(characterBefore(cursor)..<cursor)
    case .delete:
      if scalars.isEmpty { return .end }
      remove(cursor..<characterBehind(cursor))
    case .deleteWord: kill(wordBefore(cursor)..<cursor)
    case .deleteToEnd: kill(cursor..<scalars.count)
    case .deleteToStart: kill(0..<cursor)
    case .yank:
      scalars.insert(contentsOf: killed, at: cursor)
      cursor += killed.count
    case .left: cursor = characterBefore(cursor)
    case .right: cursor = characterBehind(cursor)
    case .wordLeft: cursor = wordBefore(cursor)
    case .wordRight: cursor = wordBehind(cursor)
    case .home: cursor = 0
    case .toEnd: moveToEnd()
    case .earlier: show(place - 1)
    case .later: show(place + 1)
    case .redraw: clearsScreen = true
    }
    return .goOn
  }

  private mutating func remove(_ range: Range<Int>) {
    scalars.removeSubrange(range)
    cursor = range.lowerBound
  }

  private mutating func kill(_ range: Range<Int>) {
    killed = Array(scalars[range])
    remove(range)
  }

  private mutating func show(_ new: Int) {
    guard (0...history.count).contains(new) else { return }
    if place == history.count { draft = scalars }
    place = new
    scalars = new == history.count ? draft : Array(history[new].unicodeScalars)
    moveToEnd()
  }

  // MARK: - Places

  /// Combining marks go with the character before them.
  private func characterBefore(_ place: Int) -> Int {
    var place = max(0, place - 1)
    while place > 0, Self.width(scalars[place]) == 0 { place -= 1 }
    return place
  }

  private func characterBehind(_ place: Int) -> Int {
    var place = min(scalars.count, place + 1)
    while place < scalars.count, Self.width(scalars[place]) == 0 { place += 1 }
    return place
  }

  private func wordBefore(_ place: Int) -> Int {
    var place = place
    while place > 0, scalars[place - 1] == " " { place -= 1 }
    while place > 0, scalars[place - 1] != " " { place -= 1 }
    return place
  }

  private func wordBehind(_ place: Int) -> Int {
    var place = place
    while place < scalars.count, scalars[place] == " " { place += 1 }
    while place < scalars.count, scalars[place] != " " { place += 1 }
    return place
  }

  // MARK: - Drawing

  /// What draws it in one row of the terminal: of a longer line the part with the cursor.
  func drawing(width: Int) -> String {
    let room = max(1, width - prompt.unicodeScalars.count - 1)
    var start = cursor
    var columns = 0
    while start > 0, columns + Self.width(scalars[start - 1]) <= room * 3 / 4 {
      start -= 1
      columns += Self.width(scalars[start])
    }
    let before = columns
    var end = cursor
    while end < scalars.count, columns + Self.width(scalars[end]) <= room {
      columns += Self.width(scalars[end])
      end += 1
    }
    // What is left of the room goes to what is before.
    var shift = 0
    while start > 0, columns + shift + Self.width(scalars[start - 1]) <= room {
      start -= 1
      shift += Self.width(scalars[start])
    }
    var shown = String.UnicodeScalarView()
    shown.append(contentsOf: scalars[start..<end].map { Self.isControl($0) ? "?" : $0 })
    let column = prompt.unicodeScalars.count + before + shift
    return "\(clearsScreen ? "\u{1B}[H\u{1B}[2J" : "\r")\(prompt)\(String(shown))\u{1B}[K\r"
      + (column > 0 ? "\u{1B}[\(column)C" : "")
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
  }

  /// Columns of a character: 0 for marks, 2 for East Asian wide ones and emoji.
  private static func width(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}

extension EditedLine.Key {
  /// Of a control character.
  init(control: UInt8) {
    switch control {
    case 0x01: self = .home
    case 0x02: self = .left
    case 0x03: self = .cancel
    // Ctrl-D; typed between two lines, before the terminal passes on every key, it comes as NUL.
    case 0x04, 0x00: self = .delete
    case 0x05: self = .toEnd
    case 0x06: self = .right
    case 0x0B: self = .deleteToEnd
    case 0x0C: self = .redraw
    case 0x0E: self = .later
    case 0x10: self = .earlier
    case 0x15: self = .deleteToStart
    case 0x17: self = .deleteWord
    case 0x19: self = .yank
    case 0x1A: self = .stop
    default: self = .none
    }
  }

  /// Of a letter with Alt.
  init(alt: UInt8) {
    switch alt {
    case UInt8(ascii: "b"): self = .wordLeft
    case UInt8(ascii: "f"): self = .wordRight
    case 0x7F, 0x08: self = .deleteWord
    default: self = .none
    }
  }

  /// Of an escape sequence, by its last byte and what is before that.
  init(final: UInt8, parameters: String) {
    // "1;5": with Ctrl.
    let isModified = parameters.contains(";")
    switch final {
    case UInt8(ascii: "A"): self = .earlier
    case UInt8(ascii: "B"): self = .later
    case UInt8(ascii: "C"): self = isModified ? .wordRight : .right
    case UInt8(ascii: "D"): self = isModified ? .wordLeft : .left
    case UInt8(ascii: "H"): self = .home
    case UInt8(ascii: "F"): self = .toEnd
    case UInt8(ascii: "~"):
      switch parameters {
      case "1", "7": self = .home
      case "4", "8": self = .toEnd
      case "3": self = .delete
      default: self = .none
      }
    default: self = .none
    }
  }
}
