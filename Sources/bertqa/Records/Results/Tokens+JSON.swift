import BertQACore

extension Tokens {
  /// Writes the members of an object: three arrays of the same length.
  func writeMembers(_ context: Context, to writer: inout JSONWriter) {
    writer.key("ids")
    writer.list(ids)
    writer.key("tokens")
    writePieces(context, to: &writer)
    writer.key("bytes")
    writeRanges(to: &writer)
  }

  func writePieces(_ context: Context, to writer: inout JSONWriter) {
    writer.array { writer in
      for id in ids {
        if let piece = context.vocabularyPiece(id: id) { writer.string(piece) } else { writer.null() }
      }
    }
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
