import BertQACore

/// Turns a record's text, which is its first field, or a pair of texts, into a vector.
struct EmbedTask: FilterTask {
  let context: Context
  let options: EmbedOptions

  let columns = ["embedding"]

  struct Embedding {
    let vector: ArraySlice<Float>
    let windowCount: Int
  }

  func results(for inputs: [TaskInput]) throws(BertQAError) -> [Result<Embedding, BertQAError>] {
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
    writer.array { writer in
      for value in embedding.vector { writer.number(value) }
    }
  }

  /// The numbers with spaces between them.
  func write(_ embedding: Embedding, of input: TaskInput, to writer: inout CellWriter) {
    writer.text(embedding.vector.map(\.description).joined(separator: " ").utf8)
  }
}
