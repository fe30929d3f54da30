import BertQACore
import CBertQAHeader

final class TokenVectorsHandle: Handle {
  let ids: CArray<Int32>
  let values: CArray<Float>
  let width: Int

  init(_ vectors: TokenVectors, _ monitor: CallMonitor) throws(BertQAError) {
    ids = try CArray(count: vectors.ids.count, monitor) { vectors.ids[$0] }
    values = try CArray(count: vectors.values.count, monitor) { vectors.values[$0] }
    width = vectors.width
  }
}

@_cdecl("bertqa_embed_tokens")
public func bertqa_embed_tokens(
  _ context: OpaquePointer?, _ texts: UnsafePointer<bertqa_text_pair>?, _ count: Int,
  _ options: UnsafePointer<bertqa_embed_options>?, _ vectors: UnsafeMutablePointer<OpaquePointer?>?,
  _ statuses: UnsafeMutablePointer<bertqa_status>?
) -> bertqa_status {
  batchStatus(count, vectors, "vectors", statuses) { output throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try embedOptions(readOptions(options))
    try output.fill(from: texts, "texts", options, TokenVectorsHandle.init, textPair) {
      texts, options throws(BertQAError) in
      try context.embedTokensEach(of: texts, options: options)
    }
  }
}

@_cdecl("bertqa_token_vectors_free")
public func bertqa_token_vectors_free(_ vectors: OpaquePointer?) {
  TokenVectorsHandle.release(vectors)
}

@_cdecl("bertqa_token_vectors_count")
public func bertqa_token_vectors_count(_ vectors: OpaquePointer?) -> Int {
  insideGate { TokenVectorsHandle.borrowed(vectors)?.ids.count ?? 0 }
}

@_cdecl("bertqa_token_vectors_width")
public func bertqa_token_vectors_width(_ vectors: OpaquePointer?) -> Int {
  insideGate { TokenVectorsHandle.borrowed(vectors)?.width ?? 0 }
}

@_cdecl("bertqa_token_vectors_ids")
public func bertqa_token_vectors_ids(_ vectors: OpaquePointer?) -> UnsafePointer<Int32>? {
  insideGate { TokenVectorsHandle.borrowed(vectors)?.ids.base }
}

@_cdecl("bertqa_token_vectors_values")
public func bertqa_token_vectors_values(_ vectors: OpaquePointer?) -> UnsafePointer<Float>? {
  insideGate { TokenVectorsHandle.borrowed(vectors)?.values.base }
}

@_cdecl("bertqa_max_sim")
public func bertqa_max_sim(
  _ query: UnsafePointer<Float>?, _ query_count: Int, _ document: UnsafePointer<Float>?,
  _ document_count: Int, _ width: Int, _ similarity: UnsafeMutablePointer<Float>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let result = try required(similarity, "similarity")
    func vectors(
      _ start: UnsafePointer<Float>?, _ count: Int, _ name: StaticString
    ) throws(BertQAError) -> UnsafeBufferPointer<Float> {
      let (floats, overflow) = count.multipliedReportingOverflow(by: width)
      guard count >= 0, width > 0, !overflow, floats <= Int.max / MemoryLayout<Float>.stride else {
        throw BertQAError(
          .invalidArgument, argument: "\(name)",
          "has \(UInt(bitPattern: count)) vectors of width \(UInt(bitPattern: width))")
      }
      return UnsafeBufferPointer(start: count == 0 ? nil : try required(start, name), count: floats)
    }
    result.pointee = try TokenVectors.maxSim(
      query: vectors(query, query_count, "query"), document: vectors(document, document_count, "document"),
      width: width)
  }
}
