/// The settings of a model that finds entities by any label, which it reads before the text: GLiNER (Zaratiana et al.
/// 2023, https://arxiv.org/abs/2311.08526). They are in `gliner_config.json`.
///
/// Such a model has an encoder of one of the families, an LSTM that reads words in both directions, and layers that
/// score spans of words for labels.
struct PromptedEntities: Sendable {
  /// What the last layers score for a label.
  enum SpanMode: String {
    /// Every span, by vectors of its first and its last word.
    case markers = "markerV0"
    /// Every word as the first, as the last and as any word of an entity.
    case tokens = "token_level"
  }

  var spanMode: SpanMode
  /// The number of words in the longest span; not used for `tokens`.
  var maxWidth: Int
  /// The number of words that a window may have.
  var maxWords: Int
  /// The number of features of words, spans and labels.
  var width: Int
  /// The number of LSTM layers over the words.
  var recurrentLayerCount: Int
  /// The token before each label, and the one after the last label.
  var labelToken: String
  var separatorToken: String
  /// The id of `labelToken`, for tokenizers that lack it; the separator's follows.
  var labelID: Int32?
  /// True if a label has the vector of the token before it, false if that of its first token.
  var readsLabelToken: Bool
  /// The number of rows of the word embeddings; nil: as the encoder's settings say.
  var vocabularySize: Int?

  static let fileName = "gliner_config.json"
  static let architectureName = "GLiNER"
  /// The prefix of the encoder's tensors.
  static let encoderPrefix = "token_rep_layer.bert_layer.model."

  /// The tokens that a window has room for if the encoder's arithmetic has no limit: `maxWords` words of several
  /// tokens.
  static let fewestPositions = 1024

  /// The threshold of scores if the caller sets none, as in the package gliner.
  static let defaultThreshold: Float = 0.5
}

extension PromptedEntities {
  /// - Parameter reader: `gliner_config.json`.
  init(_ reader: ObjectReader) throws(BertQAError) {
    let mode = try reader.string("span_mode") ?? SpanMode.markers.rawValue
    guard let spanMode = SpanMode(rawValue: mode) else {
      throw BertQAError(
        .unsupported,
        "\(reader.file): \"span_mode\" is \(quoted(mode)); only \"markerV0\" and \"token_level\" are supported"
      )
    }
    self.spanMode = spanMode
    for (key, value) in [
      ("subtoken_pooling", "first"), ("post_fusion_schema", ""), ("words_splitter_type", "whitespace"),
    ] { try reader.require(key, .string(value)) }
    for key in ["fuse_layers", "precomputed_prompts_mode"] { try reader.require(key, .bool(false)) }
    if spanMode == .tokens { try reader.require("represent_spans", .bool(false)) }
    for key in ["labels_encoder", "labels_decoder", "relations_layer", "span_encoder_config"] {
      try reader.require(key, .null)
    }
    maxWidth = try reader.integer("max_width", in: 1...1024) ?? 12
    maxWords = try reader.integer("max_len", in: 1...(1 << 16)) ?? 384
    width = try reader.integer("hidden_size", in: 1...(1 << 14)) ?? 512
    recurrentLayerCount = try reader.integer("num_rnn_layers", in: 0...64) ?? 1
    guard width % 2 == 0 || recurrentLayerCount == 0 else {
      throw BertQAError(
        .invalidModel,
        "\(reader.file): \"hidden_size\" is \(width), but must be even: an LSTM has half of it for each direction"
      )
    }
    labelToken = try reader.string("ent_token") ?? "<<ENT>>"
    separatorToken = try reader.string("sep_token") ?? "<<SEP>>"
    readsLabelToken = try reader.bool("embed_ent_token") ?? true
    // -1 stands for a number that is not known.
    let id = try reader.integer("class_token_index", in: -1...(1 << 24)) ?? -1
    labelID = id < 0 ? nil : Int32(id)
    let rows = try reader.integer("vocab_size", in: -1...(1 << 24)) ?? -1
    vocabularySize = rows < 0 ? nil : rows
  }
}

/// The files of such a model.
struct PromptedModelFiles {
  let settings: PromptedEntities
  /// `gliner_config.json`.
  let own: ObjectReader
  /// The settings of the encoder.
  let source: ObjectReader
  let architecture: Architecture
  /// Has the weights.
  let directory: ModelDirectory
  /// Has the tokenizer.
  let tokenizerDirectory: ModelDirectory

  /// nil if the directory has no such model. The encoder's settings are in `encoder_config`, else in a `config.json`
  /// of this directory or of the encoder that `model_name` names: a model on the Hugging Face Hub, in the local cache.
  /// So is the tokenizer.
  init?(_ directory: ModelDirectory) throws(BertQAError) {
    guard directory.exists(PromptedEntities.fileName) else { return nil }
    let reader = try directory.object(in: PromptedEntities.fileName)
    settings = try PromptedEntities(reader)
    own = reader
    self.directory = directory
    let name = try reader.string("model_name") ?? "microsoft/deberta-v3-small"
    let base = HubCache.directory(of: name).map { directory.replaced(by: $0) }
    if let own = try reader.reader("encoder_config") {
      source = own
    } else if directory.exists("config.json") {
      source = try directory.object(in: "config.json")
    } else if let base {
      source = try base.object(in: "config.json")
    } else {
      throw BertQAError(
        .invalidModel,
        "\(reader.file): has no \"encoder_config\", and neither the directory nor the local cache has the config.json of "
          + "its encoder: copy the config.json and the tokenizer's files of \(quoted(name)) into the directory"
      )
    }
    let type = try source.string("model_type") ?? "deberta-v2"
    guard let family = Architecture.family(type: type)?.0 else {
      throw BertQAError(
        .unsupported, "\(source.file): the encoder's \"model_type\" \(quoted(type)) is not supported")
    }
    architecture = Architecture(name: PromptedEntities.architectureName, kind: .prompted(family))
    let hasTokenizer = ["tokenizer.json", "spm.model", "sentencepiece.bpe.model", "vocab.txt", "vocab.json"]
      .contains { directory.exists($0) }
    guard let tokenizers = hasTokenizer ? directory : base else {
      throw BertQAError(
        .invalidModel,
        "\(directory.name): has no tokenizer: copy the tokenizer's files of \(quoted(name)) into the directory"
      )
    }
    tokenizerDirectory = tokenizers
  }
}

/// The layers after the encoder of such a model.
struct PromptedWeights: Sendable {
  /// second(relu(first(x)))
  struct Projection: Sendable {
    var first: LinearWeights
    var second: LinearWeights
  }

  /// One direction of an LSTM layer, with PyTorch's order of gates.
  struct Direction: Sendable {
    /// From the layer's input; 4 · width / 2 outputs.
    var input: LinearWeights
    /// From the direction's own h.
    var state: LinearWeights
  }

  /// Layers that score spans (`SpanMode.markers`).
  struct Markers: Sendable {
    let start: Projection
    let end: Projection
    /// Reads the vectors of a span's first and last word, one after the other.
    let span: Projection
    let label: Projection
  }

  /// Layers that score words (`SpanMode.tokens`).
  struct Tokens: Sendable {
    /// They make two vectors each, one after the other.
    let token: LinearWeights
    let label: LinearWeights
    /// Reads the first vector of a word, that of a label, and the product of the second ones. Its three outputs are the
    /// logits of the first word, the last word and any word of an entity.
    let both: Projection
  }

  enum Spans: Sendable {
    case markers(Markers)
    case tokens(Tokens)
  }

  let settings: PromptedEntities
  /// `gliner_config.json`.
  let source: ObjectReader
  /// By layer; each has the direction of the text, then the other one.
  let recurrent: [[Direction]]
  let spans: Spans

  init(_ loader: inout WeightLoader, _ files: PromptedModelFiles) throws(BertQAError) {
    settings = files.settings
    source = files.own
    let width = settings.width
    var recurrent: [[Direction]] = []
    for layer in 0..<settings.recurrentLayerCount {
      var directions: [Direction] = []
      for suffix in ["", "_reverse"] {
        func part(_ kind: String, _ ins: Int) throws(BertQAError) -> LinearWeights {
          let name = "rnn.lstm."
          return LinearWeights(
            weight: try loader.floats(
              "\(name)weight_\(kind)_l\(layer)\(suffix)", shape: [2 * width, ins]),
            bias: try loader.vector("\(name)bias_\(kind)_l\(layer)\(suffix)", count: 2 * width))
        }
        directions.append(Direction(input: try part("ih", width), state: try part("hh", width / 2)))
      }
      recurrent.append(directions)
    }
    func projection(_ name: String, ins: Int, outs: Int) throws(BertQAError) -> Projection {
      Projection(
        first: try loader.linear("\(name).0", outs: 4 * width, ins: ins),
        second: try loader.linear("\(name).3", outs: outs, ins: 4 * width))
    }
    self.recurrent = recurrent
    switch settings.spanMode {
    case .markers:
      let spans = "span_rep_layer.span_rep_layer."
      self.spans = .markers(
        Markers(
          start: try projection(spans + "project_start", ins: width, outs: width),
          end: try projection(spans + "project_end", ins: width, outs: width),
          span: try projection(spans + "out_project", ins: 2 * width, outs: width),
          label: try projection("prompt_rep_layer", ins: width, outs: width)))
    case .tokens:
      spans = .tokens(
        Tokens(
          token: try loader.linear("scorer.proj_token", outs: 2 * width, ins: width),
          label: try loader.linear("scorer.proj_label", outs: 2 * width, ins: width),
          both: try projection("scorer.out_mlp", ins: 3 * width, outs: 3)))
    }
  }
}

extension HeadWeights {
  /// The head of an encoder whose tokens get `width` features.
  init(
    ofWords loader: inout WeightLoader, _ configuration: ModelConfiguration, width: Int
  ) throws(BertQAError) {
    self.init(input: .tokens, layers: [])
    guard width != configuration.hiddenSize else { return }
    layers.append(
      Layer(
        linear: try loader.linear("token_rep_layer.projection", outs: width, ins: configuration.hiddenSize)))
  }
}
