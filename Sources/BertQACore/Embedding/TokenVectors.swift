/// The vectors of one text's tokens, or a model's weights of vocabulary pieces for a text.
public struct TokenVectors: Sendable, Equatable {
  /// The tokens in the order of the text, special tokens included; or the weighted pieces, in ascending order.
  public internal(set) var ids: [Int32] = []
  /// The number of floats for each id; 1 for weights.
  public let width: Int
  /// [ids.count][width]
  public internal(set) var values: [Float] = []

  /// True for a sparse model's weights of pieces, false for vectors of tokens.
  public let isOfPieces: Bool

  init(width: Int, isOfPieces: Bool = false) {
    self.width = width
    self.isOfPieces = isOfPieces
  }

  /// Returns MaxSim of ColBERT (Khattab and Zaharia 2020, https://arxiv.org/abs/2004.12832): the sum, over the
  /// query's vectors, of the largest dot product with a vector of the document. 0 without a query or document. Throws
  /// `.invalidArgument` if the sum is not finite.
  /// - Parameters:
  ///   - query: [rows][width]
  ///   - document: [rows][width]
  public static func maxSim(
    query: UnsafeBufferPointer<Float>, document: UnsafeBufferPointer<Float>, width: Int
  ) throws(BertQAError) -> Float {
    guard width > 0, query.count % width == 0, document.count % width == 0 else {
      throw BertQAError(
        .invalidArgument, argument: "width",
        "is \(width), but the arrays have \(query.count) and \(document.count) numbers")
    }
    guard let first = query.baseAddress, let other = document.baseAddress, !document.isEmpty else { return 0 }
    var sum = 0.0
    for row in stride(from: 0, to: query.count, by: width) {
      var best = -Float.infinity
      for candidate in stride(from: 0, to: document.count, by: width) {
        let product = product(first + row, other + candidate, width)
        // A NaN product makes the sum NaN.
        if product > best || product.isNaN { best = product }
      }
      sum += Double(best)
    }
    guard Float(sum).isFinite else {
      throw BertQAError(
        .invalidArgument,
        "the similarity is \(Float(sum)): a vector has numbers that are infinite, not a number, or too large")
    }
    return Float(sum)
  }

  public static func maxSim(query: TokenVectors, document: TokenVectors) throws(BertQAError) -> Float {
    guard !query.isOfPieces, !document.isOfPieces else {
      throw BertQAError(
        .invalidArgument, argument: query.isOfPieces ? "query" : "document",
        "has a sparse model's weights of pieces: their similarity is the sum of the products of equal pieces")
    }
    guard query.width == document.width else {
      throw BertQAError(
        .invalidArgument, argument: "document",
        "has vectors of \(document.width) numbers, but those of the query have \(query.width)")
    }
    return try query.values.withElements { first throws(BertQAError) in
      try document.values.withElements { second throws(BertQAError) in
        try maxSim(query: first, document: second, width: query.width)
      }
    }
  }

  private static func product(
    _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ count: Int
  ) -> Float {
    var sums = SIMD8<Float>.zero
    let whole = count & ~7
    for index in stride(from: 0, to: whole, by: 8) {
      sums +=
        UnsafeRawPointer(a + index).loadUnaligned(as: SIMD8<Float>.self)
        * UnsafeRawPointer(b + index).loadUnaligned(as: SIMD8<Float>.self)
    }
    var sum = sums.sum()
    for index in whole..<count { sum += a[index] * b[index] }
    return sum
  }
}
