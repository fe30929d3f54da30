import BertQACore

/// An open file with a document: a page, mail, or any other text.
struct DocumentFile {
  enum Form {
    case page, mail, markdown, text
  }

  static let help =
    "Files are texts, HTML (read by the library libxml2), mail (by GMime) and Markdown (by MD4C, without its marks); they "
    + "may be compressed with gzip or zstd."

  let input: Input
  let form: Form
  /// In lower case, without the ending of a compressed file.
  let name: String
  private let beginning: UnsafeBufferPointer<UInt8>

  /// Opens the file and reads its beginning, which decides where the name does not.
  init(_ file: ArgumentText) throws(ToolError) {
    input = try Input(file)
    name = Compression.inner(input.shown).lowercased()
    try input.decompress(byContent: true)
    beginning = try input.beginning(TextForm.sampleSize)
    let text = UnsafeBufferPointer(rebasing: beginning.dropFirst(beginning.byteOrderMarkSize))
    if [".html", ".htm", ".xhtml"].contains(where: name.hasSuffix) {
      form = .page
    } else if Mailbox.endings.contains(where: name.hasSuffix) {
      form = .mail
    } else if MarkdownDocument.isMarkdown(name) {
      form = .markdown
    } else if !file.isStandardInput && Mailbox.isInMaildir(file.string) || Mailbox.isMail(text) {
      form = .mail
    } else {
      form = HTMLDocument.isPage(text) ? .page : .text
    }
  }

  /// Throws if the size of the file or its beginning shows that it is no text.
  func check(_ reading: InputText.Reading) throws(ToolError) {
    if form == .mail { return }
    try InputText.checkSize(input)
    _ = try self.reading(reading).form(beginning, input.shown)
  }

  func page(_ reading: InputText.Reading) throws(ToolError) -> HTMLDocument {
    let text = try source(reading)
    defer { withExtendedLifetime(text) {} }
    return try HTMLDocument(text.bytes, isUTF8: reading.encoding != nil)
  }

  func mailbox() throws(ToolError) -> Mailbox { try Mailbox(input, beginning) }

  /// Returns the file as it is, in UTF-8.
  func source(_ reading: InputText.Reading) throws(ToolError) -> InputText {
    try InputText(input, self.reading(reading))
  }

  /// Returns the text of a page, of Markdown, or of mail: one message after the other. Other texts are read as they
  /// are, and so is Markdown that is not valid or whose library is missing.
  func text(_ reading: InputText.Reading) throws(ToolError) -> InputText {
    do throws(ToolError) {
      switch form {
      case .page: return try InputText(copying: page(reading).text, hasLines: false)
      case .mail: return try mailText()
      case .markdown: return try markdownText(source(reading))
      case .text: return try source(reading)
      }
    } catch {
      throw ToolError(error.code, error.message(about: input.shown))
    }
  }

  private func markdownText(_ source: InputText) throws(ToolError) -> InputText {
    guard MarkdownDocument.isSupported, source.isDecodable, source.bytes.isValidUTF8 else { return source }
    defer { withExtendedLifetime(source) {} }
    return try InputText(copying: MarkdownDocument(source.bytes).text)
  }

  private func mailText() throws(ToolError) -> InputText {
    let mailbox = try mailbox()
    var text: [UInt8] = []
    var isComplete = true
    func tell(_ problem: String) {
      report("\(input.shown): \(problem)")
      isComplete = false
    }
    while let message = try mailbox.next(tell) {
      if !text.isEmpty, !message.text.isEmpty { text += "\n\n".utf8 }
      text += message.text
      if text.count > InputText.limit { throw InputText.tooLarge(input.shown) }
    }
    return try InputText(copying: text, hasLines: false, isComplete: isComplete)
  }

  /// Allows control characters in pages: some encodings that pages name use them.
  private func reading(_ reading: InputText.Reading) -> InputText.Reading {
    var reading = reading
    reading.mayHaveControls = form == .page
    return reading
  }
}
