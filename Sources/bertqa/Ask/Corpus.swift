import BertQACore

/// What is asked: where the texts to a question come from.
protocol Corpus {
  /// Whether answers are shown with the text that they are from.
  var hasSeveralTexts: Bool { get }
  /// The texts to read for a question.
  func texts(for question: String) throws(ToolError) -> [AskedText]
}

/// One text, and what people call it.
final class AskedText {
  let name: String
  let bytes: UnsafeBufferPointer<UInt8>
  /// Keeps the bytes.
  private let owner: InputText

  init(name: String, _ text: InputText) {
    self.name = name
    owner = text
    bytes = text.bytes
  }

  /// "report.txt, line 12" for a place.
  func place(ofByte byte: Int) -> String {
    let line = bytes[..<byte].count { $0 == UInt8(ascii: "\n") } + 1
    return bytes.contains(UInt8(ascii: "\n")) ? "\(name), line \(line)" : name
  }
}

/// Files, all of which are read for every question.
struct FileCorpus: Corpus {
  private let files: [AskedText]

  /// - Parameter files: read already.
  init(_ files: [AskedText]) { self.files = files }

  var hasSeveralTexts: Bool { files.count > 1 }

  func texts(for question: String) -> [AskedText] { files }
}
