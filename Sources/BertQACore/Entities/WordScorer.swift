import CBertQA

/// The layers of a model that scores each word as the first, as the last and as any word of an entity, for each
/// label.
///
/// A word's three logits are second(relu(first(w, l, w' · l'))), where w and w' are vectors of the word, l and l' are
/// those of the label, and the last product is element by element. `first` is linear, so its products with w and with
/// l are computed once per word and once per label.
struct WordScorer: SpanScorer {
  private let width: Int
  private let kernels: Kernels
  private let token: LinearLayer
  private let label: LinearLayer
  /// `first` for w, l and their product. The bias is in `ofWord`.
  private let ofWord: LinearLayer
  private let ofLabel: LinearLayer
  private let ofProduct: LinearLayer
  private let second: LinearLayer

  /// The place of a word in an entity, in the order of the rows of `second`.
  private enum Place: Int, CaseIterable {
    case first
    case last
    case inside
  }

  init(
    _ weights: PromptedWeights.Tokens, _ settings: PromptedEntities, _ kernels: Kernels,
    _ converter: inout ParameterConverter
  ) throws(BertQAError) {
    width = settings.width
    self.kernels = kernels
    token = try converter.floatLinear(weights.token)
    label = try converter.floatLinear(weights.label)
    second = try converter.floatLinear(weights.both.second)
    let parts = try converter.parts(converter.floatLinear(weights.both.first), width: width)
    (ofWord, ofLabel, ofProduct) = (parts[0], parts[1], parts[2])
  }

  var scoresPerWord: Int { Place.allCases.count }

  /// `firsts` has the products of `first` with each word, [block][4 · width][16]; `seconds` has w', [block][width][16].
  func reserve(_ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size) throws(BertQAError) {
    let lanes = Kernels.lanes
    try workspace.firsts.reserve(size.blocks * 4 * width * lanes)
    try workspace.seconds.reserve(size.blocks * width * lanes)
    try workspace.factors.reserve(size.labels * width)
    try workspace.constants.reserve(size.labels * 4 * width)
    try workspace.scores.reserve(size.threads * scoresPerWord * lanes)
    try workspace.logits.reserve(size.words * scoresPerWord * size.labels)
  }

  /// Computes l', [label][width], and the products of `first` with l, [label][4 · width].
  func prepareLabels(_ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size) {
    let lanes = Kernels.lanes
    let blocks = Kernels.blocks(tokens: size.labels)
    let x = workspace.labels.base
    let vectors = x + blocks * width * lanes
    let products = vectors + 2 * blocks * width * lanes
    kernels.apply(label, x, blocks: blocks, Kernels.Epilogue.bias, to: vectors)
    for block in 0..<blocks {
      kernels.apply(
        ofLabel, vectors + 2 * block * width * lanes, Kernels.Epilogue.bias,
        to: products + 4 * block * width * lanes)
    }
    for index in 0..<size.labels {
      let (block, lane) = (index / lanes, index % lanes)
      for feature in 0..<width {
        workspace.factors.base[index * width + feature] =
          vectors[((2 * block + 1) * width + feature) * lanes + lane]
      }
      for feature in 0..<4 * width {
        workspace.constants.base[index * 4 * width + feature] =
          products[(4 * block * width + feature) * lanes + lane]
      }
    }
  }

  func score(
    _ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size, _ team: borrowing ThreadPool.Team
  ) {
    team.run(count: size.blocks) { block, seat in self.scoreWords(block: block, seat: seat, workspace, size) }
  }

  /// Scores the words of a block.
  private func scoreWords(
    block: Int, seat: Int, _ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size
  ) {
    let (inner, lanes) = (4 * width, Kernels.lanes)
    let scratch = workspace.scratch.base + seat * size.scratch(width: width)
    let hidden = scratch + 2 * width * lanes
    let ofWords = workspace.firsts.base + block * inner * lanes
    let vectors = workspace.seconds.base + block * width * lanes
    kernels.apply(token, workspace.words.base + block * width * lanes, Kernels.Epilogue.bias, to: scratch)
    kernels.apply(ofWord, scratch, Kernels.Epilogue.bias, to: ofWords)
    vectors.update(from: scratch + width * lanes, count: width * lanes)
    let scores = workspace.scores.base + seat * scoresPerWord * lanes
    for label in 0..<size.labels {
      let factors = workspace.factors.base + label * width
      for feature in 0..<width {
        let place = feature * lanes
        let vector = UnsafeRawPointer(vectors + place).loadUnaligned(as: SIMD16<Float>.self)
        UnsafeMutableRawPointer(scratch + place).storeBytes(
          of: vector * factors[feature], as: SIMD16<Float>.self)
      }
      hidden.update(from: ofWords, count: inner * lanes)
      kernels.table.linear_f32(
        ofProduct.floats, workspace.constants.base + label * inner, scratch, 1, width, inner,
        Kernels.Epilogue.residual, hidden, inner * lanes)
      for feature in 0..<inner {
        let place = UnsafeMutableRawPointer(hidden + feature * lanes)
        let sum = place.loadUnaligned(as: SIMD16<Float>.self)
        place.storeBytes(of: sum.replacing(with: 0, where: sum .< 0), as: SIMD16<Float>.self)
      }
      kernels.apply(second, hidden, Kernels.Epilogue.bias, to: scores)
      for lane in 0..<min(lanes, size.words - block * lanes) {
        for place in 0..<scoresPerWord {
          let row = (block * lanes + lane) * scoresPerWord + place
          workspace.logits.base[row * size.labels + label] = scores[place * lanes + lane]
        }
      }
    }
  }

  /// A span's score is the lowest one of its first word, its last word and the words inside, which all reach the
  /// threshold. The ends of a span that begins at a word are searched only as far as the words do.
  func found(
    _ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size, _ rules: SpanSelection.Rules,
    _ monitor: CallMonitor
  ) throws(BertQAError) -> [SpanCandidate] {
    func score(_ word: Int, _ place: Place, _ label: Int) -> Float {
      workspace.logits.base[(word * scoresPerWord + place.rawValue) * size.labels + label]
    }
    for index in 0..<size.words * scoresPerWord * size.labels {
      workspace.logits.base[index] = try SpanCandidate.score(workspace.logits.base[index])
    }
    var found: [SpanCandidate] = []
    for first in 0..<size.words {
      for label in 0..<size.labels {
        try monitor.check()
        let threshold = rules.thresholds[label]
        var lowest = score(first, .first, label)
        var best: Float = 0
        var last = first
        while lowest >= threshold, last < size.words {
          lowest = min(lowest, score(last, .inside, label))
          let score = min(lowest, score(last, .last, label))
          // Of spans that overlap, a shorter one of the same first word and an equal score comes before this one.
          if score >= threshold, rules.isNested || score > best {
            best = score
            try found.makeRoom(for: 1, monitor)
            found.append(SpanCandidate(first: first, last: last, label: label, score: score))
          }
          last += 1
        }
      }
    }
    return found
  }
}
