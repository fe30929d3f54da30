/// Classifies by the nearest label in the space of an embedding model, without training. Immutable; any
/// number of threads may use it at once.
///
/// A label stands for the mean of its examples' vectors: the nearest-centroid form of prototypical networks
/// (Snell et al. 2017, https://arxiv.org/abs/1703.05175), with the cosine of CLIP's zero-shot classifier
/// (Radford et al. 2021, https://arxiv.org/abs/2103.00020).
public final class Labeler: Sendable {
  /// In the order of their first examples.
  public let labels: [String]
  private let embedder: TextEmbedder
  private let options: EmbedOptions
  private let scale: Float
  /// [labels][embedder.length], each of length 1.
  private let prototypes: [Float]

  /// Keeps what it needs of `context`, whose model must be for embedding.
  public init(
    _ context: Context, examples: [LabelExample], options: LabelerOptions = LabelerOptions()
  ) throws(BertQAError) {
    guard case .embedding(let embedder) = context.engine else {
      throw context.wrongModel(for: "embed texts", needed: .embed)
    }
    guard options.scale > 0, options.scale.isFinite else {
      throw BertQAError(
        .invalidArgument, "scale is \(options.scale), but must be above 0 and finite")
    }
    guard !examples.isEmpty else {
      throw BertQAError(.invalidArgument, "there are no examples; give each label one at least")
    }
    var ids: [String: Int] = [:]
    var labels: [String] = []
    for (index, example) in examples.enumerated() where ids[example.label] == nil {
      guard !example.label.isEmpty else {
        throw BertQAError(.invalidArgument, "examples[\(index)]: the label is empty")
      }
      ids[example.label] = labels.count
      labels.append(example.label)
    }
    var embed = options.embed
    embed.normalizes = true
    let length = embedder.length
    var sums = [Double](repeating: 0, count: labels.count * length)
    try embedder.forEachVector(
      of: examples.map { TextPair(text: $0.text) }, called: "examples", options: embed
    ) { index, vector, _ in
      let first = (ids[examples[index].label] ?? 0) * length
      for feature in 0..<length { sums[first + feature] += Double(vector[feature]) }
    }
    // Divided by the number of examples or not, the direction is the same.
    var prototypes = sums.map { Float($0) }
    prototypes.withUnsafeMutableBufferPointer { prototypes in
      for first in stride(from: 0, to: prototypes.count, by: length) {
        TextEmbedder.normalize(.init(rebasing: prototypes[first..<first + length]))
      }
    }
    // The hook may be gone when the labeler is used.
    embed.cancellation = nil
    self.labels = labels
    self.embedder = embedder
    self.prototypes = prototypes
    self.options = embed
    scale = options.scale
  }

  /// One result per text, in order.
  public func classify(_ texts: [TextPair]) throws(BertQAError) -> [Classification] {
    var results: [Classification] = []
    results.reserveCapacity(texts.count)
    try embedder.forEachVector(of: texts, options: options) { _, vector, windowCount in
      let logits = labels.indices.map { label in
        let first = label * embedder.length
        var cosine = 0.0
        for feature in 0..<embedder.length {
          cosine += Double(prototypes[first + feature]) * Double(vector[feature])
        }
        return scale * Float(cosine)
      }
      var result = Classification(logits: logits, labels: labels, problemType: .singleLabel)
      result.windowCount = windowCount
      results.append(result)
    }
    return results
  }

  public func classify(_ text: String) throws(BertQAError) -> Classification {
    try withBytes(of: text) { bytes throws(BertQAError) in
      try classify([TextPair(text: bytes)])[0]
    }
  }
}
