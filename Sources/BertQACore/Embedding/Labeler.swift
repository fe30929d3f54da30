/// Classifies by the nearest label in the space of an embedding model, without training. Immutable: any
/// number of threads may use it at once.
///
/// A label is represented by the mean of its examples' vectors, the nearest-centroid form of prototypical
/// networks (Snell et al. 2017, https://arxiv.org/abs/1703.05175). The score is the cosine, as in CLIP's
/// zero-shot classifier (Radford et al. 2021, https://arxiv.org/abs/2103.00020).
public final class Labeler: Sendable {
  /// In the order of their first examples.
  public let labels: [String]
  private let embedder: any Embedder
  private let options: EmbedOptions
  /// Its weights are the labels' vectors, each of the length `scale`.
  private let head: LinearHead

  /// The number of labels or examples between two polls of the monitor.
  private static let pollInterval = 1024

  init(
    _ embedder: any Embedder, _ examples: [LabelExample], _ options: LabelerOptions
  ) throws(BertQAError) {
    guard options.scale > 0, options.scale.isFinite else {
      throw BertQAError(
        .invalidArgument, argument: "scale", "is \(options.scale), but must be above 0 and finite")
    }
    guard !examples.isEmpty else {
      throw BertQAError(
        .invalidArgument, argument: "examples", "is empty; pass at least one example for each label")
    }
    var ids: [ExactString: Int] = [:]
    // Reserved at once, because growing rehashes all of them.
    try Memory.require(2 * examples.count, of: (ExactString, Int).self)
    ids.reserveCapacity(examples.count)
    var labels: [String] = []
    var embed = options.embed
    embed.call = embed.call.withOneLedger
    let monitor = CallMonitor(embed.call)
    try monitor.hold(2 * examples.count, of: (ExactString, Int).self)
    var labelOfExample = try [Int](checkedCapacity: examples.count, monitor)
    for (index, example) in examples.enumerated() {
      if index % Self.pollInterval == 0 {
        try monitor.check()
        try Memory.requireReserve()
      }
      guard ObjectReader.isLabel(example.label.utf8) else {
        throw BertQAError(.invalidArgument, argument: "label", "is blank or contains a NUL")
          .of(item: index, in: "examples")
      }
      let label = ExactString(example.label)
      let id = ids[label] ?? labels.count
      if id == labels.count {
        ids[label] = id
        try labels.makeRoom(for: 1, monitor)
        labels.append(example.label)
      }
      labelOfExample.append(id)
    }
    embed.normalizes = true
    embed.call.stopsAtFailure = true
    let length = embedder.length
    var sums = try [Double](repeating: 0, count: labels.count * length, monitor)
    try embedder.forEachVector(
      of: examples.checkedMap(CallPoll(monitor)) { TextPair(text: $0.text) }, called: "examples", embed
    ) { _, _ in
    } _: { index, vector, _ in
      let first = labelOfExample[index] * length
      for feature in 0..<length { sums[first + feature] += Double(vector[feature]) }
    }
    // The direction is the same with or without the division by the number of examples.
    var prototypes = try [Float](checkedCapacity: sums.count, monitor)
    for (index, sum) in sums.enumerated() {
      if index % CallPoll.elementInterval == 0 { try monitor.check() }
      prototypes.append(Float(sum))
    }
    try prototypes.withMutableElements { prototypes throws(BertQAError) in
      for first in stride(from: 0, to: prototypes.count, by: length) {
        if first / length % Self.pollInterval == 0 { try monitor.check() }
        TextEmbedder.normalize(.init(rebasing: prototypes[first..<first + length]))
      }
    }
    // The hooks may no longer exist when the labeler is used.
    embed.call = CallOptions()
    self.labels = labels
    self.embedder = embedder
    self.options = embed
    for index in prototypes.indices { prototypes[index] *= options.scale }
    head = LinearHead(
      labels: labels, weights: prototypes, bias: try [Float](repeating: 0, count: labels.count, monitor))
  }

  /// Returns one result per text, in order. The first failure ends the call and names its text.
  public func classify(
    _ texts: [TextPair], call: CallOptions = CallOptions()
  ) throws(BertQAError) -> [Classification] {
    try all(call) { call throws(BertQAError) in try classifyEach(texts, call: call) }
  }

  /// As `classify`, but a text's failure becomes that text's result. Throws failures of the whole call, such
  /// as cancellation or lack of memory.
  public func classifyEach(
    _ texts: [TextPair], call: CallOptions = CallOptions()
  ) throws(BertQAError) -> [Result<Classification, BertQAError>] {
    var options = options
    options.call = call
    return try head.classifyEach(texts, embedder, options)
  }

  public func classify(
    _ text: String, call: CallOptions = CallOptions()
  ) throws(BertQAError) -> Classification {
    try withBytes(of: text) { bytes throws(BertQAError) in
      try classify([TextPair(text: bytes)], call: call)[0]
    }
  }
}

/// One example of a label: a text that the label fits, or a text that describes it. The bytes are borrowed
/// during the call.
public struct LabelExample {
  public var text: UnsafeBufferPointer<UInt8>
  public var label: String

  public init(text: UnsafeBufferPointer<UInt8>, label: String) {
    self.text = text
    self.label = label
  }
}

public struct LabelerOptions: Sendable {
  /// logit = scale · cosine of the angle between text and label; above 0.
  public var scale: Float = 20
  /// Options for the vectors, which are always scaled to length 1. Its call options apply to making the
  /// labeler.
  public var embed = EmbedOptions()

  public init() {}
}
