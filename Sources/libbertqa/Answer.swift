import BertQACore
import CBertQAHeader

/// An answer result and stable pointers to its C form.
final class AnswersHandle: Handle {
  let spans: CArray<bertqa_answer_span>
  let summary: CArray<bertqa_answer_summary>

  init(_ result: AnswerResult) {
    spans = CArray(result.answers.map { bertqa_answer_span($0) })
    summary = CArray([bertqa_answer_summary(result)])
  }
}

final class DocumentHandle: Handle {
  let document: PreparedDocument

  init(_ document: PreparedDocument) { self.document = document }
}

@c @implementation
public func bertqa_answer_options_init(
  _ options: UnsafeMutablePointer<bertqa_answer_options>?, _ struct_size: Int
) {
  writeDefaults(defaultAnswerOptions(), to: options, size: struct_size)
}

@c @implementation
public func bertqa_answer(
  _ context: OpaquePointer?, _ question: UnsafePointer<CChar>?, _ question_length: Int,
  _ document: UnsafePointer<CChar>?, _ document_length: Int,
  _ options: UnsafePointer<bertqa_answer_options>?,
  _ answers: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let out = try required(answers, "answers")
    out.pointee = nil
    let handle = try ContextHandle.borrowed(context, "context")
    let options = try answerOptions(options)
    let question = try textArgument(question, question_length, "question")
    let document = try textArgument(document, document_length, "document")
    let result = try handle.context.answer(question: question, document: document, options: options)
    out.pointee = AnswersHandle(result).passed()
  }
}

@c @implementation
public func bertqa_answer_batch(
  _ context: OpaquePointer?, _ pairs: UnsafePointer<bertqa_pair>?, _ count: Int,
  _ options: UnsafePointer<bertqa_answer_options>?,
  _ answers: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    try passBatch(count, to: answers, "answers") { () throws(BertQAError) in
      let handle = try ContextHandle.borrowed(context, "context")
      let options = try answerOptions(options)
      let pairs = try required(pairs, "pairs")
      var texts: [(question: UnsafeBufferPointer<UInt8>, document: UnsafeBufferPointer<UInt8>)] = []
      texts.reserveCapacity(count)
      for index in 0..<count {
        let pair = pairs[index]
        texts.append(
          (
            try textArgument(pair.question, pair.question_length, "pairs[\(index)].question"),
            try textArgument(pair.document, pair.document_length, "pairs[\(index)].document")
          ))
      }
      return try handle.context.answerBatch(texts, options: options).map { AnswersHandle($0) }
    }
  }
}

@c @implementation
public func bertqa_document_create(
  _ context: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ length: Int,
  _ document: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let out = try required(document, "document")
    out.pointee = nil
    let handle = try ContextHandle.borrowed(context, "context")
    let bytes = try textArgument(text, length, "text")
    out.pointee = DocumentHandle(try handle.context.prepare(bytes)).passed()
  }
}

@c @implementation
public func bertqa_document_free(_ document: OpaquePointer?) {
  DocumentHandle.release(document)
}

@c @implementation
public func bertqa_document_answer(
  _ context: OpaquePointer?, _ document: OpaquePointer?, _ question: UnsafePointer<CChar>?,
  _ question_length: Int, _ options: UnsafePointer<bertqa_answer_options>?,
  _ answers: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let out = try required(answers, "answers")
    out.pointee = nil
    let handle = try ContextHandle.borrowed(context, "context")
    let document = try DocumentHandle.borrowed(document, "document").document
    let options = try answerOptions(options)
    let question = try textArgument(question, question_length, "question")
    let result = try handle.context.answer(question: question, document: document, options: options)
    out.pointee = AnswersHandle(result).passed()
  }
}

@c @implementation
public func bertqa_answers_free(_ answers: OpaquePointer?) {
  AnswersHandle.release(answers)
}

@c @implementation
public func bertqa_answers_count(_ answers: OpaquePointer?) -> Int {
  AnswersHandle.borrowed(answers)?.spans.count ?? 0
}

@c @implementation
public func bertqa_answers_get(
  _ answers: OpaquePointer?, _ index: Int
) -> UnsafePointer<bertqa_answer_span>? {
  AnswersHandle.borrowed(answers)?.spans.pointer(at: index)
}

@c @implementation
public func bertqa_answers_summary(
  _ answers: OpaquePointer?
) -> UnsafePointer<bertqa_answer_summary>? {
  AnswersHandle.borrowed(answers)?.summary.base
}
