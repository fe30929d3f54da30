/// The names of prompts that every model has in sentence-transformers, with an empty prompt unless the model has
/// another.
package enum PromptName {
  package static let query = "query"
  package static let document = "document"
}

/// The prompts of an embedding model for the texts of a kind, such as "query: ", by their names.
struct EmbeddingPrompts: Sendable, Equatable {
  /// In the order of the file.
  var texts: [(name: String, text: String)] = []
  /// The name of the prompt that applies if the caller names none.
  var defaultName: String?
  /// False: a vector excludes the prompt's tokens and the special tokens before it.
  var isPooled = true

  private static let usual = [PromptName.query, PromptName.document]

  private enum Key {
    static let texts = "prompts"
    static let defaultName = "default_prompt_name"
    static let isPooled = "include_prompt"
  }

  static func == (a: Self, b: Self) -> Bool {
    (a.defaultName, a.isPooled) == (b.defaultName, b.isPooled)
      && a.texts.elementsEqual(b.texts) { ($0.name, $0.text) == ($1.name, $1.text) }
  }

  init() {}

  /// Reads `config_sentence_transformers.json`, or the "bertqa" object of `config.json`.
  init(_ reader: ObjectReader) throws(BertQAError) {
    if let prompts = try reader.reader(Key.texts) {
      var places: [String: Int] = [:]
      for member in prompts.object.members {
        let text =
          switch member.value {
          case .string(let text): text
          case .null: ""
          default: throw prompts.mismatch(member.key, member.value, expected: "a string")
          }
        // Of equal names the last one counts.
        if let place = places[member.key] {
          texts[place].text = text
        } else {
          places[member.key] = texts.count
          texts.append((member.key, text))
        }
      }
    }
    defaultName = try reader.string(Key.defaultName)
    isPooled = try reader.bool(Key.isPooled) ?? true
    guard let defaultName, self[defaultName] == nil else { return }
    throw BertQAError(
      .invalidModel,
      "\(reader.file): \(quoted(Key.defaultName)) is \(quoted(defaultName)), which is not among \"prompts\"")
  }

  /// Reads `config_sentence_transformers.json`, if the directory has it.
  init(_ directory: ModelDirectory) throws(BertQAError) {
    let name = "config_sentence_transformers.json"
    guard directory.exists(name) else {
      self.init()
      return
    }
    let reader = try directory.object(in: name)
    if let length = reader.value("truncate_dim") {
      throw BertQAError(
        .unsupported,
        "\(reader.file): \"truncate_dim\" is \(length.summary); only null is supported: remove the key and shorten "
          + "the vectors yourself")
    }
    try self.init(reader)
  }

  /// Writes the prompts as members of "bertqa".
  func write(to own: inout JSON.Object) {
    if !texts.isEmpty {
      var prompts = JSON.Object()
      for prompt in texts {
        prompts.members.append(JSON.Object.Member(key: prompt.name, value: .string(prompt.text)))
      }
      own[Key.texts] = .object(prompts)
    }
    if let defaultName { own[Key.defaultName] = .string(defaultName) }
    if !isPooled { own[Key.isPooled] = .bool(false) }
  }

  /// Adds the tasks of a model with adapters as names, with their instructions.
  mutating func add(_ tasks: [String], _ reader: ObjectReader) throws(BertQAError) {
    let instructions = try reader.reader("task_instructions")
    for task in tasks where !texts.contains(where: { $0.name == task }) {
      texts.append((task, try instructions?.string(task) ?? ""))
    }
  }

  /// Removes and returns the first piece of the prompt of this name: the whole prompt, because "[Q] " may be one
  /// piece, or its part up to white space. Returns nil and changes nothing if neither is a piece.
  mutating func takeMarker(_ name: String, isPiece: (String) -> Bool) -> String? {
    guard let index = texts.firstIndex(where: { $0.name == name }) else { return nil }
    let text = texts[index].text
    for piece in [text, String(text.prefix { !$0.isWhitespace })] where !piece.isEmpty && isPiece(piece) {
      texts[index].text = String(text.dropFirst(piece.count))
      return piece
    }
    return nil
  }

  subscript(name: String) -> String? {
    texts.first { $0.name == name }?.text ?? (Self.usual.contains(name) ? "" : nil)
  }

  /// Returns the name that a call gives, else the model's default. nil if the call has its own text and no name.
  func name(_ name: String?, otherwise prompt: String?) -> String? {
    name ?? (prompt == nil ? defaultName : nil)
  }

  /// Returns the text that a call puts before its texts: `prompt`, else that of the name, else the model's default.
  func text(named name: String?, otherwise prompt: String?) throws(BertQAError) -> [UInt8] {
    if let prompt {
      try Memory.require(prompt.utf8.count)
      return Array(prompt.utf8)
    }
    guard let name = self.name(name, otherwise: nil) else { return [] }
    if let text = self[name] { return Array(text.utf8) }
    let names = texts.map(\.name) + Self.usual.filter { usual in !texts.contains { $0.name == usual } }
    throw BertQAError(
      .invalidArgument, argument: "prompt_name",
      "is \(quoted(name)); the model has \(names.prefix(32).map(quoted).joined(separator: ", "))")
  }
}
