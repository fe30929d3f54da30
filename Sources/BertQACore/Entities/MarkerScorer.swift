import CBertQA

/// The layers of a model that scores every span of at most `maxWidth` words.
///
/// A span's score is the product of its vector and the label's. The span's vector is second(relu(first(s, e))), where s
/// and e are vectors of its first and its last word. `first` is linear, so its products with s and with e are computed
/// once per word and added per span. `second` is multiplied with the labels instead of with every span.
struct MarkerScorer: SpanScorer {
  private let width: Int
  private let maxWidth: Int
  private let kernels: Kernels
  private let start: Projection
  private let end: Projection
  private let label: Projection
  /// `first` of spans for the first and for the last word. The bias is in `ofStart`.
  private let ofStart: LinearLayer
  private let ofEnd: LinearLayer
  /// `second` of spans.
  private let ofSpan: LinearLayer

  private struct Projection {
    let first: LinearLayer
    let second: LinearLayer
  }

  init(
    _ weights: PromptedWeights.Markers, _ settings: PromptedEntities, _ kernels: Kernels,
    _ converter: inout ParameterConverter
  ) throws(BertQAError) {
    func projection(_ weights: PromptedWeights.Projection) throws(BertQAError) -> Projection {
      Projection(
        first: try converter.floatLinear(weights.first), second: try converter.floatLinear(weights.second))
    }
    width = settings.width
    maxWidth = settings.maxWidth
    self.kernels = kernels
    start = try projection(weights.start)
    end = try projection(weights.end)
    label = try projection(weights.label)
    ofSpan = try converter.floatLinear(weights.span.second)
    let parts = try converter.parts(converter.floatLinear(weights.span.first), width: width)
    (ofStart, ofEnd) = (parts[0], parts[1])
  }

  var scoresPerWord: Int { maxWidth }

  private func stride(_ size: PromptedWorkspace.Size) -> Int {
    size.blocks * Kernels.lanes + maxWidth + Kernels.lanes
  }

  /// `firsts` and `seconds` have the products of `first` with the first and the last word of spans;
  /// [4 · width][words, 16 and `maxWidth` more].
  func reserve(_ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size) throws(BertQAError) {
    try workspace.firsts.reserve(4 * width * stride(size))
    try workspace.seconds.reserve(4 * width * stride(size))
    try workspace.factors.reserve(size.labels * 4 * width)
    try workspace.constants.reserve(size.labels)
    try workspace.scores.reserve(size.threads * size.labels * Kernels.lanes)
    try workspace.logits.reserve(size.words * maxWidth * size.labels)
  }

  /// Computes the vector of each label, and its products with `second` of spans.
  func prepareLabels(_ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size) {
    let lanes = Kernels.lanes
    let blocks = Kernels.blocks(tokens: size.labels)
    let x = workspace.labels.base
    let inner = x + blocks * width * lanes
    let y = inner + blocks * 4 * width * lanes
    kernels.apply(label.first, x, blocks: blocks, Kernels.Epilogue.relu, to: inner)
    kernels.apply(label.second, inner, blocks: blocks, Kernels.Epilogue.bias, to: y)
    let rows = (0..<Int32(width)).map(\.self)
    var vector = [Float](repeating: 0, count: width)
    for index in 0..<size.labels {
      let column = y + index / lanes * width * lanes + index % lanes
      var constant: Float = 0
      for feature in 0..<width {
        vector[feature] = column[feature * lanes]
        constant += vector[feature] * ofSpan.bias[feature]
      }
      workspace.constants[index] = constant
      kernels.table.sum_rows(
        ofSpan.floats, Int32(BQ_FORMAT_F32), rows, vector, width, 4 * width,
        workspace.factors.base + index * 4 * width)
    }
  }

  func score(
    _ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size, _ team: borrowing ThreadPool.Team
  ) {
    team.run(count: size.blocks) { block, seat in self.projectWords(block: block, seat: seat, workspace, size)
    }
    team.run(count: size.blocks) { block, seat in self.scoreSpans(block: block, seat: seat, workspace, size) }
  }

  /// Computes the products of `first` of spans with a block's words.
  private func projectWords(
    block: Int, seat: Int, _ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size
  ) {
    let lanes = Kernels.lanes
    let stride = stride(size)
    let x = workspace.words.base + block * width * lanes
    let inner = workspace.scratch.base + seat * size.scratch(width: width)
    let vectors = inner + 4 * width * lanes
    for (projection, first, target) in [
      (start, ofStart, workspace.firsts.base), (end, ofEnd, workspace.seconds.base),
    ] {
      kernels.apply(projection.first, x, Kernels.Epilogue.relu, to: inner)
      kernels.apply(projection.second, inner, Kernels.Epilogue.relu, to: vectors)
      kernels.apply(first, vectors, Kernels.Epilogue.bias, to: inner)
      for feature in 0..<4 * width {
        (target + feature * stride + block * lanes).update(from: inner + feature * lanes, count: lanes)
      }
    }
  }

  /// Scores the spans that begin in a block.
  private func scoreSpans(
    block: Int, seat: Int, _ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size
  ) {
    let (inner, lanes) = (4 * width, Kernels.lanes)
    let (words, labels, stride) = (size.words, size.labels, stride(size))
    let x = workspace.scratch.base + seat * size.scratch(width: width)
    let y = workspace.scores.base + seat * labels * lanes
    let first = block * lanes
    for length in 0..<min(maxWidth, words - first) {
      for feature in 0..<inner {
        let a = UnsafeRawPointer(workspace.firsts.base + feature * stride + first)
          .loadUnaligned(as: SIMD16<Float>.self)
        let b = UnsafeRawPointer(workspace.seconds.base + feature * stride + first + length)
          .loadUnaligned(as: SIMD16<Float>.self)
        let sum = a + b
        UnsafeMutableRawPointer(x + feature * lanes).storeBytes(
          of: sum.replacing(with: 0, where: sum .< 0), as: SIMD16<Float>.self)
      }
      kernels.table.linear_f32(
        workspace.factors.base, workspace.constants.base, x, 1, inner, labels, Kernels.Epilogue.bias, y,
        labels * lanes)
      for lane in 0..<min(lanes, words - length - first) {
        let target = workspace.logits.base + ((first + lane) * maxWidth + length) * labels
        for label in 0..<labels { target[label] = y[label * lanes + lane] }
      }
    }
  }

  func found(
    _ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size, _ rules: SpanSelection.Rules,
    _ monitor: CallMonitor
  ) throws(BertQAError) -> [SpanCandidate] {
    var found: [SpanCandidate] = []
    for first in 0..<size.words {
      try monitor.check()
      for length in 0..<min(maxWidth, size.words - first) {
        let logits = workspace.logits.base + (first * maxWidth + length) * size.labels
        for label in 0..<size.labels {
          let score = try SpanCandidate.score(logits[label])
          guard score >= rules.thresholds[label] else { continue }
          try found.makeRoom(for: 1, monitor)
          found.append(SpanCandidate(first: first, last: first + length, label: label, score: score))
        }
      }
    }
    return found
  }
}
