import CBertQA
import Glibc

/// Layers that score spans of words for labels.
protocol SpanScorer {
  /// The number of scores that a label has for each word.
  var scoresPerWord: Int { get }

  /// Makes room for a window in the buffers that only such layers use.
  func reserve(_ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size) throws(BertQAError)

  /// Computes what depends on labels alone, from their vectors at the beginning of `labels`.
  func prepareLabels(_ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size)

  /// Computes `logits` from `words`.
  func score(
    _ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size, _ team: borrowing ThreadPool.Team)

  /// Returns the spans of `logits`, in the order of the package gliner.
  func found(
    _ workspace: PromptedWorkspace, _ size: PromptedWorkspace.Size, _ rules: SpanSelection.Rules,
    _ monitor: CallMonitor
  ) throws(BertQAError) -> [SpanCandidate]
}

/// A span of words and its score for a label.
struct SpanCandidate {
  /// The first and the last word.
  var first: Int
  var last: Int
  var label: Int
  /// A probability.
  var score: Float

  /// The probability of a logit.
  static func score(_ logit: Float) throws(BertQAError) -> Float {
    guard logit.isFinite else { throw .nonFiniteResult("scores that are not finite numbers") }
    return 1 / (1 + expf(-logit))
  }
}

/// The memory for a window. It grows to that of the largest one.
final class PromptedWorkspace: @unchecked Sendable {
  // Sendable: used by one call at a time, whose threads write different parts.

  struct Size {
    var words: Int
    var labels: Int
    var threads: Int

    var blocks: Int { Kernels.blocks(tokens: words) }

    /// The numbers of a thread's part of `scratch`.
    func scratch(width: Int) -> Int { 10 * width * Kernels.lanes }
  }

  /// Words; [block][width][16].
  var words = AlignedBuffer<Float>()
  /// The input's contributions to the gates, by direction; [word][2 · width].
  var gates = [AlignedRows(), AlignedRows()]
  /// Two vectors of each word.
  var firsts = AlignedBuffer<Float>()
  var seconds = AlignedBuffer<Float>()
  /// By thread: blocks of activations, and the state of a direction.
  var scratch = AlignedBuffer<Float>()
  /// The vectors of labels in blocks.
  var labels = AlignedBuffer<Float>()
  /// By label: what it multiplies, and what no word changes.
  var factors = AlignedBuffer<Float>()
  var constants = AlignedBuffer<Float>()
  /// [word][`scoresPerWord`][label]
  var logits = AlignedBuffer<Float>()
  /// By thread: the scores of a block; [label][16].
  var scores = AlignedBuffer<Float>()

  final class AlignedRows: @unchecked Sendable {
    var rows = AlignedBuffer<Float>()
  }
}

extension LinearLayer {
  /// Weights of f32.
  var floats: UnsafePointer<Float> {
    guard case .f32(let elements) = weights else { preconditionFailure("weights of another type than f32") }
    return elements
  }
}

extension Kernels {
  func apply(
    _ layer: LinearLayer, _ x: UnsafePointer<Float>, blocks: Int = 1, _ epilogue: Int32,
    to y: UnsafeMutablePointer<Float>
  ) {
    table.linear_f32(
      layer.floats, layer.bias, x, blocks, layer.ins, layer.outs, epilogue, y, layer.outs * Self.lanes)
  }
}

extension ParameterConverter {
  /// Divides a layer that reads several vectors, one after the other, into layers that read one each. Only the first
  /// one has the bias.
  mutating func parts(_ layer: LinearLayer, width: Int) throws(BertQAError) -> [LinearLayer] {
    let zeros = try take(Float.self, count: layer.outs)
    zeros.initialize(repeating: 0, count: layer.outs)
    var parts: [LinearLayer] = []
    for part in 0..<layer.ins / width {
      let copy = try take(Float.self, count: layer.outs * width)
      for row in 0..<layer.outs {
        (copy + row * width).initialize(from: layer.floats + row * layer.ins + part * width, count: width)
      }
      parts.append(
        LinearLayer(
          weights: .f32(UnsafePointer(copy)), bias: part == 0 ? layer.bias : UnsafePointer(zeros), ins: width,
          outs: layer.outs))
    }
    return parts
  }
}
