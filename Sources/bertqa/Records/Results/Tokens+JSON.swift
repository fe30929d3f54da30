import BertQACore

extension Tokens {
  /// Writes the members of an object: three arrays of the same length.
  func writeMembers(_ context: Context, to writer: inout JSONWriter) {
    writer.list("ids", ids)
    writer.key("tokens")
    writer.pieces(ids, of: context)
    writer.key("bytes")
    writeRanges(to: &writer)
  }

  /// Writes the byte ranges.
  func writeRanges(to writer: inout JSONWriter) {
    writer.array { writer in
      for index in ids.indices {
        writer.range(TextRange(start: Int(starts[index]), end: Int(ends[index])))
      }
    }
  }
}

extension JSONWriter {
  /// Writes an array of the vocabulary's spelling of tokens.
  mutating func pieces(_ ids: [Int32], of context: Context) {
    array { writer in
      for id in ids { writer.optional(context.vocabularyPiece(id: id)) }
    }
  }
}
