/// What a context runs, by what its model is for. Each is immutable and used by any number of threads at once.
enum Engine: Sendable {
  case tokenizer(WordPieceTokenizer)
  case questionAnswering(QuestionAnswerer, Encoder, WordPieceTokenizer)
  case wordCount(WordCountClassifier)
  case classification(TextClassifier)
  case embedding(TextEmbedder)
  case sequence(SequenceModel)

  /// nil for models that do not read WordPiece tokens.
  var tokenizer: WordPieceTokenizer? {
    switch self {
    case .tokenizer(let tokenizer), .questionAnswering(_, _, let tokenizer): tokenizer
    case .classification(let classifier): classifier.reader.tokenizer
    case .embedding(let embedder): embedder.reader.tokenizer
    case .wordCount, .sequence: nil
    }
  }
}

extension Context {
  /// For a caller who asked a model for what it cannot do.
  /// - Parameters:
  ///   - purpose: what it was asked, such as "answer questions".
  ///   - needed: the architectures that can.
  func wrongModel(for purpose: String, needed: ModelTask) -> BertQAError {
    if case .tokenizer = engine {
      return BertQAError(
        .wrongModel,
        "\(info.directory) was loaded as a tokenizer alone; create a context without tokenizer_only")
    }
    let names = Architecture.allCases.filter { $0.task == needed }.map(\.rawValue)
    return BertQAError(
      .wrongModel,
      "\(info.directory) is a \(info.architecture), which cannot \(purpose); use a model of "
        + names.joined(separator: ", "))
  }
}
