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

  func results(for inputs: [TaskInput]) throws(BertQAError) -> [Embedding] {
    let (vectors, windowCounts) = try context.embedCountingWindows(
      inputs.map { TextPair(text: $0.texts[0], second: $0.texts.dropFirst().first) }, options: options)
    let length = context.info.embeddingLength
    return inputs.indices.map {
      Embedding(vector: vectors[$0 * length..<($0 + 1) * length], windowCount: windowCounts[$0])
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
