import BertQACore
import Glibc

/// The messages of a file of mail: one message, or many in mbox format. GMime decodes them; it is opened on demand.
final class Mailbox {
  struct Message {
    /// Its number in an mbox file, from 1; nil in a file of one message.
    let number: Int?
    let subject: [UInt8]?
    /// An object of JSON with sender, recipients, date and the message's id; nil if it has none of them.
    let fields: [UInt8]?
    /// The subject and the text of the parts, with blank lines between them.
    let text: [UInt8]
  }

  private let mime: MIMELibrary
  private let isMbox: Bool
  /// Open on the file's bytes. Each message gets a duplicate.
  private let descriptor: Int32
  /// Where the next message begins, in an mbox file with its line "From "; nil at the end.
  private var nextStart: Int?
  private let shown: String
  private var count = 0
  /// A part of the file.
  private var bytes = [UInt8](repeating: 0, count: 1 << 16)

  /// The endings of the names of files of mail.
  static let endings = [".eml", ".mbox", ".mht", ".mhtml"]

  /// True for mail with text in base64, quoted-printable or encoded words: its characters are not those of the file.
  static func hasEncodedText(_ mail: UnsafeBufferPointer<UInt8>) -> Bool {
    mail.lazy.split(separator: newline).contains { line in
      if let first = line.first, first | 0x20 == UInt8(ascii: "c") {
        let field = String(decoding: line.prefix(128), as: UTF8.self).lowercased()
        if field.hasPrefix("content-transfer-encoding:") {
          return field.contains("base64") || field.contains("quoted-printable")
        }
      }
      // =?UTF-8?B?...?=
      return zip(line.indices, line.dropFirst()).contains { index, next in
        guard line[index] == UInt8(ascii: "="), next == UInt8(ascii: "?") else { return false }
        let parts = line[index...].prefix(128).split(separator: next, omittingEmptySubsequences: false)
        return parts.count > 4 && parts[2].count == 1 && "bqBQ".utf8.contains(parts[2].first ?? 0)
          && parts[4].first == UInt8(ascii: "=")
      }
    }
  }

  /// True for text that begins with the header of a message, or like an mbox file. Such files often have no ending.
  static func isMail(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    beginsMbox(text) || beginsMessage(text)
  }

  /// A Maildir has the folders cur, new and tmp; messages are files of the first two, whose names have no ending.
  static func isInMaildir(_ path: String) -> Bool {
    let (maildir, folder) = FilePath.split(FilePath.split(path).directory)
    guard ["cur", "new"].contains(folder) else { return false }
    return ["cur", "new", "tmp"].allSatisfy { FileIdentity(path: "\(maildir)/\($0)") != nil }
  }

  /// - Parameter beginning: the first bytes of the input, which is not read yet.
  init(_ input: Input, _ beginning: UnsafeBufferPointer<UInt8>) throws(ToolError) {
    let beginning = beginning.dropFirst(beginning.byteOrderMarkSize)
    isMbox = Self.beginsMbox(beginning)
    nextStart = beginning.isEmpty ? nil : beginning.startIndex
    guard isMbox || beginning.isEmpty || Self.fieldName(beginning) != nil else {
      throw ToolError(.input, "\(input.shown): is not mail: it does not begin with a header")
    }
    shown = input.shown
    mime = try MIMELibrary()
    descriptor = try Self.descriptor(input)
  }

  deinit { close(descriptor) }

  /// Returns the next message; nil at the end.
  /// - Parameter problem: called for messages of an mbox file that cannot be read.
  func next(_ problem: (String) -> Void) throws(ToolError) -> Message? {
    guard let message = try nextObject() else { return nil }
    defer { mime.release(message) }
    let subject = mime.subject(message).flatMap { PlainText.line($0) }.map { Array($0.utf8) }
    var text = MailText(mime, isMbox: isMbox)
    text.append(subject ?? [])
    do throws(ToolError) {
      try text.append(partsOf: message)
    } catch {
      // The other messages are still read, as is what this one has in other parts.
      guard isMbox, error.code == .input else { throw error }
      problem("message \(count): \(error.message)")
    }
    return Message(
      number: isMbox ? count : nil, subject: subject, fields: fields(message), text: text.bytes)
  }

  private func nextObject() throws(ToolError) -> MIMELibrary.Object? {
    guard let start = nextStart else { return nil }
    count += 1
    let place = isMbox ? try messageAndNext(at: start) : (start: start, next: nil)
    nextStart = place.next
    let copy = try Self.copy(descriptor, shown)
    guard let message = try mime.message(copy, from: place.start, to: place.next) else {
      throw ToolError(.input, "\(shown): is not mail: it does not begin with a header")
    }
    return message
  }

  private func fields(_ message: MIMELibrary.Object) -> [UInt8]? {
    let fields = mime.fields(message)
    if fields.isEmpty { return nil }
    var writer = JSONWriter()
    writer.object { writer in
      for (key, value) in fields {
        writer.string(key, value)
      }
    }
    return writer.bytes
  }

  // MARK: - The file

  /// Returns where the message after a line "From " begins, and the place of the next such line; nil for none.
  private func messageAndNext(at marker: Int) throws(ToolError) -> (start: Int, next: Int?) {
    let headSize = 1 << 14
    var place = marker
    var message: Int?
    while true {
      let count = pread(descriptor, &bytes, bytes.count, off_t(place))
      guard count >= 0 else { throw Input.error(shown, errno) }
      let isEnd = count < bytes.count
      // What begins in the last bytes is looked at in the next part.
      let end = isEnd ? count : count - headSize
      var line = bytes[..<count].firstIndex(of: Self.newline).map { $0 + 1 } ?? count
      if message == nil { message = place + line }
      while line < end {
        if bytes[line] == UInt8(ascii: "F"), Self.isMarker(bytes[line..<min(line + headSize, count)]) {
          return (message ?? place, place + line)
        }
        line = bytes[line..<count].firstIndex(of: Self.newline).map { $0 + 1 } ?? count
      }
      if isEnd { return (message ?? place, nil) }
      // At the line feed before a line.
      place += line - 1
    }
  }

  private static func copy(_ descriptor: Int32, _ shown: String) throws(ToolError) -> Int32 {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw Input.error(shown, errno) }
    return copy
  }

  /// True for a line "From " that a header follows.
  private static func beginsMbox(_ bytes: some Collection<UInt8>) -> Bool {
    guard let (_, next) = lineFrom(bytes) else { return false }
    return fieldName(next) != nil
  }

  /// True for a line "From " that separates messages: with a time and a year, or a sender alone, before a header; or
  /// before a header that only mail has. Other lines are a text's.
  private static func isMarker(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let (line, next) = lineFrom(bytes) else { return false }
    let words = line.split { $0 <= 0x20 }
    let isDated =
      words.contains { $0.contains(UInt8(ascii: ":")) && $0.allSatisfy { 0x30...0x3A ~= $0 } }
      && words.contains { $0.count == 4 && $0.allSatisfy { 0x30...0x39 ~= $0 } }
    // A message may have no header.
    let isEmpty = next.drop { $0 == UInt8(ascii: "\r") }.first == newline
    return isDated && isEmpty || (isDated || words.count < 2) && fieldName(next) != nil || beginsMessage(next)
  }

  /// Returns what is behind "From " in the first line, and the lines after it; nil for another line.
  private static func lineFrom<Bytes: Collection<UInt8>>(
    _ bytes: Bytes
  ) -> (line: Bytes.SubSequence, next: Bytes.SubSequence)? {
    guard bytes.starts(with: "From ".utf8), let end = bytes.firstIndex(of: newline) else { return nil }
    return (bytes[..<end].dropFirst(5), bytes[bytes.index(after: end)...])
  }

  /// True for a header with a sender and a field that mail programs write, which notes do not have.
  private static func beginsMessage(_ bytes: some Collection<UInt8>) -> Bool {
    var names: Set<String> = []
    for line in bytes.lazy.split(separator: newline, omittingEmptySubsequences: false) {
      guard let first = line.first(where: { $0 != UInt8(ascii: "\r") }), line.endIndex < bytes.endIndex else {
        break
      }
      if first == UInt8(ascii: " ") || first == UInt8(ascii: "\t"), !names.isEmpty { continue }
      guard let name = fieldName(line) else { return false }
      names.insert(name.lowercased())
    }
    return names.contains("from") && !names.isDisjoint(with: ["message-id", "mime-version", "received"])
  }

  /// Returns the name of the header's field with which text begins; nil for no field.
  private static func fieldName(_ bytes: some Collection<UInt8>) -> String? {
    let name = bytes.prefix { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
    guard !name.isEmpty, name.endIndex < bytes.endIndex, bytes[name.endIndex] == UInt8(ascii: ":") else {
      return nil
    }
    return String(decoding: name, as: UTF8.self)
  }

  private static let newline = UInt8(ascii: "\n")

  /// Returns a descriptor of the file's bytes, which are read where they are needed: a copy if they are compressed.
  private static func descriptor(_ input: Input) throws(ToolError) -> Int32 {
    if input.isVerbatim, input.isRegularFile, input.descriptor != STDIN_FILENO {
      return try copy(input.descriptor, input.shown)
    }
    let buffer = ByteBuffer()
    try buffer.reserve(1 << 16)
    return try FileWriting.temporary { write throws(ToolError) in
      while true {
        let count = try input.read(into: buffer.rawRoom)
        if count == 0 { break }
        try write(UnsafeRawBufferPointer(rebasing: buffer.rawRoom[..<count]))
      }
    }
  }
}

/// The text of a message's parts.
private struct MailText {
  private(set) var bytes: [UInt8] = []
  private let mime: MIMELibrary
  private let isMbox: Bool

  init(_ mime: MIMELibrary, isMbox: Bool) {
    self.mime = mime
    self.isMbox = isMbox
  }

  /// Appends the text of all parts that have text.
  mutating func append(partsOf message: MIMELibrary.Object) throws(ToolError) {
    // Without recursion: parts may be nested deeply.
    var waiting = [message]
    while let part = waiting.popLast() {
      switch mime.kind(part) {
      case .message: if let body = mime.body(part) { waiting.append(body) }
      case .attachedMessage:
        guard let attached = mime.attachedMessage(part) else { continue }
        append(Array((mime.subject(attached) ?? "").utf8))
        waiting.append(attached)
      case .multipart(let isAlternative):
        let parts = mime.parts(part)
        if parts.isEmpty {
          append(text(ofUnknown: mime.prologue(part)) ?? [])
        } else if isAlternative {
          if let form = appendPlain(of: parts) { waiting.append(form) }
        } else {
          waiting += parts.reversed()
        }
      case .plain, .text: append(text(of: part) ?? [])
      case .html: append(try pageText(of: part))
      case .unknown: append(text(ofUnknown: mime.content(part)) ?? [])
      case .other: break
      }
    }
  }

  /// Appends the plain one of several forms of the same part, or returns the form to read instead: the page, if plain
  /// text is missing, or is short and has less than half of its letters, such as "Your program does not show HTML".
  private mutating func appendPlain(of forms: [MIMELibrary.Object]) -> MIMELibrary.Object? {
    // Invitations have a calendar as the last form.
    let form = forms.last {
      switch mime.kind($0) {
      case .html, .multipart: true
      default: false
      }
    }
    for case let text? in forms.lazy.map(plainText) {
      let count = Self.letterCount(text)
      // Parsing the page takes three times as long as the rest.
      if count < 1000, let form, let page = page(of: form), let pageText = try? pageText(of: page),
        2 * count < Self.letterCount(pageText)
      {
        return form
      }
      append(text)
      return nil
    }
    return form ?? forms.last
  }

  /// Returns nil for what is no plain text, or blank.
  private func plainText(of part: MIMELibrary.Object) -> [UInt8]? {
    guard case .plain = mime.kind(part), let text = text(of: part), !PlainText.isBlank(text) else {
      return nil
    }
    return text
  }

  /// Returns the page of a form, which pictures may accompany.
  private func page(of form: MIMELibrary.Object) -> MIMELibrary.Object? {
    let parts: [MIMELibrary.Object]
    if case .multipart = mime.kind(form) { parts = mime.parts(form) } else { parts = [form] }
    return parts.first { if case .html = mime.kind($0) { true } else { false } }
  }

  /// Returns the number of bytes that are neither white space nor in a link.
  private static func letterCount(_ text: [UInt8]) -> Int {
    text.split { $0 <= 0x20 }.reduce(0) { count, word in
      let slash = UInt8(ascii: "/")
      let isLink = zip(word, word.dropFirst()).contains { $0 == slash && $1 == slash }
      return count + (isLink ? 0 : word.count)
    }
  }

  private func pageText(of part: MIMELibrary.Object) throws(ToolError) -> [UInt8] {
    let encoding = mime.encoding(part)
    let page = encoding == nil ? mime.content(part) : decoded(mime.content(part), encoding)
    return try page.withElements { page throws(ToolError) in
      try HTMLDocument(page, isUTF8: encoding != nil).text
    }
  }

  /// Returns the text of a part in UTF-8, without encoded data; nil for data that only the part's type says is text.
  private func text(of part: MIMELibrary.Object) -> [UInt8]? {
    text(mime.content(part), mime.encoding(part))
  }

  private func text(_ content: [UInt8], _ encoding: TextEncoding?) -> [UInt8]? {
    let (form, formInEncoding) = content.withElements {
      (TextForm(beginningWith: $0, as: nil), TextForm(beginningWith: $0, as: encoding))
    }
    // The mark of an attached file shows it; the part often names no encoding, or that of the message.
    let isUTF16 = if case .utf16 = form { true } else { false }
    if !isUTF16, case .noText = formInEncoding { return nil }
    let text = decoded(content, isUTF16 ? TextEncoding("UTF-16") : encoding)
    return EncodedData.removed(from: lines(text))
  }

  /// Returns the text of bytes that need not be text: nil unless they are in UTF-8, or in UTF-16 with a byte order mark.
  private func text(ofUnknown content: [UInt8]) -> [UInt8]? {
    let isText = content.withElements { content in
      switch TextForm(content) {
      case .text: content.isValidUTF8
      case .utf16: true
      case .noText: false
      }
    }
    return isText ? text(content, nil) : nil
  }

  /// Returns a part's text in UTF-8. The encoding that a part names is often wrong.
  private func decoded(_ content: [UInt8], _ named: TextEncoding?) -> [UInt8] {
    let text = content.withElements { content in
      let isUTF8 = content.isValidUTF8
      if let named, !named.isUTF8 {
        let known = named.decoded(content)
        // Any text is valid in most encodings whose characters are single bytes, but hardly any is UTF-8 by chance.
        let isMistaken =
          isUTF8 && String(decoding: known.text, as: UTF8.self).unicodeScalars.count == content.count
        let isISO2022 = named.isISO2022 && !content.contains { $0 >= 0x80 }
        if isISO2022 || (known.isValid ? !isMistaken : !isUTF8) { return known.text }
      }
      if isUTF8 { return TextEncoding("UTF-8")?.decoded(content).text ?? Array(content) }
      return WindowsCharacters.repairingUTF8(in: content)
        ?? TextEncoding("WINDOWS-1252")?.decoded(content).text ?? Array(content)
    }
    return WindowsCharacters.replacingControls(in: text)
  }

  /// Returns the text without the mark of mbox files before lines such as ">From here on".
  private func lines(_ text: [UInt8]) -> [UInt8] {
    guard isMbox else { return text }
    let newline = UInt8(ascii: "\n")
    return Array(
      text.split(separator: newline, omittingEmptySubsequences: false).map { line in
        let unmarked = line.drop { $0 == UInt8(ascii: ">") }
        return unmarked.count < line.count && unmarked.starts(with: "From ".utf8) ? line.dropFirst() : line
      }.joined(separator: [newline]))
  }

  /// Appends a part's text, with line feeds as ends of lines, after a blank line.
  mutating func append(_ text: [UInt8]) {
    if PlainText.isBlank(text) { return }
    if !bytes.isEmpty { bytes += "\n\n".utf8 }
    let carriageReturn = UInt8(ascii: "\r")
    // Zeros end texts in SQLite.
    bytes += text.lazy.filter { $0 != carriageReturn }.map { $0 == 0 ? UInt8(ascii: " ") : $0 }
    while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
  }
}
