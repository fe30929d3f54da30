import BertQACore
import CBertQAHeader

@_cdecl("bertqa_answer")
public func bertqa_answer(
  _ context: OpaquePointer?, _ question: UnsafePointer<CChar>?, _ question_length: Int,
  _ document: UnsafePointer<CChar>?, _ document_length: Int,
  _ options: UnsafePointer<bertqa_answer_options>?,
  _ answers: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(answers, "answers") { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try answerOptions(options)
    let question = try textArgument(question, question_length, "question")
    let document = try textArgument(document, document_length, "document")
    let result = try context.answer(question: question, document: document, options: options)
    return try AnswersHandle(result, CallMonitor(options.marshallingCall))
  }
}

@_cdecl("bertqa_answer_batch")
public func bertqa_answer_batch(
  _ context: OpaquePointer?, _ pairs: UnsafePointer<bertqa_answer_pair>?, _ count: Int,
  _ options: UnsafePointer<bertqa_answer_options>?,
  _ answers: UnsafeMutablePointer<OpaquePointer?>?, _ statuses: UnsafeMutablePointer<bertqa_status>?
) -> bertqa_status {
  batchStatus(count, answers, "answers", statuses) { output throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try answerOptions(options)
    try output.fill(from: pairs, "pairs", options, AnswersHandle.init) { pair throws(BertQAError) in
      QuestionItem(
        question: try textArgument(pair.question, pair.question_length, "question"),
        document: .text(try textArgument(pair.document, pair.document_length, "document")))
    } each: { pairs, options throws(BertQAError) in
      try context.answerEach(pairs, options: options)
    }
  }
}

@_cdecl("bertqa_answer_documents")
public func bertqa_answer_documents(
  _ context: OpaquePointer?, _ question: UnsafePointer<CChar>?, _ question_length: Int,
  _ documents: UnsafePointer<bertqa_text>?, _ count: Int, _ options: UnsafePointer<bertqa_answer_options>?,
  _ answers: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  answeredDocuments(context, question, question_length, documents, count, options, answers) {
    document throws(BertQAError) in
    .text(try textArgument(document.text, document.length, "text"))
  }
}

@_cdecl("bertqa_documents_answer")
public func bertqa_documents_answer(
  _ context: OpaquePointer?, _ documents: UnsafePointer<OpaquePointer?>?, _ count: Int,
  _ question: UnsafePointer<CChar>?, _ question_length: Int, _ options: UnsafePointer<bertqa_answer_options>?,
  _ answers: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  answeredDocuments(context, question, question_length, documents, count, options, answers) {
    document throws(BertQAError) in
    .prepared(try DocumentHandle.borrowed(document, "document").document)
  }
}

private func answeredDocuments<Raw>(
  _ context: OpaquePointer?, _ question: UnsafePointer<CChar>?, _ question_length: Int,
  _ documents: UnsafePointer<Raw>?, _ count: Int, _ options: UnsafePointer<bertqa_answer_options>?,
  _ answers: UnsafeMutablePointer<OpaquePointer?>?,
  _ document: (Raw) throws(BertQAError) -> QuestionItem.Document
) -> bertqa_status {
  created(answers, "answers") { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try answerOptions(options)
    let question = try textArgument(question, question_length, "question")
    try checkCount(count)
    let documents = try readItems(documents, count, "documents", options.marshallingCall, document)
    let result = try context.answer(question: question, documents: documents, options: options)
    return try AnswersHandle(result, CallMonitor(options.marshallingCall))
  }
}
