/// The text and title of an HTML page, by libxml2's parser, which is opened on demand.
struct HTMLDocument {
  private(set) var title: [UInt8]?
  /// Paragraphs, headings and items are apart by blank lines.
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
  }

  private typealias Read =
    @convention(c) (
      UnsafePointer<UInt8>?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int32
    ) -> UnsafeMutableRawPointer?
  private typealias Root = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  private typealias Free = @convention(c) (UnsafeMutableRawPointer?) -> Void

  private static let (element, textNode, cdata): (Int32, Int32, Int32) = (1, 3, 4)
  /// HTML_PARSE_RECOVER, _NOERROR, _NOWARNING and _NONET: it reads what it can, prints nothing, and fetches nothing.
  private static let options: Int32 = 1 | 1 << 5 | 1 << 6 | 1 << 11

  /// What has no text of the page.
  private static let skipped: Set<String> = [
    "script", "style", "template", "noscript", "svg", "math", "nav", "iframe", "object", "select", "textarea",
    "button", "head",
  ]
  /// The elements whose text has its own lines.
  private static let blocks: Set<String> = [
    "address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li",
    "main",
    "ol", "p", "pre", "section", "summary", "table", "tr", "ul",
  ]
  private static let cells: Set<String> = ["td", "th"]

  /// - Parameter encoding: nil: the page says it, or it is detected.
  init(_ page: UnsafeBufferPointer<UInt8>, encoding: TextEncoding?) throws(ToolError) {
    let library = try SharedLibrary(
      "libxml2.so.2", "libxml2.so.16", for: "HTML", library: "the library libxml2", package: "libxml2")
    let read = try library.function("htmlReadMemory", as: Read.self)
    let root = try library.function("xmlDocGetRootElement", as: Root.self)
    let free = try library.function("xmlFreeDoc", as: Free.self)
    guard page.count <= Int(Int32.max) else { throw ToolError(.input, "the page is too large: split it") }
    // Without a declaration libxml2 reads Latin-1; most pages without one are UTF-8.
    let isUTF8 = encoding == nil && page.isValidUTF8
    guard
      let document = read(
        page.baseAddress, Int32(page.count), nil, encoding?.name ?? (isUTF8 ? "UTF-8" : nil), Self.options)
    else { return }
    defer { free(document) }
    var node = root(document)?.assumingMemoryBound(to: Node.self)
    // Without recursion: pages may be nested deeply.
    while let current = node {
      if let child = try enter(current.pointee) {
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
    while text.last.map({ $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: " ") }) == true { text.removeLast() }
  }

  /// libxml2 drops what a text between two elements has beyond 10 MB, by up to 64 KiB.
  private static let longestText = 10_000_000 - 1 << 16

  /// Returns the first child to visit; nil for none.
  private mutating func enter(_ node: Node) throws(ToolError) -> UnsafeMutablePointer<Node>? {
    switch node.type {
    case Self.element:
      let name = Self.name(node)
      if name == "head" { findTitle(node) }
      if Self.skipped.contains(name) { return nil }
      if Self.blocks.contains(name) { breakLine() }
      if name == "br" { append("\n") }
      return node.children
    case Self.textNode, Self.cdata:
      guard let content = node.content else { return nil }
      let part = String(cString: content)
      if part.utf8.count > Self.longestText {
        throw ToolError(
          .input,
          "the page has 10 MB of text without a tag, of which libxml2 reads no more: convert it to text first"
        )
      }
      appendText(part)
    default: break
    }
    return nil
  }

  private mutating func leave(_ node: Node) {
    guard node.type == Self.element else { return }
    let name = Self.name(node)
    if Self.blocks.contains(name) { breakLine() }
    if Self.cells.contains(name), text.last != UInt8(ascii: "\n") { append(" ") }
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
        title = PlainText.line(String(decoding: words, as: UTF8.self)).map { Array($0.utf8) }
        return
      }
      child = node.pointee.next
    }
  }

  private static func name(_ node: Node) -> String { node.name.map { String(cString: $0) } ?? "" }

  private mutating func append(_ string: String) { text += string.utf8 }

  /// Appends text with single spaces for white space, as browsers show it.
  private mutating func appendText(_ string: String) {
    for byte in string.utf8 {
      if byte == 0x20 || (0x09...0x0D).contains(byte) {
        if let last = text.last, last != UInt8(ascii: " "), last != UInt8(ascii: "\n") {
          text.append(UInt8(ascii: " "))
        }
      } else {
        text.append(byte)
      }
    }
  }

  private mutating func breakLine() {
    while text.last == UInt8(ascii: " ") { text.removeLast() }
    guard !text.isEmpty, !text.suffix(2).elementsEqual("\n\n".utf8) else { return }
    append(text.last == UInt8(ascii: "\n") ? "\n" : "\n\n")
  }
}
