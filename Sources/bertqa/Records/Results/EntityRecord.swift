import BertQACore

/// The entities of one text, ready to be printed.
struct EntityRecord {
  let source: TextSource
  let text: UnsafeBufferPointer<UInt8>
  let list: EntityList
  /// The redacted text; nil if redaction is off.
  let redacted: [UInt8]?

  /// Returns a line for each entity, with tabs between columns, or the redacted text, which ends as the text
  /// does.
  /// - Parameter encoding: the encoding of the text; nil for UTF-8.
  func lines(encoding: TextEncoding?) -> [UInt8] {
    if let redacted {
      if let encoding {
        return TextEncoder(encoding).encode((encoding.hasMark ? Array("\u{FEFF}".utf8) : []) + redacted)
      }
      let endsLine = source.file != nil || redacted.last == UInt8(ascii: "\n")
      return endsLine ? redacted : redacted + [UInt8(ascii: "\n")]
    }
    var output: [UInt8] = []
    for entity in list.entities {
      output += source.column
      PlainText.append(text[entity.bytes.start..<entity.bytes.end], to: &output)
      output += "\t\(PlainText.of(entity.label))\t\(decimal(Double(entity.score), digits: 4))".utf8
      output += "\t\(entity.bytes.start)\t\(entity.bytes.end)".utf8
      if let reason = entity.reason {
        output += "\t\(PlainText.of(reason.rule))\t\(reason.checksum ?? "")\t".utf8
        if let place = reason.context { PlainText.append(text[place.start..<place.end], to: &output) }
      }
      output.append(UInt8(ascii: "\n"))
    }
    return output
  }

  /// Returns one JSON object on one line. Names and meanings are those of the C API.
  func json() -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      source.writeMembers(to: &writer)
      list.writeMembers(text: text, isRedacted: redacted != nil, to: &writer)
      if let redacted {
        writer.string("redacted", redacted)
      }
    }
    return writer.takeLine()
  }
}

extension EntityList {
  /// Writes the members of an object, named as in the C API.
  /// - Parameters:
  ///   - isRedacted: true leaves out the entities' texts.
  func writeMembers(
    text: UnsafeBufferPointer<UInt8>, isRedacted: Bool = false, to writer: inout JSONWriter
  ) {
    writer.array("entities") { writer in
      for entity in entities {
        writer.object { writer in
          writer.string("label", entity.label)
          writer.place(entity.bytes, entity.codePoints, entity.utf16, in: isRedacted ? nil : text)
          writer.number("score", entity.score)
          if let reason = entity.reason {
            writer.string("rule", reason.rule)
            writer.optional("checksum", reason.checksum?.utf8)
            writer.optional("context", reason.context.map { text[$0.start..<$0.end] })
          }
        }
      }
    }
    writer.integer("window_count", windowCount)
  }
}
