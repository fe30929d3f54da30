import BertQACore
import CBertQAHeader

@_cdecl("bertqa_sequence_likelihood")
public func bertqa_sequence_likelihood(
  _ context: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ length: Int, _ state: OpaquePointer?,
  _ options: UnsafePointer<bertqa_sequence_options>?,
  _ score: UnsafeMutablePointer<bertqa_sequence_score>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let out = try required(score, "score")
    _ = try checkedSize(of: out, "bertqa_sequence_score")
    let options = try sequenceOptions(options)
    let context = try ContextHandle.borrowed(context, "context").context
    let bytes = try textArgument(text, length, "text")
    let result = try context.likelihood(
      of: bytes, after: SequenceState.borrowed(state), options: options)
    try write(bertqa_sequence_score(result), to: out, "bertqa_sequence_score")
  }
}

extension bertqa_sequence_score {
  fileprivate init(_ score: SequenceScore) {
    self.init()
    word_count = score.wordCount
    unknown_count = score.unknownCount
    log_likelihood = score.logLikelihood
    perplexity = score.perplexity
  }
}

@_cdecl("bertqa_sequence_rank")
public func bertqa_sequence_rank(
  _ context: OpaquePointer?, _ prefix: UnsafePointer<CChar>?, _ prefix_length: Int,
  _ continuations: UnsafePointer<bertqa_text>?, _ count: Int, _ state: OpaquePointer?,
  _ options: UnsafePointer<bertqa_sequence_options>?, _ order: UnsafeMutablePointer<Int>?,
  _ log_likelihoods: UnsafeMutablePointer<Double>?, _ word_counts: UnsafeMutablePointer<Int>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try sequenceOptions(options)
    try checkCount(count)
    let prefix = try textArgument(prefix, prefix_length, "prefix")
    let texts = try readItems(continuations, count, "continuations", options.call) {
      text throws(BertQAError) in
      try textArgument(text.text, text.length, "text")
    }
    let ranking = try context.rank(
      texts, after: prefix, state: SequenceState.borrowed(state), options: options)
    for index in 0..<count {
      order?[index] = ranking.order[index]
      log_likelihoods?[index] = ranking.scores[index].logLikelihood
      word_counts?[index] = ranking.scores[index].wordCount
    }
  }
}
