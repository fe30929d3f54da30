import BertQACore

/// Embeds a record's text, which is its first field, or a pair of texts.
struct EmbedTask: FilterTask {
  let context: Context
  let options: EmbedOptions

  /// The values of --fields.
  let fields: [Field]?

  enum Field: String, ResultField {
    case embedding
    case windowCount = "window_count"

    static let usual: [Field] = [.embedding]
  }

  var columns: [String] { (fields ?? Field.usual).map(\.rawValue) }

  struct Embedding {
    let vector: ArraySlice<Float>
    let windowCount: Int
  }

  func results(
    for inputs: [TaskInput], _ call: CallOptions
  ) throws(BertQAError) -> [Result<Embedding, BertQAError>] {
    var options = options
    options.call = call
    let (vectors, windowCounts, failures) = try context.embedEachCountingWindows(
      inputs.map { TextPair(text: $0.texts[0], second: $0.texts.dropFirst().first) }, options: options)
    let length = context.info.embeddingLength
    return inputs.indices.map { index in
      if let failure = failures[index] { return .failure(failure) }
      return .success(
        Embedding(
          vector: vectors[index * length..<(index + 1) * length], windowCount: windowCounts[index]))
    }
  }

  func windowCount(of embedding: Embedding) -> Int { embedding.windowCount }

  func write(_ embedding: Embedding, of input: TaskInput, to writer: inout JSONWriter) {
    guard let fields else { return write(.embedding, of: embedding, to: &writer) }
    writer.object(fields) { write($0, of: embedding, to: &$1) }
  }

  func write(_ embedding: Embedding, of input: TaskInput, to writer: inout CellWriter) {
    for field in fields ?? Field.usual { write(field, of: embedding, to: &writer) }
  }

  private func write(_ field: Field, of embedding: Embedding, to writer: inout some ValueWriter) {
    switch field {
    case .embedding: writer.list(embedding.vector)
    case .windowCount: writer.integer(embedding.windowCount)
    }
  }
}
