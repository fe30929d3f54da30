import CBertQA
import Glibc

/// The layers after the encoder of a model that reads labels. An LSTM reads the vectors of a window's words in both
/// directions; then a `SpanScorer` finds spans. Always f32. Immutable.
final class PromptedScorer: @unchecked Sendable {
  // Sendable: parameters never change; workspaces are exclusive while in use.

  let settings: PromptedEntities
  private let kernels: Kernels
  private let threadLimit: Int
  private let recurrent: [[Direction]]
  private let spans: any SpanScorer
  private let workspaces = ObjectPool<PromptedWorkspace>()
  private let owners: [any AnyObject & Sendable]

  private struct Direction {
    let input: LinearLayer
    let state: LinearLayer
  }

  init(
    _ weights: PromptedWeights, _ kernels: Kernels, threadLimit: Int, owner: LoadedModel
  ) throws(BertQAError) {
    var converter = ParameterConverter(.f32, kernels)
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
    spans =
      switch weights.spans {
      case .markers(let layers): try MarkerScorer(layers, settings, kernels, &converter)
      case .tokens(let layers): try WordScorer(layers, settings, kernels, &converter)
      }
    owners = converter.owners + [owner]
  }

  /// The approximate bytes that a window needs.
  private func workBytes(words: Int, labels: Int) -> Int {
    let width = settings.width
    return MemoryLayout<Float>.stride
      * ((words + Kernels.lanes) * (13 * width + spans.scoresPerWord * labels) + 32 * 10 * width
        + labels * 11 * width)
  }

  /// Returns the spans whose probability for a label is at least the label's threshold, by first word, then in the
  /// order of the package gliner.
  /// - Parameters:
  ///   - output: the encoder's vectors of a window.
  ///   - words: the token of each word in the window; nil for a word without tokens, whose vector has zeros.
  ///   - labels: the token of each label in the window.
  func candidates(
    _ output: WindowReader.Output, words: [Int?], labels: [Int], _ rules: SpanSelection.Rules,
    _ monitor: CallMonitor
  ) throws(BertQAError) -> [SpanCandidate] {
    guard !words.isEmpty else { return [] }
    let bytes = workBytes(words: words.count, labels: labels.count)
    try monitor.hold(bytes)
    defer { monitor.release(bytes) }
    let workspace = workspaces.take() ?? PromptedWorkspace()
    defer { workspaces.give(workspace) }
    let wanted = threadLimit > 0 ? threadLimit : ThreadPool.shared.size
    let threads = max(1, min(wanted, words.count / Kernels.lanes))
    let size = PromptedWorkspace.Size(words: words.count, labels: labels.count, threads: threads)
    try reserve(workspace, size)
    gather(output, words, to: workspace.words.base)
    gather(output, labels, to: workspace.labels.base)
    spans.prepareLabels(workspace, size)
    try monitor.check()
    run(workspace, size)
    try monitor.checkNow()
    return try spans.found(workspace, size, rules, monitor)
  }

  private func reserve(
    _ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size
  ) throws(BertQAError) {
    let (width, lanes) = (settings.width, Kernels.lanes)
    try workspace.words.reserve(size.blocks * width * lanes)
    if !recurrent.isEmpty {
      for gates in workspace.gates { try gates.rows.reserve(size.blocks * lanes * 2 * width) }
    }
    try workspace.scratch.reserve(max(2, size.threads) * size.scratch(width: width))
    try workspace.labels.reserve(Kernels.blocks(tokens: size.labels) * 7 * width * lanes)
    try spans.reserve(workspace, size)
  }

  /// Copies the vectors of tokens to blocks.
  private func gather(
    _ output: WindowReader.Output, _ tokens: [Int?], to target: UnsafeMutablePointer<Float>
  ) {
    let (width, lanes) = (settings.width, Kernels.lanes)
    target.update(repeating: 0, count: Kernels.blocks(tokens: tokens.count) * width * lanes)
    for (index, token) in tokens.enumerated() {
      guard let token else { continue }
      let column = target + index / lanes * width * lanes + index % lanes
      for feature in 0..<width { column[feature * lanes] = output.values[feature * output.stride + token] }
    }
  }
}

// MARK: - The LSTM

extension PromptedScorer {
  private func run(_ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size) {
    let team = ThreadPool.Team(maxThreads: size.threads)
    read(workspace, size, team)
    spans.score(workspace, size, team)
  }

  /// Takes the words through the LSTM's layers.
  private func read(
    _ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size, _ team: borrowing ThreadPool.Team
  ) {
    for layer in recurrent {
      team.run(count: size.blocks) { block, seat in
        self.makeGates(layer, block: block, seat: seat, workspace, size)
      }
      // Both directions have read the words, which they replace.
      team.run(count: 2) { side, _ in self.readWords(layer[side], side: side, workspace, size) }
    }
  }

  /// Computes the contributions of a block's words to the gates of both directions.
  private func makeGates(
    _ layer: [Direction], block: Int, seat: Int, _ workspace: PromptedWorkspace,
    _ size: PromptedWorkspace.Size
  ) {
    let (width, lanes) = (settings.width, Kernels.lanes)
    let y = workspace.scratch.base + seat * size.scratch(width: width)
    for (side, direction) in layer.enumerated() {
      kernels.apply(
        direction.input, workspace.words.base + block * width * lanes, Kernels.Epilogue.bias, to: y)
      let rows = workspace.gates[side].rows.base + block * lanes * 2 * width
      for gate in 0..<2 * width {
        for lane in 0..<lanes { rows[lane * 2 * width + gate] = y[gate * lanes + lane] }
      }
    }
  }

  /// Takes one direction of an LSTM layer through the words.
  private func readWords(
    _ direction: Direction, side: Int, _ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size
  ) {
    let (width, lanes, count) = (settings.width, Kernels.lanes, size.words)
    let units = width / 2
    let h = workspace.scratch.base + side * size.scratch(width: width)
    var (c, next) = (h + units, h + 2 * units)
    let state = h + 3 * units
    h.update(repeating: 0, count: 2 * units)
    let elements = direction.state.floats
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
}
