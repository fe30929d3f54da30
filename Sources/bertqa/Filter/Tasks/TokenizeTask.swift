import BertQACore

/// Splits a record's text into tokens.
struct TokenizeTask: FilterTask {
  let context: Context
  let idsOnly: Bool
  let parseSpecialTokens: Bool

  /// The values of --fields.
  let fields: [Field]?

  enum Field: String, ResultField {
    case ids, tokens, bytes
    case tokenCount = "token_count"

    static let usual: [Field] = [.ids]
  }

  var columns: [String] { (fields ?? Field.usual).map(\.rawValue) }

  func results(
    for inputs: [TaskInput], _ call: CallOptions
  ) throws(BertQAError) -> [Result<Tokens, BertQAError>] {
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
    if let fields {
      writer.object(fields) { write($0, of: tokens, to: &$1) }
    } else if idsOnly {
      write(.ids, of: tokens, to: &writer)
    } else {
      writer.object([Field.ids, .tokens, .bytes]) { write($0, of: tokens, to: &$1) }
    }
  }

  func write(_ tokens: Tokens, of input: TaskInput, to writer: inout CellWriter) {
    for field in fields ?? Field.usual { write(field, of: tokens, to: &writer) }
  }

  private func write(_ field: Field, of tokens: Tokens, to writer: inout some ValueWriter) {
    switch field {
    case .ids: writer.list(tokens.ids)
    case .tokens: writer.json { $0.pieces(tokens.ids, of: context) }
    case .bytes: writer.json { tokens.writeRanges(to: &$0) }
    case .tokenCount: writer.integer(tokens.ids.count)
    }
  }
}
