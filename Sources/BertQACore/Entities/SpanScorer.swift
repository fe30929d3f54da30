import CBertQA
import Glibc

/// The layers behind the encoder of a model that reads labels: they score every span of a window's words for every
/// label. Always f32. Immutable.
///
/// A span's score is the product of its vector and the label's. The span's vector is second(relu(first(s, e))), where s
/// and e are vectors of its first and its last word. `first` is linear, so its products with s and with e are computed
/// once per word and added per span. `second` is multiplied with the labels instead of with every span.
final class SpanScorer: @unchecked Sendable {
  // Sendable: parameters never change; workspaces are exclusive while in use.

  let settings: PromptedEntities
  private let kernels: Kernels
  private let threadLimit: Int
  private let recurrent: [[Direction]]
  private let start: Projection
  private let end: Projection
  private let label: Projection
  /// `first` of spans for the first and for the last word. The bias is in `ofStart`.
  private let ofStart: LinearLayer
  private let ofEnd: LinearLayer
  /// `second` of spans.
  private let ofSpan: LinearLayer
  private let workspaces = ObjectPool<Workspace>()
  private let owners: [any AnyObject & Sendable]

  private struct Projection {
    let first: LinearLayer
    let second: LinearLayer
  }

  private struct Direction {
    let input: LinearLayer
    let state: LinearLayer
  }

  /// A span of words and its score for a label.
  struct Candidate {
    /// The first and the last word.
    var first: Int
    var last: Int
    var label: Int
    /// A probability.
    var score: Float
  }

  private static let lanes = Kernels.lanes

  init(
    _ weights: PromptedWeights, _ kernels: Kernels, threadLimit: Int, owner: LoadedModel
  ) throws(BertQAError) {
    var converter = ParameterConverter(.f32, kernels)
    func projection(_ weights: PromptedWeights.Projection) throws(BertQAError) -> Projection {
      Projection(
        first: try converter.floatLinear(weights.first), second: try converter.floatLinear(weights.second))
    }
    settings = weights.settings
    self.kernels = kernels
    self.threadLimit = threadLimit
    var recurrent: [[Direction]] = []
    for layer in weights.recurrent {
      var directions: [Direction] = []
      for direction in layer {
        directions.append(
          Direction(
            input: try converter.floatLinear(direction.input),
            state: try converter.floatLinear(direction.state)))
      }
      recurrent.append(directions)
    }
    self.recurrent = recurrent
    start = try projection(weights.start)
    end = try projection(weights.end)
    label = try projection(weights.label)
    ofSpan = try converter.floatLinear(weights.span.second)
    let both = try converter.floatLinear(weights.span.first)
    let width = settings.width
    let parts = try converter.take(Float.self, count: both.outs * both.ins)
    let zeros = try converter.take(Float.self, count: both.outs)
    zeros.initialize(repeating: 0, count: both.outs)
    let elements = Self.elements(both)
    for row in 0..<both.outs {
      for part in 0..<2 {
        (parts + (part * both.outs + row) * width).initialize(
          from: elements + row * both.ins + part * width, count: width)
      }
    }
    ofStart = LinearLayer(
      weights: .f32(UnsafePointer(parts)), bias: both.bias, ins: width, outs: both.outs)
    ofEnd = LinearLayer(
      weights: .f32(UnsafePointer(parts + both.outs * width)), bias: UnsafePointer(zeros), ins: width,
      outs: both.outs)
    owners = converter.owners + [owner]
  }

  private static func elements(_ layer: LinearLayer) -> UnsafePointer<Float> {
    guard case .f32(let elements) = layer.weights else {
      preconditionFailure("weights of another type than f32")
    }
    return elements
  }

  /// The approximate bytes that a window needs.
  private func workBytes(words: Int, labels: Int) -> Int {
    let width = settings.width
    return MemoryLayout<Float>.stride
      * ((words + Self.lanes) * (13 * width + settings.maxWidth * labels) + 32 * 10 * width + labels * 10
        * width)
  }
}

// MARK: - One window

extension SpanScorer {
  /// The memory for a window. It grows to that of the largest one.
  private final class Workspace: @unchecked Sendable {
    // Sendable: used by one call at a time, whose threads write different parts.

    /// Words; [block][width][16].
    var words = AlignedBuffer<Float>()
    /// The input's contributions to the gates, by direction; [word][2 · width].
    var gates = [AlignedRows(), AlignedRows()]
    /// The products of `first` with the first and the last word of spans; [4 · width][words, 16 and `maxWidth` more].
    var starts = AlignedBuffer<Float>()
    var ends = AlignedBuffer<Float>()
    /// By thread: blocks of activations, and the state of a direction.
    var scratch = AlignedBuffer<Float>()
    /// The vectors of labels in blocks, and [label][4 · width] for the products with spans.
    var labels = AlignedBuffer<Float>()
    var factors = AlignedBuffer<Float>()
    /// The part of a label's score that no span changes.
    var constants = AlignedBuffer<Float>()
    /// [word][width of the span - 1][label]
    var logits = AlignedBuffer<Float>()
    /// By thread: the scores of a block's spans; [label][16].
    var scores = AlignedBuffer<Float>()
  }

  private final class AlignedRows: @unchecked Sendable {
    var rows = AlignedBuffer<Float>()
  }

  /// Returns the spans whose probability for a label is at least `threshold`, by first word, length and label.
  /// - Parameters:
  ///   - output: the encoder's vectors of a window.
  ///   - words: the token of each word in the window; nil for a word without tokens, whose vector has zeros.
  ///   - labels: the token of each label in the window.
  func candidates(
    _ output: WindowReader.Output, words: [Int?], labels: [Int], threshold: Float, _ monitor: CallMonitor
  ) throws(BertQAError) -> [Candidate] {
    guard !words.isEmpty else { return [] }
    let bytes = workBytes(words: words.count, labels: labels.count)
    try monitor.hold(bytes)
    defer { monitor.release(bytes) }
    let workspace = workspaces.take() ?? Workspace()
    defer { workspaces.give(workspace) }
    let wanted = threadLimit > 0 ? threadLimit : ThreadPool.shared.size
    let threads = max(1, min(wanted, words.count / Self.lanes))
    try reserve(workspace, words: words.count, labels: labels.count, threads: threads)
    gather(output, words, to: workspace.words.base)
    prepareLabels(output, labels, workspace)
    try monitor.check()
    run(workspace, words: words.count, labels: labels.count, threads: threads)
    try monitor.checkNow()
    return try found(workspace, words: words.count, labels: labels.count, threshold, monitor)
  }

  private func stride(words: Int) -> Int {
    Kernels.blocks(tokens: words) * Self.lanes + settings.maxWidth + Self.lanes
  }

  private var scratchCount: Int { 10 * settings.width * Self.lanes }

  private func reserve(
    _ workspace: Workspace, words: Int, labels: Int, threads: Int
  ) throws(BertQAError) {
    let (width, lanes) = (settings.width, Self.lanes)
    let blocks = Kernels.blocks(tokens: words)
    try workspace.words.reserve(blocks * width * lanes)
    if !recurrent.isEmpty {
      for gates in workspace.gates { try gates.rows.reserve(blocks * lanes * 2 * width) }
    }
    try workspace.starts.reserve(4 * width * stride(words: words))
    try workspace.ends.reserve(4 * width * stride(words: words))
    try workspace.scratch.reserve(max(2, threads) * scratchCount)
    try workspace.labels.reserve(Kernels.blocks(tokens: labels) * 6 * width * lanes)
    try workspace.factors.reserve(labels * 4 * width)
    try workspace.constants.reserve(labels)
    try workspace.scores.reserve(threads * labels * lanes)
    try workspace.logits.reserve(words * settings.maxWidth * labels)
  }

  /// Copies the vectors of tokens to blocks.
  private func gather(
    _ output: WindowReader.Output, _ tokens: [Int?], to target: UnsafeMutablePointer<Float>
  ) {
    let (width, lanes) = (settings.width, Self.lanes)
    target.update(repeating: 0, count: Kernels.blocks(tokens: tokens.count) * width * lanes)
    for (index, token) in tokens.enumerated() {
      guard let token else { continue }
      let column = target + index / lanes * width * lanes + index % lanes
      for feature in 0..<width { column[feature * lanes] = output.values[feature * output.stride + token] }
    }
  }

  private func apply(
    _ layer: LinearLayer, _ x: UnsafePointer<Float>, blocks: Int = 1, _ epilogue: Int32,
    to y: UnsafeMutablePointer<Float>
  ) {
    kernels.table.linear_f32(
      Self.elements(layer), layer.bias, x, blocks, layer.ins, layer.outs, epilogue, y, layer.outs * Self.lanes
    )
  }

  /// Computes the vector of each label, and its products with `second` of spans.
  private func prepareLabels(_ output: WindowReader.Output, _ labels: [Int], _ workspace: Workspace) {
    let (width, lanes) = (settings.width, Self.lanes)
    let blocks = Kernels.blocks(tokens: labels.count)
    let x = workspace.labels.base
    let inner = x + blocks * width * lanes
    let y = inner + blocks * 4 * width * lanes
    gather(output, labels, to: x)
    apply(label.first, x, blocks: blocks, Kernels.Epilogue.relu, to: inner)
    apply(label.second, inner, blocks: blocks, Kernels.Epilogue.bias, to: y)
    let rows = (0..<Int32(width)).map(\.self)
    var vector = [Float](repeating: 0, count: width)
    for index in labels.indices {
      let column = y + index / lanes * width * lanes + index % lanes
      var constant: Float = 0
      for feature in 0..<width {
        vector[feature] = column[feature * lanes]
        constant += vector[feature] * ofSpan.bias[feature]
      }
      workspace.constants[index] = constant
      kernels.table.sum_rows(
        Self.elements(ofSpan), Int32(BQ_FORMAT_F32), rows, vector, width, 4 * width,
        workspace.factors.base + index * 4 * width)
    }
  }

  private func run(_ workspace: Workspace, words: Int, labels: Int, threads: Int) {
    let team = ThreadPool.Team(maxThreads: threads)
    let blocks = Kernels.blocks(tokens: words)
    for layer in recurrent {
      team.run(count: blocks) { block, seat in self.makeGates(layer, block: block, seat: seat, workspace) }
      // Both directions have read the words, which they replace.
      team.run(count: 2) { side, _ in self.readWords(layer[side], side: side, count: words, workspace) }
    }
    let stride = stride(words: words)
    team.run(count: blocks) { block, seat in
      self.projectWords(block: block, seat: seat, stride: stride, workspace)
    }
    team.run(count: blocks) { block, seat in
      self.scoreSpans(block: block, seat: seat, words: words, labels: labels, stride: stride, workspace)
    }
  }

  /// Computes the contributions of a block's words to the gates of both directions.
  private func makeGates(_ layer: [Direction], block: Int, seat: Int, _ workspace: Workspace) {
    let (width, lanes) = (settings.width, Self.lanes)
    let y = workspace.scratch.base + seat * scratchCount
    for (side, direction) in layer.enumerated() {
      apply(
        direction.input, workspace.words.base + block * width * lanes, Kernels.Epilogue.bias, to: y)
      let rows = workspace.gates[side].rows.base + block * lanes * 2 * width
      for gate in 0..<2 * width {
        for lane in 0..<lanes { rows[lane * 2 * width + gate] = y[gate * lanes + lane] }
      }
    }
  }

  /// Takes one direction of an LSTM layer through the words.
  private func readWords(_ direction: Direction, side: Int, count: Int, _ workspace: Workspace) {
    let (width, lanes) = (settings.width, Self.lanes)
    let units = width / 2
    let h = workspace.scratch.base + side * scratchCount
    var (c, next) = (h + units, h + 2 * units)
    let state = h + 3 * units
    h.update(repeating: 0, count: 2 * units)
    let elements = Self.elements(direction.state)
    for step in 0..<count {
      let word = side == 0 ? step : count - 1 - step
      kernels.table.multiply_rows(
        elements, Int32(BQ_FORMAT_F32), direction.state.bias, h, units, 1, units, 4 * units, state, 4 * units)
      kernels.table.lstm_cell(
        workspace.gates[side].rows.base + word * 2 * width, state, units, units, c, next, h)
      swap(&c, &next)
      let column = workspace.words.base + (word / lanes * width + side * units) * lanes + word % lanes
      for unit in 0..<units { column[unit * lanes] = h[unit] }
    }
  }

  /// Computes the products of `first` of spans with a block's words.
  private func projectWords(block: Int, seat: Int, stride: Int, _ workspace: Workspace) {
    let (width, lanes) = (settings.width, Self.lanes)
    let x = workspace.words.base + block * width * lanes
    let inner = workspace.scratch.base + seat * scratchCount
    let vectors = inner + 4 * width * lanes
    for (projection, first, target) in [
      (start, ofStart, workspace.starts.base), (end, ofEnd, workspace.ends.base),
    ] {
      apply(projection.first, x, Kernels.Epilogue.relu, to: inner)
      apply(projection.second, inner, Kernels.Epilogue.relu, to: vectors)
      apply(first, vectors, Kernels.Epilogue.bias, to: inner)
      for feature in 0..<4 * width {
        (target + feature * stride + block * lanes).update(from: inner + feature * lanes, count: lanes)
      }
    }
  }

  /// Scores the spans that begin in a block.
  private func scoreSpans(
    block: Int, seat: Int, words: Int, labels: Int, stride: Int, _ workspace: Workspace
  ) {
    let (inner, lanes) = (4 * settings.width, Self.lanes)
    let x = workspace.scratch.base + seat * scratchCount
    let y = workspace.scores.base + seat * labels * lanes
    let first = block * lanes
    for length in 0..<min(settings.maxWidth, words - first) {
      for feature in 0..<inner {
        let a = UnsafeRawPointer(workspace.starts.base + feature * stride + first)
          .loadUnaligned(as: SIMD16<Float>.self)
        let b = UnsafeRawPointer(workspace.ends.base + feature * stride + first + length)
          .loadUnaligned(as: SIMD16<Float>.self)
        let sum = a + b
        UnsafeMutableRawPointer(x + feature * lanes).storeBytes(
          of: sum.replacing(with: 0, where: sum .< 0), as: SIMD16<Float>.self)
      }
      kernels.table.linear_f32(
        workspace.factors.base, workspace.constants.base, x, 1, inner, labels, Kernels.Epilogue.bias, y,
        labels * lanes)
      for lane in 0..<min(lanes, words - length - first) {
        let target = workspace.logits.base + ((first + lane) * settings.maxWidth + length) * labels
        for label in 0..<labels { target[label] = y[label * lanes + lane] }
      }
    }
  }

  private func found(
    _ workspace: Workspace, words: Int, labels: Int, _ threshold: Float, _ monitor: CallMonitor
  ) throws(BertQAError) -> [Candidate] {
    var found: [Candidate] = []
    for first in 0..<words {
      try monitor.check()
      for length in 0..<min(settings.maxWidth, words - first) {
        let logits = workspace.logits.base + (first * settings.maxWidth + length) * labels
        for label in 0..<labels {
          let logit = logits[label]
          guard logit.isFinite else { throw .nonFiniteResult("scores that are not finite numbers") }
          let score = 1 / (1 + expf(-logit))
          guard score >= threshold else { continue }
          try found.makeRoom(for: 1, monitor)
          found.append(Candidate(first: first, last: first + length, label: label, score: score))
        }
      }
    }
    return found
  }
}
