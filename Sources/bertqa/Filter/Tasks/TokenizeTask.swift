import BertQACore

/// Splits a record's text into tokens.
struct TokenizeTask: FilterTask {
  let context: Context
  let idsOnly: Bool
  let parseSpecialTokens: Bool
  let call: CallOptions

  let columns = ["ids"]

  func results(for inputs: [TaskInput]) throws(BertQAError) -> [Result<Tokens, BertQAError>] {
    var results: [Result<Tokens, BertQAError>] = []
    for input in inputs {
      do throws(BertQAError) {
        let tokens = try context.tokenize(input.texts[0], parseSpecialTokens: parseSpecialTokens, call: call)
        results.append(.success(tokens))
      } catch {
        guard error.status == .tooLarge || error.status == .outOfMemory else { throw error }
        results.append(.failure(error))
      }
    }
    return results
  }

  func windowCount(of tokens: Tokens) -> Int { 0 }

  func write(_ tokens: Tokens, of input: TaskInput, to writer: inout JSONWriter) {
    if idsOnly {
      writer.array { writer in
        for id in tokens.ids { writer.integer(id) }
      }
    } else {
      writer.object { tokens.writeMembers(context, to: &$0) }
    }
  }

  /// The ids with spaces between them.
  func write(_ tokens: Tokens, of input: TaskInput, to writer: inout CellWriter) {
    writer.text(tokens.ids.map(String.init).joined(separator: " ").utf8)
  }
}
