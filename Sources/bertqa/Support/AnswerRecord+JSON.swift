import BertQACore

extension AnswerRecord {
  /// One object, on one line. Names and meanings are those of the C API.
  func json() -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("file")
      writer.string(file.bytes)
      writer.key("question")
      writer.string(question.bytes)
      result.writeMembers(document: document, to: &writer)
    }
    return writer.takeLine()
  }
}
