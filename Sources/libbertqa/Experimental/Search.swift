import BertQACore
import CBertQAHeader

@_cdecl("bertqa_collection_sql")
public func bertqa_collection_sql(_ statement: Int32) -> UnsafePointer<CChar>? {
  CollectionSQL(rawValue: statement).map { staticCString($0.text) }
}

final class PassagesHandle: Handle {
  let ranges: CArray<bertqa_range>

  init(_ passages: [TextRange], _ monitor: CallMonitor) throws(BertQAError) {
    ranges = try CArray(count: passages.count, monitor) { bertqa_range(passages[$0]) }
  }
}

@_cdecl("bertqa_passages_create")
public func bertqa_passages_create(
  _ context: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ length: Int,
  _ call: UnsafePointer<bertqa_call_options>?, _ passages: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(passages, "passages") { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let call = try callOptions(call)
    let text = try textArgument(text, length, "text")
    return try PassagesHandle(context.passages(of: text, call: call), CallMonitor(call))
  }
}

@_cdecl("bertqa_passages_free")
public func bertqa_passages_free(_ passages: OpaquePointer?) {
  PassagesHandle.release(passages)
}

@_cdecl("bertqa_passages_count")
public func bertqa_passages_count(_ passages: OpaquePointer?) -> Int {
  insideGate { PassagesHandle.borrowed(passages)?.ranges.count ?? 0 }
}

@_cdecl("bertqa_passages_ranges")
public func bertqa_passages_ranges(_ passages: OpaquePointer?) -> UnsafePointer<bertqa_range>? {
  insideGate { PassagesHandle.borrowed(passages)?.ranges.base }
}

@_cdecl("bertqa_vectors_quantize")
public func bertqa_vectors_quantize(
  _ vectors: UnsafePointer<Float>?, _ count: Int, _ length: Int, _ rows: UnsafeMutablePointer<Int8>?,
  _ scales: UnsafeMutablePointer<Float>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    try checkCount(count)
    guard (0...Int(Int32.max)).contains(length) else {
      throw BertQAError(.tooLarge, argument: "length", "is above the limit of \(Int32.max)")
    }
    guard count > 0 else { return }
    let vectors = UnsafeBufferPointer(start: try required(vectors, "vectors"), count: count * length)
    try VectorRows.quantize(
      vectors, length: length, rows: required(rows, "rows"), scales: required(scales, "scales"))
  }
}

@_cdecl("bertqa_vectors_fingerprint")
public func bertqa_vectors_fingerprint(
  _ context: OpaquePointer?, _ call: UnsafePointer<bertqa_call_options>?,
  _ output: UnsafeMutablePointer<CChar>?, _ capacity: Int, _ needed: UnsafeMutablePointer<Int>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let needed = try required(needed, "needed")
    needed.pointee = 0
    let context = try ContextHandle.borrowed(context, "context").context
    let bytes = try context.vectorFingerprint(call: callOptions(call))
    try room(for: bytes.count, output, "output", capacity, needed)?
      .copyMemory(from: bytes, byteCount: bytes.count)
  }
}

final class SearchHandle: Handle {
  let search: PassageSearch
  let query: CStrings

  init(_ search: PassageSearch, _ monitor: CallMonitor) throws(BertQAError) {
    self.search = search
    let query = try search.query.withElements { query throws(BertQAError) in try string(of: query) }
    self.query = try CStrings([query], monitor)
  }
}

@_cdecl("bertqa_search_create")
public func bertqa_search_create(
  _ context: OpaquePointer?, _ question: UnsafePointer<CChar>?, _ question_length: Int,
  _ fingerprint: UnsafeRawPointer?, _ fingerprint_length: Int, _ call: UnsafePointer<bertqa_call_options>?,
  _ search: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(search, "search") { () throws(BertQAError) in
    let call = try callOptions(call)
    let question = try textArgument(question, question_length, "question")
    let fingerprint = try textArgument(
      fingerprint?.assumingMemoryBound(to: CChar.self), fingerprint_length, "fingerprint")
    let search =
      if let context = ContextHandle.borrowed(context)?.context {
        try context.search(question: question, fingerprint: fingerprint, call: call)
      } else { try PassageSearch(question: question, call: call) }
    return try SearchHandle(search, CallMonitor(call))
  }
}

@_cdecl("bertqa_search_free")
public func bertqa_search_free(_ search: OpaquePointer?) {
  SearchHandle.release(search)
}

@_cdecl("bertqa_search_query")
public func bertqa_search_query(_ search: OpaquePointer?) -> UnsafePointer<CChar>? {
  insideGate { SearchHandle.borrowed(search)?.query.string(at: 0)?.base }
}

@_cdecl("bertqa_search_allow")
public func bertqa_search_allow(_ search: OpaquePointer?, _ first: Int64, _ last: Int64) -> bertqa_status {
  status { () throws(BertQAError) in
    try SearchHandle.borrowed(search, "search").search.allow(first: first, last: last)
  }
}

@_cdecl("bertqa_search_set_words")
public func bertqa_search_set_words(
  _ search: OpaquePointer?, _ ids: UnsafePointer<Int64>?, _ words: UnsafePointer<Int32>?,
  _ scores: UnsafePointer<Double>?, _ count: Int
) -> bertqa_status {
  status { () throws(BertQAError) in
    let search = try SearchHandle.borrowed(search, "search").search
    try checkCount(count)
    guard count > 0 else { return }
    try search.setWords(
      ids: required(ids, "ids"), words: required(words, "words"), scores: scores, count: count)
  }
}

@_cdecl("bertqa_search_add_vectors")
public func bertqa_search_add_vectors(
  _ search: OpaquePointer?, _ first: Int64, _ count: Int, _ rows: UnsafePointer<Int8>?, _ row_bytes: Int,
  _ scales: UnsafePointer<Float>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let search = try SearchHandle.borrowed(search, "search").search
    try checkCount(count)
    guard count > 0 else { return }
    if search.vectorLength > 0 { try checkRoom(row_bytes, count * search.vectorLength, "row_bytes") }
    try search.addVectors(
      first: first, count: count, rows: required(rows, "rows"), scales: required(scales, "scales"))
  }
}

@_cdecl("bertqa_search_best")
public func bertqa_search_best(
  _ search: OpaquePointer?, _ count: Int, _ ids: UnsafeMutablePointer<Int64>?,
  _ scores: UnsafeMutablePointer<Double>?
) -> Int {
  insideGate {
    guard let search = SearchHandle.borrowed(search)?.search, count > 0, let ids, let scores else { return 0 }
    let hits = search.best(count)
    for (index, hit) in hits.enumerated() {
      ids[index] = hit.id
      scores[index] = hit.score
    }
    return hits.count
  }
}

@_cdecl("bertqa_search_score")
public func bertqa_search_score(_ cosine: Double, _ share: Double) -> Double {
  insideGate { PassageSearch.score(cosine: cosine, share: share) }
}

@_cdecl("bertqa_search_answer")
public func bertqa_search_answer(
  _ search: OpaquePointer?, _ context: OpaquePointer?, _ passages: UnsafePointer<bertqa_text>?, _ count: Int,
  _ options: UnsafePointer<bertqa_answer_options>?, _ answers: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(answers, "answers") { () throws(BertQAError) in
    let search = try SearchHandle.borrowed(search, "search").search
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try answerOptions(options)
    try checkCount(count)
    guard count > 0 else {
      throw BertQAError(.invalidArgument, argument: "passages", "has no element: pass at least one passage")
    }
    let texts = try readItems(passages, count, "passages", options.marshallingCall) {
      passage throws(BertQAError) in
      QuestionItem.Document.text(try textArgument(passage.text, passage.length, "text"))
    }
    let result = try context.answer(search, passages: texts, options: options)
    return try AnswersHandle(result, CallMonitor(options.marshallingCall))
  }
}
