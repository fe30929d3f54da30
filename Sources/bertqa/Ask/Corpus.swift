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
  /// The text, or the tokens made of it for the first question.
  fileprivate(set) var document: QuestionItem.Document
  /// Keeps the bytes alive.
  private let owner: InputText

  init(name: String, _ text: InputText) {
    self.name = name
    owner = text
    bytes = text.bytes
    document = .text(text.bytes)
  }

  /// Returns a place such as "report.txt, line 12".
  func place(ofByte byte: Int) -> String {
    let line = bytes[..<byte].count { $0 == UInt8(ascii: "\n") } + 1
    return bytes.contains(UInt8(ascii: "\n")) ? "\(name), line \(line)" : name
  }
}

/// Files, of which the sections that match best are read for each question.
struct FileCorpus: Corpus {
  private let files: [AskedText]
  private let context: Context
  private let limits: CallLimits

  /// - Parameter files: texts that were already read.
  init(_ files: [AskedText], _ context: Context, _ limits: CallLimits) {
    self.files = files
    self.context = context
    self.limits = limits
  }

  var hasSeveralTexts: Bool { files.count > 1 }

  /// Tokenizes the files for the first question.
  func texts(for question: String) throws(ToolError) -> [AskedText] {
    for file in files {
      guard case .text(let bytes) = file.document else { continue }
      file.document = .prepared(
        try ofCore(AskCommand.invocation) { () throws(BertQAError) in
          var call = CallOptions()
          limits.limit(&call)
          return try context.prepare(bytes, call: call)
        })
    }
    return files
  }
}
