/// The text and title of an HTML page, by libxml2's parser, which is opened on demand.
struct HTMLDocument {
  private(set) var title: [UInt8]?
  /// Blank lines separate paragraphs, headings and items.
  private(set) var text: [UInt8] = []

  /// libxml2's nodes begin so (tree.h); these members have not changed since its first version.
  private struct Node {
    var userData: UnsafeMutableRawPointer?
    var type: Int32
    var name: UnsafePointer<CChar>?
    var children: UnsafeMutablePointer<Node>?
    var last: UnsafeMutablePointer<Node>?
    var parent: UnsafeMutablePointer<Node>?
    var next: UnsafeMutablePointer<Node>?
    var previous: UnsafeMutablePointer<Node>?
    var document: UnsafeMutableRawPointer?
    var namespace: UnsafeMutableRawPointer?
    var content: UnsafePointer<CChar>?
    /// Of an element: its attributes, which begin like nodes.
    var attributes: UnsafeMutablePointer<Node>?
  }

  private typealias Read =
    @convention(c) (
      UnsafePointer<UInt8>?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int32
    ) -> UnsafeMutableRawPointer?
  private typealias Root = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  private typealias Free = @convention(c) (UnsafeMutableRawPointer?) -> Void

  private static let (element, textNode, cdata): (Int32, Int32, Int32) = (1, 3, 4)
  /// HTML_PARSE_RECOVER, _NOERROR, _NOWARNING, _NONET and _HUGE: it reads what it can, prints nothing, fetches nothing,
  /// and does not end at elements that are nested deeper than 256 levels or at texts of 10 MB.
  private static let options: Int32 = 1 | 1 << 5 | 1 << 6 | 1 << 11 | 1 << 19

  /// Elements whose content is not text of the page.
  private static let skipped: Set<String> = [
    "script", "style", "template", "noscript", "svg", "math", "nav", "iframe", "object", "select", "datalist",
    "textarea", "button", "head", "audio", "video", "canvas",
  ]
  /// The elements whose text has its own lines.
  private static let blocks: Set<String> = [
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog",
    "dir",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5",
    "h6", "header", "hgroup", "hr", "legend", "li", "listing", "main", "menu", "noframes", "ol", "p", "pre",
    "search", "section", "summary", "table", "ul", "xmp",
  ]
  static let headings: Set<String> = ["h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt"]
  /// The blocks that keep white space and line breaks.
  private static let preformatted: Set<String> = ["listing", "pre", "xmp"]
  private static let cells: Set<String> = ["td", "th"]

  /// True for the name of an element that does not stand inside a line of text.
  static func breaksLine(_ name: String) -> Bool {
    blocks.contains(name) || cells.contains(name) || name == "br" || name == "tr"
  }

  /// True for an element whose content is not text of the page.
  /// - Parameter hasLetter: whether the heading around the element has a letter before it; nil outside headings. A button
  ///   that a heading begins with, perhaps behind a number, is its text: it opens what the heading is for.
  static func isSkipped(_ name: String, headingHasLetter hasLetter: Bool?) -> Bool {
    skipped.contains(name) && (name != "button" || hasLetter ?? true)
  }

  static func hasLetter(_ text: some Sequence<UInt8>) -> Bool {
    String(decoding: Array(text), as: UTF8.self).unicodeScalars.contains(where: \.properties.isAlphabetic)
  }

  private static let (space, tab, newline) = (UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"))
  /// The number of preformatted elements around a node.
  private var preformattedDepth = 0
  /// Where the cells around a node begin in the text.
  private var cellStarts: [Int] = []
  /// Whether the heading around a node has a letter so far; nil outside headings. Read for each button: what is behind the
  /// heading's beginning must not be searched again each time.
  private var headingHasLetter: Bool?
  /// Where the superscripts around a node begin in the text.
  private var raisedStarts: [Int] = []
  /// The places after the last two blank lines.
  private var blanks = (0, 0)

  /// True for text that begins like a page, perhaps after comments and XML's declaration.
  static func isPage(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var rest = text[...]
    while true {
      rest = rest.drop { $0 <= 0x20 }
      if rest.starts(with: "<!--".utf8) {
        rest = after("-->", in: rest)
      } else if rest.starts(with: "<?".utf8) {
        rest = after("?>", in: rest)
      } else {
        let start = String(decoding: rest.prefix(14), as: UTF8.self).lowercased()
        return start.hasPrefix("<!doctype html") || start.hasPrefix("<html>") || start.hasPrefix("<html ")
      }
    }
  }

  private static func after(
    _ mark: String, in text: Slice<UnsafeBufferPointer<UInt8>>
  ) -> Slice<UnsafeBufferPointer<UInt8>> {
    let end = text.indices.first { text[$0...].starts(with: mark.utf8) }
    return end.map { text[($0 + mark.utf8.count)...] } ?? text[text.endIndex...]
  }

  /// - Parameter isUTF8: false: the page names its encoding, or it is detected.
  init(_ page: UnsafeBufferPointer<UInt8>, isUTF8: Bool) throws(ToolError) {
    let library = try Self.library()
    let read = try library.function("htmlReadMemory", as: Read.self)
    let root = try library.function("xmlDocGetRootElement", as: Root.self)
    let free = try library.function("xmlFreeDoc", as: Free.self)
    let document = try Self.prepared(page, isUTF8: isUTF8).withElements { page throws(ToolError) in
      guard page.count <= InputText.limit else { throw InputText.tooLarge("the page") }
      return read(page.baseAddress, Int32(page.count), nil, "UTF-8", Self.options)
    }
    guard let document else { return }
    defer { free(document) }
    var node = root(document)?.assumingMemoryBound(to: Node.self)
    // Without recursion: pages may be nested deeply.
    while let current = node {
      if let child = enter(current.pointee) {
        node = child
        continue
      }
      var last: UnsafeMutablePointer<Node>? = current
      while let left = last {
        leave(left.pointee)
        if let next = left.pointee.next {
          node = next
          break
        }
        last = left.pointee.parent
        // The document, above its root element.
        if last?.pointee.type != Self.element { last = nil }
      }
      if last == nil { node = nil }
    }
    removeWhite(after: 0)
    text = WindowsCharacters.replacingControls(in: text)
  }

  private static func library() throws(ToolError) -> SharedLibrary {
    try SharedLibrary(
      "libxml2.so.2", "libxml2.so.16", for: "HTML", library: "the library libxml2", package: "libxml2")
  }

  /// Returns the character that a named entity of HTML 4 means; nil for other names, and without libxml2.
  static func character(named name: String) -> Unicode.Scalar? {
    // htmlEntityDesc begins with the code point.
    typealias Find = @convention(c) (UnsafePointer<CChar>?) -> UnsafePointer<UInt32>?
    guard let find = try? library().function("htmlEntityLookup", as: Find.self) else { return nil }
    return name.withCString { find($0)?.pointee }.flatMap(Unicode.Scalar.init)
  }

  /// Returns the page in UTF-8, without what browsers take for comments and libxml2 for text. libxml2 would end at the
  /// first byte that is invalid in the encoding that the page names, and read what is before the name as Latin-1.
  private static func prepared(_ page: UnsafeBufferPointer<UInt8>, isUTF8: Bool) -> [UInt8] {
    let isValid = page.isValidUTF8
    // ISO-2022 is valid UTF-8 as well, but has escape sequences.
    let named = isUTF8 || isValid && !page.contains(0x1B) ? nil : namedEncoding(page)
    let text =
      if isValid {
        if let named, named.isISO2022 { named.decoded(page).text } else { Array(page) }
      } else {
        WindowsCharacters.repairingUTF8(in: page)
          ?? (named ?? TextEncoding("WINDOWS-1252"))?.decoded(page).text ?? Array(page)
      }
    return CharacterReferences.numbered(in: withoutBogusComments(withoutNUL(text)))
  }

  /// Returns a text with spaces for NUL, at which the parsers end or join words.
  static func withoutNUL(_ text: [UInt8]) -> [UInt8] {
    text.contains(0) ? text.map { $0 == 0 ? space : $0 } : text
  }

  /// Returns the encoding that `<meta>` or XML's declaration names; nil for none, and for one that cannot be the page's.
  private static func namedEncoding(_ page: UnsafeBufferPointer<UInt8>) -> TextEncoding? {
    let beginning = String(decoding: page.prefix(4096), as: UTF8.self).lowercased()
    for tag in beginning.split(separator: "<") {
      let key = tag.hasPrefix("meta") ? "charset" : tag.hasPrefix("?xml") ? "encoding" : nil
      guard let key, let place = tag.firstRange(of: key) else { continue }
      let value = tag[place.upperBound...].drop(while: \.isWhitespace)
      guard value.first == "=" else { continue }
      let label = value.dropFirst().drop { $0.isWhitespace || "\"'".contains($0) }
        .prefix { !$0.isWhitespace && !"\"';>/?".contains($0) }
      // The name itself is in ASCII.
      if let encoding = TextEncoding(label: String(label)), encoding.unitSize == 1 { return encoding }
    }
    return nil
  }

  /// Returns a page without `<![endif]>` and the like, which Word writes around the numbers of lists.
  private static func withoutBogusComments(_ page: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    var (done, position) = (0, 0)
    while let start = page[position...].firstIndex(of: UInt8(ascii: "<")) {
      let rest = page[start...]
      position = start + 1
      if rest.starts(with: "<!--".utf8) {
        position = page[start...].firstRange(of: "-->".utf8)?.upperBound ?? page.count
      } else if rest.starts(with: "<![".utf8),
        let end = rest.dropFirst().firstIndex(where: { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") }),
        page[end] == UInt8(ascii: ">")  // else in a script
      {
        output += page[done..<start]
        done = end + 1
        position = done
      }
    }
    return done == 0 ? page : output + page[done...]
  }

  /// Returns the first child to visit; nil for none.
  private mutating func enter(_ node: Node) -> UnsafeMutablePointer<Node>? {
    switch node.type {
    case Self.element:
      let name = Self.name(node)
      if Self.preformatted.contains(name) { preformattedDepth += 1 }
      if Self.cells.contains(name) { cellStarts.append(text.count) }
      if name == "sup" { raisedStarts.append(text.count) }
      if name == "head" { findTitle(node) }
      if Self.isSkipped(name, headingHasLetter: headingHasLetter) || Self.isHidden(node)
        || name == "a" && Self.isPermalink(node)
      {
        return nil
      }
      if Self.blocks.contains(name) { breakLine() }
      if Self.headings.contains(name) { headingHasLetter = false }
      if name == "tr" { breakRow() }
      if name == "br" { text.append(Self.newline) }
      return node.children
    case Self.textNode, Self.cdata:
      if let content = node.content { appendText(String(cString: content)) }
    default: break
    }
    return nil
  }

  private mutating func leave(_ node: Node) {
    guard node.type == Self.element else { return }
    let name = Self.name(node)
    if Self.preformatted.contains(name) { preformattedDepth -= 1 }
    if Self.headings.contains(name) { headingHasLetter = nil }
    if name == "sup", let start = raisedStarts.popLast() { Superscripts.raise(&text, from: start) }
    if Self.blocks.contains(name) { breakLine() }
    if Self.cells.contains(name) { leaveCell() }
  }

  /// True for an element that browsers do not show, and for navigation.
  private static func isHidden(_ node: Node) -> Bool {
    var attribute = node.attributes
    while let one = attribute?.pointee {
      switch name(one) {
      case "hidden": return true
      case "style":
        let style = one.children?.pointee.content.map { String(cString: $0).lowercased() } ?? ""
        if style.filter({ !$0.isWhitespace }).contains("display:none") { return true }
      case "role":
        if one.children?.pointee.content.map({ String(cString: $0) }) == "navigation" { return true }
      default: break
      }
      attribute = one.next
    }
    return false
  }

  /// What generators of pages put behind headings as links to them.
  private static let permalinks: Set<String> = ["¶", "#", "§", "🔗", "⚓", "⚓︎"]

  /// True for a link within the page with such a mark alone, perhaps in another element. Browsers show it under the
  /// pointer only.
  private static func isPermalink(_ node: Node) -> Bool {
    var attribute = node.attributes
    while let one = attribute?.pointee, name(one) != "href" { attribute = one.next }
    guard attribute?.pointee.children?.pointee.content?.pointee == CChar(bitPattern: UInt8(ascii: "#")) else {
      return false
    }
    var child = node.children
    if let only = child?.pointee, only.type == element, only.next == nil { child = only.children }
    guard let text = child?.pointee, text.type == textNode, text.next == nil, let content = text.content
    else {
      return false
    }
    return permalinks.contains(String(cString: content).filter { !$0.isWhitespace })
  }

  private mutating func findTitle(_ head: Node) {
    var child = head.children
    while let node = child {
      if Self.name(node.pointee) == "title" {
        var words: [UInt8] = []
        var part = node.pointee.children
        while let one = part {
          if let content = one.pointee.content { words += String(cString: content).utf8 }
          part = one.pointee.next
        }
        words = WindowsCharacters.replacingControls(in: words)
        title = PlainText.line(String(decoding: words, as: UTF8.self)).map { Array($0.utf8) }
        return
      }
      child = node.pointee.next
    }
  }

  private static func name(_ node: Node) -> String { node.name.map { String(cString: $0) } ?? "" }

  /// Appends text with single spaces for white space, as browsers show it.
  private mutating func appendText(_ string: String) {
    if headingHasLetter == false { headingHasLetter = Self.hasLetter(string.utf8) }
    if preformattedDepth > 0 { return appendPreformatted(string) }
    for byte in string.utf8 {
      if byte == Self.space || (0x09...0x0D).contains(byte) {
        if let last = text.last, !Self.isWhite(last) { text.append(Self.space) }
      } else {
        text.append(byte)
      }
    }
  }

  private mutating func appendPreformatted(_ string: String) {
    for byte in string.utf8 where byte != UInt8(ascii: "\r") {
      if byte == Self.newline { removeSpace() }
      // A line break after the tag is none of the text.
      if byte != Self.newline || !text.isEmpty && !text.suffix(2).elementsEqual("\n\n".utf8) {
        text.append(byte)
      }
    }
  }

  /// True for the white space that the text has.
  private static func isWhite(_ byte: UInt8) -> Bool { byte == space || byte == tab || byte == newline }

  private mutating func removeWhite(after start: Int) {
    while text.count > start, let last = text.last, Self.isWhite(last) { text.removeLast() }
  }

  private mutating func removeSpace() {
    while text.last == Self.space || text.last == Self.tab { text.removeLast() }
  }

  private mutating func breakLine() {
    // Nothing of a cell comes before its first paragraph.
    if cellStarts.last == text.count { return }
    removeSpace()
    guard !text.isEmpty, !text.suffix(2).elementsEqual("\n\n".utf8) else { return }
    text += text.last == Self.newline ? "\n".utf8 : "\n\n".utf8
    blanks = (blanks.1, text.count)
  }

  /// Ends a cell with a tab, or with a blank line if it has several paragraphs.
  private mutating func leaveCell() {
    guard let start = cellStarts.popLast() else { return }
    removeWhite(after: start)
    // What ended its last paragraph is removed.
    if blanks.1 > text.count { blanks.1 = blanks.0 }
    if blanks.1 > start {
      breakLine()
    } else {
      text.append(Self.tab)
    }
  }

  /// Rows of a table have a line each, with tabs between cells.
  private mutating func breakRow() {
    removeSpace()
    if let last = text.last, last != Self.newline { text.append(Self.newline) }
  }
}
