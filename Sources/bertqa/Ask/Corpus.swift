import BertQACore

/// A source of texts for questions.
protocol Corpus {
  /// True if answers are shown with the name of their text.
  var hasSeveralTexts: Bool { get }
  /// Returns the texts to read for a question.
  func texts(for question: String) throws(ToolError) -> [AskedText]
}

/// One text and its displayed name.
final class AskedText {
  let name: String
  let bytes: UnsafeBufferPointer<UInt8>
  /// Keeps the bytes alive.
  private let owner: InputText

  init(name: String, _ text: InputText) {
    self.name = name
    owner = text
    bytes = text.bytes
  }

  /// Returns a place such as "report.txt, line 12".
  func place(ofByte byte: Int) -> String {
    let line = bytes[..<byte].count { $0 == UInt8(ascii: "\n") } + 1
    return bytes.contains(UInt8(ascii: "\n")) ? "\(name), line \(line)" : name
  }
}

/// Files, all of which are read for every question.
struct FileCorpus: Corpus {
  private let files: [AskedText]

  /// - Parameter files: texts that were already read.
  init(_ files: [AskedText]) { self.files = files }

  var hasSeveralTexts: Bool { files.count > 1 }

  func texts(for question: String) -> [AskedText] { files }
}
