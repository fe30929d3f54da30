import BertQACore
import CBertQAHeader

final class DocumentHandle: Handle {
  let document: PreparedDocument

  init(_ document: PreparedDocument) { self.document = document }
}

extension bertqa_document_options: COptions {
  static let name: StaticString = "bertqa_document_options"
  static var narrowFieldCount: Int { 0 }
}

@_cdecl("bertqa_document_create")
public func bertqa_document_create(
  _ context: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ length: Int,
  _ options: UnsafePointer<bertqa_document_options>?,
  _ document: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(document, "document") { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try readOptions(options)
    let bytes = try textArgument(text, length, "text")
    return try DocumentHandle(context.prepare(bytes, call: callOptions(options.call)))
  }
}

@_cdecl("bertqa_document_free")
public func bertqa_document_free(_ document: OpaquePointer?) {
  DocumentHandle.release(document)
}

@_cdecl("bertqa_document_answer")
public func bertqa_document_answer(
  _ context: OpaquePointer?, _ document: OpaquePointer?, _ question: UnsafePointer<CChar>?,
  _ question_length: Int, _ options: UnsafePointer<bertqa_answer_options>?,
  _ answers: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(answers, "answers") { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let document = try DocumentHandle.borrowed(document, "document").document
    let options = try answerOptions(options)
    let question = try textArgument(question, question_length, "question")
    let result = try context.answer(question: question, document: document, options: options)
    return try AnswersHandle(result, CallMonitor(options.marshallingCall))
  }
}

@_cdecl("bertqa_document_answer_batch")
public func bertqa_document_answer_batch(
  _ context: OpaquePointer?, _ document: OpaquePointer?, _ questions: UnsafePointer<bertqa_text>?,
  _ count: Int, _ options: UnsafePointer<bertqa_answer_options>?,
  _ answers: UnsafeMutablePointer<OpaquePointer?>?, _ statuses: UnsafeMutablePointer<bertqa_status>?
) -> bertqa_status {
  batchStatus(count, answers, "answers", statuses) { output throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let document = try DocumentHandle.borrowed(document, "document").document
    let options = try answerOptions(options)
    try output.fill(from: questions, "questions", options, AnswersHandle.init) {
      question throws(BertQAError) in
      QuestionItem(
        question: try textArgument(question.text, question.length, "text"), document: .prepared(document))
    } each: { pairs, options throws(BertQAError) in
      try context.answerEach(pairs, options: options)
    }
  }
}
