/// A static embedding model: a tokenizer and a table with a row for each of its ids. The vector of a text is the mean
/// of its tokens' rows. Immutable.
///
/// Two packages write them. model2vec's have a `config.json`; sentence-transformers' are a module `StaticEmbedding` of
/// `modules.json`. Both read `tokenizer.json` alone, add no special tokens, and differ in what `Form` lists.
final class StaticModel: Sendable {
  let form: Form
  let tokenizer: TokenizerFiles
  /// [rows][width]
  let table: TensorView
  /// The row of each id; nil: the id.
  let rows: [Int32]?
  /// The factor of each id's row; nil: 1.
  let factors: [Float]?
  let normalizes: Bool
  let prompts: EmbeddingPrompts
  /// The tokens of a text that the package reads, if it does not read all.
  let limit: Limit?
  /// The files and copies that the table points into.
  private let owners: [any AnyObject & Sendable]

  enum Form: Sendable {
    /// Omits unknown tokens.
    case model2vec
    case sentenceTransformers
  }

  struct Limit: Sendable {
    var tokens: Int
    /// Before it makes tokens, model2vec cuts a text to this many code points for each token.
    var charactersPerToken: Int?
  }

  var width: Int { table.rowWidth }

  /// The id of the tokens that are omitted.
  var ignoredID: Int32? { form == .model2vec ? tokenizer.pipeline.model.unknownID : nil }

  var architecture: Architecture { form == .model2vec ? .model2vec : .staticEmbedding }

  /// nil if the directory has no such model.
  init?(_ directory: ModelDirectory) throws(BertQAError) {
    let folder = try directory.staticEmbeddingFolder()
    if directory.exists("config.json") {
      let source = try directory.object(in: "config.json")
      let isNamed = try Architecture.isModel2Vec(source)
      guard folder != nil || isNamed else { return nil }
      form = .model2vec
      tokenizer = try TokenizerFiles(tokenizerJSONAlone: directory)
      normalizes = try source.bool("normalize") ?? false
      // A null is no limit.
      let key = "max_length"
      prompts = EmbeddingPrompts()
      limit =
        if source.object[key] == .null {
          nil
        } else {
          Limit(
            tokens: try source.integer(key, in: 1...(1 << 30)) ?? 512,
            charactersPerToken: tokenizer.medianPieceLength)
        }
    } else if let folder {
      form = .sentenceTransformers
      let modules = try directory.modules()
      try Self.checkModules(modules)
      normalizes = modules.count > 1
      prompts = try EmbeddingPrompts(directory)
      let own = directory.inFolder(folder)
      tokenizer = try TokenizerFiles(tokenizerJSONAlone: own)
      limit = try own.object(in: "tokenizer.json", limit: ModelFile.jsonLimit).reader("truncation").map {
        truncation throws(BertQAError) in
        try truncation.require("direction", .string("Right"))
        return Limit(
          tokens: try truncation.requiredInteger("max_length", in: 0...(1 << 30)))
      }
    } else {
      return nil
    }
    let own = directory.inFolder(folder ?? "")
    let checkpoint = try Checkpoint(own)
    let loader = WeightLoader(checkpoint, prefix: "", directory.monitor)
    // sentence-transformers also reads model2vec's names.
    let name = checkpoint.has("embedding.weight") ? "embedding.weight" : "embeddings"
    table = try loader.table(name)
    let count = tokenizer.vocabularySize
    factors = try loader.has("weights") ? loader.numbers("weights", atLeast: count) : nil
    rows =
      try loader.has("mapping")
      ? loader.indices("mapping", atLeast: count, below: table.rowCount) : nil
    owners = loader.owners
    guard rows != nil || count <= table.rowCount else {
      throw BertQAError(
        .invalidModel,
        "\(tokenizer.vocabularyFile.path): \(count) pieces, but the tensor \(quoted(name)) has \(table.rowCount) rows: "
          + "the vocabulary belongs to another model")
    }
  }

  private static func checkModules(_ modules: [ObjectReader]) throws(BertQAError) {
    let kinds = try modules.map { module throws(BertQAError) in
      String(try module.string("type")?.split(separator: ".").last ?? "")
    }
    guard kinds.dropFirst().allSatisfy({ $0 == "Normalize" }) else {
      throw BertQAError(
        .unsupported,
        "\(modules[0].file): modules \(kinds.prefix(8).map(quoted).joined(separator: ", ")); supported behind "
          + "StaticEmbedding: Normalize")
    }
  }
}

extension Architecture {
  /// True for a `config.json` of model2vec.
  static func isModel2Vec(_ source: ObjectReader) throws(BertQAError) -> Bool {
    if try source.string("model_type") == "model2vec" { return true }
    guard case .array(let names)? = source.value("architectures") else { return false }
    return names.contains(.string(Architecture.model2vec.name))
  }
}

extension ModelDirectory {
  /// Returns the directory of a static model's tokenizer and table; nil if the directory has no such model.
  func ofStaticModel() throws(BertQAError) -> ModelDirectory? {
    if let folder = try staticEmbeddingFolder() { return inFolder(folder) }
    guard exists("config.json") else { return nil }
    return try Architecture.isModel2Vec(object(in: "config.json")) ? self : nil
  }

  /// Returns the folder of a module `StaticEmbedding` that begins `modules.json`; nil if there is none. "": the
  /// directory itself.
  fileprivate func staticEmbeddingFolder() throws(BertQAError) -> String? {
    guard exists("modules.json"), let first = try modules().first,
      try first.string("type")?.hasSuffix(".StaticEmbedding") == true
    else { return nil }
    return try Self.folder(of: first)
  }
}

extension TokenizerFiles {
  /// The median of the pieces' lengths in code points.
  fileprivate var medianPieceLength: Int {
    let vocabulary = pipeline.model.vocabulary
    // By length: the number of pieces.
    var counts: [Int] = []
    for id in 0..<Int32(clamping: vocabularySize) {
      let piece = spelling(of: id) ?? (id < vocabulary.count ? vocabulary.piece(id) : nil)
      // Ids without a piece have an empty spelling.
      guard let piece, !piece.isEmpty else { continue }
      let length = piece.reduce(0) { $1 & 0xC0 == 0x80 ? $0 : $0 + 1 }
      while counts.count <= length { counts.append(0) }
      counts[length] += 1
    }
    let total = counts.reduce(0, +)
    guard total > 0 else { return 0 }
    /// The length at a place of the sorted list.
    func length(at place: Int) -> Int {
      var (length, behind) = (0, counts[0])
      while behind <= place {
        length += 1
        behind += counts[length]
      }
      return length
    }
    return (length(at: (total - 1) / 2) + length(at: total / 2)) / 2
  }
}
