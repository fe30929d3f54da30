import BertQACore

/// Turns a record's text, which is its first field, or a pair of texts, into a vector.
struct EmbedTask: FilterTask {
  let context: Context
  let options: EmbedOptions

  let columns = ["embedding"]

  func results(for inputs: [TaskInput]) throws(BertQAError) -> [ArraySlice<Float>] {
    let vectors = try context.embed(
      inputs.map { TextPair(text: $0.texts[0], second: $0.texts.dropFirst().first) }, options: options)
    let length = context.info.embeddingLength
    return inputs.indices.map { vectors[$0 * length..<($0 + 1) * length] }
  }

  func windowCount(of vector: ArraySlice<Float>) -> Int { 0 }

  func write(_ vector: ArraySlice<Float>, of input: TaskInput, to writer: inout JSONWriter) {
    writer.array { writer in
      for value in vector { writer.number(value) }
    }
  }

  /// The numbers with spaces between them.
  func write(_ vector: ArraySlice<Float>, of input: TaskInput, to writer: inout CellWriter) {
    writer.text(vector.map(\.description).joined(separator: " ").utf8)
  }
}
