import BertQACore

/// A source of texts for questions.
protocol Corpus {
  /// True if answers are shown with the name of their text.
  var hasSeveralTexts: Bool { get }
  /// Returns the texts to read for a question.
  /// - Parameter call: the question's.
  func texts(for question: [UInt8], _ call: CallOptions) throws(ToolError) -> AskedTexts
}

/// The texts to read for a question.
struct AskedTexts {
  let texts: [AskedText]
  /// The search that found them and ranks them; nil: they are ranked by the question's words.
  var search: PassageSearch?
}

/// One text and its place.
final class AskedText {
  private enum Place {
    case named(String)
    case passage(CollectionPassage)
  }

  let bytes: UnsafeBufferPointer<UInt8>
  /// The text, or the tokens made of it for the first question.
  fileprivate(set) var document: QuestionItem.Document
  private let place: Place
  /// Keeps the bytes alive.
  private let owner: InputText

  private init(_ place: Place, _ text: InputText) {
    self.place = place
    owner = text
    bytes = text.bytes
    document = .text(text.bytes)
  }

  convenience init(name: String, _ text: InputText) { self.init(.named(name), text) }

  convenience init(_ passage: CollectionPassage) throws(ToolError) {
    self.init(.passage(passage), try InputText(copying: passage.text))
  }

  /// The column that tells where an answer is: the text's name, or the place in a collection.
  func source(ofByte byte: Int) -> String {
    switch place {
    case .named(let name): name
    case .passage(let passage): passage.place(ofByte: byte)
    }
  }

  /// Returns a place such as "report.txt, line 12".
  func place(ofByte byte: Int) -> String {
    switch place {
    case .named(let name):
      let line = bytes[..<byte].count { $0 == UInt8(ascii: "\n") } + 1
      return owner.hasLines && bytes.contains(UInt8(ascii: "\n")) ? "\(name), line \(line)" : name
    case .passage(let passage):
      let place = passage.place(ofByte: byte)
      return passage.title.map { "\(place)  \($0)" } ?? place
    }
  }

  /// Writes the members of an object that tell the place.
  func writePlace(ofByte byte: Int, to writer: inout JSONWriter) {
    switch place {
    case .named(let name):
      writer.string("file", name)
    case .passage(let passage):
      passage.writePlace(ofByte: byte, to: &writer)
      writer.integer("passage_start", passage.start)
    }
  }
}

/// Files, of which the sections that match best are read for each question.
struct FileCorpus: Corpus {
  private let files: [AskedText]
  private let context: Context

  /// - Parameter files: texts that were already read.
  init(_ files: [AskedText], _ context: Context) {
    self.files = files
    self.context = context
  }

  var hasSeveralTexts: Bool { files.count > 1 }

  /// Tokenizes the files for the first question.
  func texts(for question: [UInt8], _ call: CallOptions) throws(ToolError) -> AskedTexts {
    for file in files {
      guard case .text(let bytes) = file.document else { continue }
      file.document = .prepared(
        try ofCore(AskCommand.invocation) { () throws(BertQAError) in
          try context.prepare(bytes, call: call)
        })
    }
    return AskedTexts(texts: files)
  }
}

/// The passages of a collection that a search finds.
struct CollectionCorpus: Corpus {
  let collection: PassageCollection
  /// The number of passages that are read for a question.
  let passageCount: Int
  let filter: DocumentFilter
  /// nil if the collection has no vectors.
  private let embedder: Context?

  let hasSeveralTexts = true

  /// - Parameter model: the embedding model, which is loaded if the collection has vectors.
  init(
    _ collection: PassageCollection, passageCount: Int, _ filter: DocumentFilter, model: ModelChoice
  ) throws(ToolError) {
    self.collection = collection
    self.passageCount = passageCount
    self.filter = filter
    embedder = try collection.embedder(model)
  }

  func texts(for question: [UInt8], _ call: CallOptions) throws(ToolError) -> AskedTexts {
    collection.database.limit(deadline: call.deadline)
    let found = try collection.search(
      question, count: passageCount, filter, embedder, command: AskCommand.invocation, call: call)
    let texts = try found.hits.map { hit throws(ToolError) in try AskedText(hit.passage) }
    return AskedTexts(texts: texts, search: found.search)
  }
}
