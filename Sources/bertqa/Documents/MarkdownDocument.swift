import BertQACore

/// The text of a Markdown document without its marks, by MD4C's parser, which is opened on demand.
///
/// It has the line breaks of the document, so that both count lines alike. Front matter stays, and so do the marks of
/// headings and items and the bars of tables: passages are cut by them.
final class MarkdownDocument {
  private(set) var text: [UInt8] = []

  /// Only while it is parsed. The text is copied from here.
  private let document: UnsafeBufferPointer<UInt8>
  /// A copy of the document for the parser, with some bytes changed that it reads otherwise than readers do.
  private let source: UnsafeBufferPointer<UInt8>
  /// The end of the source's part that was read last.
  private var position: Int
  /// The mark of the next item of each list around the text.
  private var lists: [Mark] = []
  /// What begins the text of the next heading or item.
  private var pendingMark: [UInt8] = []
  private var imageDepth = 0
  private var isHTMLBlock = false
  /// What ends the tag, comment or script in which a piece of HTML ended, in lower case; empty outside.
  private var tagEnd: [UInt8] = []
  /// What ends the value of the tag's attribute.
  private var quote: UInt8?
  private var isBehindEquals = false
  /// Whether the heading of HTML around the text has a letter up to a place; nil outside headings.
  private var heading: (hasLetter: Bool, end: Int)?
  /// Where a superscript begins in the text.
  private var raisedStart: Int?

  private enum Mark {
    case bullet
    case number(UInt32, delimiter: UInt8)
  }

  /// MD_PARSER of md4c.h. A callback returns 0 to continue.
  private struct Parser {
    typealias Visit = @convention(c) (Int32, UnsafeRawPointer?, UnsafeMutableRawPointer?) -> Int32
    var version: UInt32 = 0
    var flags: UInt32
    var enterBlock: Visit
    var leaveBlock: Visit
    var enterSpan: Visit
    var leaveSpan: Visit
    var text: @convention(c) (Int32, UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?) -> Int32
    var log: UnsafeRawPointer?
    var syntax: UnsafeRawPointer?
  }

  private typealias Parse =
    @convention(c) (UnsafePointer<UInt8>?, UInt32, UnsafeRawPointer, UnsafeMutableRawPointer?) -> Int32

  /// MD_FLAG_STRIKETHROUGH and MD_FLAG_WIKILINKS. Without MD_FLAG_TABLES the rows of tables are text.
  private static let flags: UInt32 = 0x200 | 0x2000
  // MD_BLOCKTYPE
  private static let (bulletList, orderedList, item): (Int32, Int32, Int32) = (2, 3, 4)
  private static let (heading, codeBlock, html): (Int32, Int32, Int32) = (6, 7, 8)
  // MD_SPANTYPE
  private static let image: Int32 = 3
  // MD_TEXTTYPE
  private static let (entity, code, htmlText): (Int32, Int32, Int32) = (4, 5, 6)

  /// The endings of the names of Markdown files.
  static let endings = [".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd"]

  /// - Parameter name: a file's, in lower case and without the ending of a compressed file.
  static func isMarkdown(_ name: String) -> Bool {
    endings.contains(where: name.hasSuffix)
  }

  /// True if the library is there.
  static let isSupported = (try? SharedLibrary(library)) != nil

  /// Tells once that Markdown is read with its marks if one of the files is Markdown and the library is missing.
  static func tellIfUnsupported(for files: [ArgumentText]) {
    let isNeeded = files.contains { isMarkdown(Compression.inner($0.string).lowercased()) }
    if isNeeded, !isSupported { report(unsupportedNote) }
  }

  static let unsupportedNote =
    "note: Markdown is read with its marks and destinations of links: install the library MD4C (on Debian the "
    + "package libmd4c0)"
  private static let library = "libmd4c.so.0"

  /// - Parameter document: valid UTF-8 of less than 4 GiB.
  init(_ document: UnsafeBufferPointer<UInt8>) throws(ToolError) {
    let library = try SharedLibrary(
      Self.library, for: "Markdown", library: "the library MD4C", package: "libmd4c0")
    let parse = try library.function("md_parse", as: Parse.self)
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: document.count + 1)
    defer { copy.deallocate() }
    _ = copy.initialize(from: document)
    // MD4C 0.4.8 reads the byte behind some texts.
    copy[document.count] = 0
    Self.prepare(copy)
    self.document = document
    source = UnsafeBufferPointer(rebasing: copy[..<document.count])
    position = max(source.byteOrderMarkSize, DocumentTitle.frontMatterSize(source))
    text.reserveCapacity(source.count)
    text += document[..<position]
    let parser = Parser(
      flags: Self.flags,
      enterBlock: { MarkdownDocument.of($2).enterBlock($0, $1) },
      leaveBlock: { type, _, document in MarkdownDocument.of(document).leaveBlock(type) },
      enterSpan: { type, _, document in MarkdownDocument.of(document).changeImageDepth(by: 1, type) },
      leaveSpan: { type, _, document in MarkdownDocument.of(document).changeImageDepth(by: -1, type) },
      text: { MarkdownDocument.of($3).append($0, UnsafeBufferPointer(start: $1, count: Int($2))) })
    let body = UnsafeBufferPointer(rebasing: source[position...])
    let status = withUnsafePointer(to: parser) {
      parse(body.baseAddress, UInt32(body.count), $0, Unmanaged.passUnretained(self).toOpaque())
    }
    guard status == 0 else { throw ToolError(.resources, "out of memory") }
    appendLineBreaks(before: source.count)
    text = HTMLDocument.withoutNUL(text)
  }

  /// Writes a space for NUL, which MD4C leaves out, and takes the colon from `[^1]:`, as MD4C reads a footnote of one
  /// word as the destination of a link.
  private static func prepare(_ copy: UnsafeMutableBufferPointer<UInt8>) {
    for index in copy.indices.dropLast() {
      if copy[index] == 0 { copy[index] = UInt8(ascii: " ") }
      guard copy[index] == UInt8(ascii: "["), copy[index + 1] == UInt8(ascii: "^") else { continue }
      let label = copy[(index + 2)...].prefix {
        $0 > 0x20 && $0 != UInt8(ascii: "]") && $0 != UInt8(ascii: "[")
      }
      if copy[label.endIndex...].starts(with: "]:".utf8) { copy[label.endIndex + 1] = UInt8(ascii: ";") }
    }
  }

  private static func of(_ document: UnsafeMutableRawPointer?) -> MarkdownDocument {
    // The parser passes what it was given.
    Unmanaged<MarkdownDocument>.fromOpaque(document!).takeUnretainedValue()
  }

  // MARK: - Blocks and spans

  private func enterBlock(_ type: Int32, _ detail: UnsafeRawPointer?) -> Int32 {
    switch type {
    case Self.bulletList: lists.append(.bullet)
    case Self.orderedList:
      // MD_BLOCK_OL_DETAIL: start, is_tight, mark_delimiter.
      let start = detail?.load(as: UInt32.self) ?? 1
      lists.append(.number(start, delimiter: detail?.load(fromByteOffset: 8, as: UInt8.self) ?? 0x2E))
    case Self.item: beginItem()
    case Self.heading:
      // MD_BLOCK_H_DETAIL: level.
      let level = detail?.load(as: UInt32.self) ?? 1
      pendingMark += Array(repeating: UInt8(ascii: "#"), count: Int(level)) + " ".utf8
    case Self.html: isHTMLBlock = true
    default: break
    }
    return 0
  }

  private func beginItem() {
    guard let mark = lists.popLast() else { return }
    if pendingMark.isEmpty { pendingMark = Array(repeating: UInt8(ascii: " "), count: 2 * lists.count) }
    switch mark {
    case .bullet:
      pendingMark += "- ".utf8
      lists.append(mark)
    case .number(let number, let delimiter):
      pendingMark += Array("\(number)".utf8) + [delimiter, UInt8(ascii: " ")]
      lists.append(.number(number &+ 1, delimiter: delimiter))
    }
  }

  private func leaveBlock(_ type: Int32) -> Int32 {
    switch type {
    case Self.bulletList, Self.orderedList: lists.removeLast()
    case Self.item, Self.heading, Self.codeBlock: pendingMark = []
    case Self.html:
      isHTMLBlock = false
      tagEnd = []
      quote = nil
      heading = nil
    default: break
    }
    return 0
  }

  private func changeImageDepth(by change: Int, _ type: Int32) -> Int32 {
    if type == Self.image { imageDepth += change }
    return 0
  }

  // MARK: - Text

  private func append(_ type: Int32, _ parsed: UnsafeBufferPointer<UInt8>) -> Int32 {
    guard let base = source.baseAddress, let address = parsed.baseAddress,
      address >= base + position, address < base + source.count
    else {
      // The parser's own: a line break, which is taken from the source, or the indentation of code.
      if type == Self.code, parsed.allSatisfy({ $0 == UInt8(ascii: " ") }) { pendingMark += parsed }
      return 0
    }
    appendLineBreaks(before: address - base)
    let piece = UnsafeBufferPointer(rebasing: document[position..<position + parsed.count])
    position += piece.count
    if imageDepth > 0 { return 0 }
    text += pendingMark
    pendingMark = []
    switch type {
    case Self.htmlText: appendHTML(piece)
    case Self.entity: text += Self.character(piece)
    default: text += piece
    }
    return 0
  }

  /// Appends the line breaks of what stands between two pieces of text: marks, destinations of links, blank lines.
  private func appendLineBreaks(before next: Int) {
    text += source[position..<next].lazy.filter { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    position = next
  }

  /// Appends the text of HTML.
  private func appendHTML(_ piece: UnsafeBufferPointer<UInt8>) {
    var rest = piece[...]
    while let first = rest.first {
      if !tagEnd.isEmpty {
        skipTag(&rest, first)
      } else if first == UInt8(ascii: "<"), let next = rest.dropFirst().first,
        next > 0x40 || "!/?".utf8.contains(next)
      {
        let name = rest.dropFirst(next == UInt8(ascii: "/") ? 2 : 1).prefix { $0 > 0x40 || 0x30...0x39 ~= $0 }
        let element = String(decoding: name, as: UTF8.self).lowercased()
        if let last = text.last, last > 0x20, HTMLDocument.breaksLine(element) {
          text.append(UInt8(ascii: " "))
        }
        let isEnd = next == UInt8(ascii: "/")
        if let (hasLetter, end) = heading {
          heading = (hasLetter || HTMLDocument.hasLetter(text.dropFirst(end)), text.count)
        }
        let isSkipped =
          isHTMLBlock && !isEnd && HTMLDocument.isSkipped(element, headingHasLetter: heading?.hasLetter)
        if HTMLDocument.headings.contains(element) { heading = isEnd ? nil : (false, text.count) }
        if element == "sup" {
          if isEnd, let raisedStart { Superscripts.raise(&text, from: raisedStart) }
          raisedStart = isEnd ? nil : text.count
        }
        tagEnd = Array((rest.starts(with: "<!--".utf8) ? "-->" : isSkipped ? "</\(element)" : ">").utf8)
        isBehindEquals = false
      } else if first == UInt8(ascii: "&"), let found = CharacterReferences.first(in: rest.dropFirst()) {
        text += String(Character(found.character)).utf8
        rest = rest.dropFirst(found.size + 1)
      } else if first == UInt8(ascii: "&"), let end = rest.prefix(12).firstIndex(of: UInt8(ascii: ";")) {
        text += Self.character(UnsafeBufferPointer(rebasing: rest[...end]))
        rest = rest[(end + 1)...]
      } else {
        text.append(first)
        rest = rest.dropFirst()
      }
    }
  }

  /// Skips one byte of a tag, a comment or an element without text, or its end.
  private func skipTag(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>, _ first: UInt8) {
    let isInTag = tagEnd == [UInt8(ascii: ">")]
    if let open = quote {
      if first == open { quote = nil }
    } else if rest.prefix(tagEnd.count).elementsEqual(tagEnd, by: { Self.lowercased($0) == $1 }) {
      rest = rest.dropFirst(tagEnd.count)
      // Behind the name of an end tag, the tag itself ends.
      tagEnd = tagEnd.last == UInt8(ascii: ">") ? [] : [UInt8(ascii: ">")]
      return
    } else if isInTag, isBehindEquals, "\"'".utf8.contains(first) {
      quote = first
    }
    if first > 0x20 { isBehindEquals = first == UInt8(ascii: "=") }
    rest = rest.dropFirst()
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 { 0x41...0x5A ~= byte ? byte | 0x20 : byte }

  /// Returns the character that an entity means; the entity itself if its name is not known.
  private static func character(_ entity: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    let name = String(decoding: entity.dropFirst().dropLast(), as: UTF8.self)
    if let character = CharacterReferences.all[name] ?? HTMLDocument.character(named: name) {
      return Array(String(character).utf8)
    }
    let digits = name.dropFirst()
    let value =
      digits.first == "x" || digits.first == "X"
      ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    if name.first == "#", let scalar = value.flatMap(Unicode.Scalar.init), scalar.value >= 0x20 {
      return Array(String(Character(scalar)).utf8)
    }
    return Array(entity)
  }
}
