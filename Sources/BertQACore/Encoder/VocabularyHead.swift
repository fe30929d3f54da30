/// The last layer of a head for masked words: a logit per vocabulary piece for each token. Logits become a weight per
/// piece at once, because those of all tokens would take too much memory. Uses the encoder's arithmetic, because it
/// takes as long as several of its layers.
struct VocabularyHead: @unchecked Sendable {
  // Sendable: the encoder's parameters never change, and it lives as long.

  let encoder: Encoder
  let pooling: SparsePooling
  private let layer: LinearLayer

  /// The pieces that a task computes, and the tasks between two polls.
  private static let (piecesPerTask, tasksPerPoll) = (256, 16)

  /// nil if the encoder has no such layer.
  init?(_ encoder: Encoder, _ pooling: SparsePooling) {
    guard let layer = encoder.parameters.vocabulary else { return nil }
    self.encoder = encoder
    self.pooling = pooling
    self.layer = layer
  }

  /// The number of pieces.
  var count: Int { layer.outs }

  /// Raises the weights of a text, [count], by those of a window.
  /// - Parameter weights: zeros for the first window.
  func add(
    _ window: WindowReader.Output, to weights: UnsafeMutablePointer<Float>, _ monitor: CallMonitor
  ) throws(BertQAError) {
    let blocks = Kernels.blocks(tokens: window.tokenCount)
    // [block][feature][16]
    let vectors = try SharedBuffer<Float>(count: blocks * layer.ins * Kernels.lanes)
    vectors.base.initialize(repeating: 0, count: vectors.count)
    for token in 0..<window.tokenCount {
      let column =
        vectors.base + token / Kernels.lanes * layer.ins * Kernels.lanes + token % Kernels.lanes
      for feature in 0..<layer.ins {
        column[feature * Kernels.lanes] = window.values[feature * window.stride + token]
      }
    }
    let tasks = (count + Self.piecesPerTask - 1) / Self.piecesPerTask
    let available = encoder.threadLimit > 0 ? encoder.threadLimit : ThreadPool.shared.size
    let threads = max(1, min(available, tasks))
    let logits = try SharedBuffer<Float>(
      count: threads * blocks * Self.piecesPerTask * Kernels.lanes)
    let packed = try SharedBuffer<UInt16>(count: encoder.arithmetic == .f32 ? 0 : vectors.count)
    let steps = try SharedBuffer<Float>(count: 2 * blocks * Kernels.lanes)
    let space = Encoder.PackingSpace(
      elements: UnsafeMutableRawPointer(packed.base), scale: steps.base,
      offset: steps.base + blocks * Kernels.lanes)
    let work = Work(
      head: self, tokenCount: window.tokenCount,
      vectors: encoder.pack(vectors.base, blocks: blocks, features: layer.ins, space), logits: logits,
      weights: weights)
    defer { withExtendedLifetime((vectors, packed, steps)) {} }
    for first in stride(from: 0, to: tasks, by: Self.tasksPerPoll) {
      try monitor.check()
      work.run(first..<min(tasks, first + Self.tasksPerPoll), threads: threads)
    }
  }

  private struct Work: @unchecked Sendable {
    // Sendable: tasks write different weights and, by their seats, different logits.

    let head: VocabularyHead
    let tokenCount: Int
    let vectors: PackedActivations
    /// [seat][block][piecesPerTask][16]
    let logits: SharedBuffer<Float>
    let weights: UnsafeMutablePointer<Float>

    func run(_ tasks: Range<Int>, threads: Int) {
      let team = ThreadPool.Team(maxThreads: threads)
      team.run(count: tasks.count) { task, seat in compute(tasks.lowerBound + task, seat: seat) }
    }

    private func compute(_ task: Int, seat: Int) {
      let first = task * VocabularyHead.piecesPerTask
      let layer = head.layer.rows(first..<min(head.count, first + VocabularyHead.piecesPerTask))
      let blocks = Kernels.blocks(tokens: tokenCount)
      let y = logits.base + seat * blocks * VocabularyHead.piecesPerTask * Kernels.lanes
      head.encoder.multiply(
        layer, vectors, blocks: blocks, Kernels.Epilogue.bias, y, stride: layer.outs * Kernels.lanes)
      for piece in 0..<layer.outs {
        let (largest, sum) = gather(y + piece * Kernels.lanes, stride: layer.outs * Kernels.lanes)
        let target = weights + first + piece
        if head.pooling.sums {
          target.pointee += sum
        } else {
          let weight = head.pooling.weight(largest)
          target.pointee = weight > target.pointee || weight.isNaN ? weight : target.pointee
        }
      }
    }

    /// Returns the largest logit of a piece and, for poolings that sum, the sum of its weights. A NaN logit makes
    /// both NaN.
    /// - Parameter y: those of 16 tokens, followed by others after each `stride`.
    private func gather(_ y: UnsafePointer<Float>, stride: Int) -> (largest: Float, sum: Float) {
      let whole = tokenCount / Kernels.lanes
      var lanes = SIMD16<Float>(repeating: -.infinity)
      for block in 0..<whole {
        let logits = UnsafeRawPointer(y + block * stride).loadUnaligned(as: SIMD16<Float>.self)
        lanes.replace(with: logits, where: (logits .> lanes) .| (logits .!= logits))
      }
      var (largest, sum) = (-Float.infinity, Float(0))
      func take(_ logit: Float) { largest = logit > largest || logit.isNaN ? logit : largest }
      for lane in 0..<Kernels.lanes where whole > 0 { take(lanes[lane]) }
      for lane in 0..<tokenCount % Kernels.lanes { take(y[whole * stride + lane]) }
      if head.pooling.sums {
        for token in 0..<tokenCount {
          sum += head.pooling.weight(y[token / Kernels.lanes * stride + token % Kernels.lanes])
        }
      }
      return (largest, sum)
    }
  }
}
