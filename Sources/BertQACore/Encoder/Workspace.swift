/// One thread's scratch memory. Its size depends on the model and the longest chunk so far, not on the number
/// of windows.
final class Workspace: @unchecked Sendable {
  // Sendable: used by one thread at a time.

  /// Activations of a chunk; [block][hidden][16].
  private var hidden = AlignedBuffer<Float>()
  /// The residual stream between bottlenecks; [block][layerWidth][16].
  private var inner = AlignedBuffer<Float>()
  /// Query, key and value, f32 or bf16; [block][3 · layerWidth][16]. Those of global tokens follow in models that have
  /// them, [block][6 · layerWidth][16].
  private var projections = AlignedBuffer<UInt8>()
  /// The result of attention; [block][layerWidth][16].
  private var context = AlignedBuffer<Float>()
  private var intermediate = AlignedBuffer<Float>()
  private var normalized = AlignedBuffer<Float>()
  private var turns = AlignedBuffer<Float>()
  private var attention = AlignedBuffer<Float>()
  private var packed = AlignedBuffer<UInt16>()
  private var quantization = AlignedBuffer<Float>()
  private var head = AlignedBuffer<Float>()
  private var headVectors = AlignedBuffer<Float>()

  /// A chunk's activations.
  struct Activations {
    var hidden: UnsafeMutablePointer<Float>
    /// The residual stream inside a layer: `hidden` in families without bottlenecks.
    var inner: UnsafeMutablePointer<Float>
    var projections: UnsafeMutableRawPointer
    var context: UnsafeMutablePointer<Float>
  }

  /// The memory of one task between reading and writing activations.
  struct Scratch {
    /// [block][intermediate][16] of a group of blocks, or their queries and keys
    var intermediate: UnsafeMutablePointer<Float>
    /// [block][hidden][16] of a group of blocks, in pre-norm families
    var normalized: UnsafeMutablePointer<Float>
    /// The rotations of one block's queries and keys, [headSize / 2][cosine, sine][16]
    var turns: UnsafeMutablePointer<Float>
    var attention: UnsafeMutablePointer<Float>
    /// The input of a linear layer for a group of blocks, with room for bf16.
    var packed: UnsafeMutableRawPointer
    /// [block][16] each
    var scale: UnsafeMutablePointer<Float>
    var offset: UnsafeMutablePointer<Float>
    /// `Head.scratchCount` floats
    var head: UnsafeMutablePointer<Float>
  }

  /// - Parameter projectionSize: bytes of a feature of a token's query, key and value.
  func activations(
    floatsPerFeature: Int, _ configuration: ModelConfiguration, projectionSize: Int
  ) throws(BertQAError) -> Activations {
    let inside = floatsPerFeature * configuration.layerWidth
    let isNarrow = configuration.narrow.width != nil
    try hidden.reserve(floatsPerFeature * configuration.hiddenSize)
    try inner.reserve(isNarrow ? inside : 0)
    try projections.reserve(inside * projectionSize)
    try context.reserve(inside)
    return Activations(
      hidden: hidden.base, inner: isNarrow ? inner.base : hidden.base,
      projections: UnsafeMutableRawPointer(projections.base),
      context: context.base)
  }

  /// - Parameters:
  ///   - intermediate: the floats of the widest activations of a group of blocks.
  ///   - normalized, turns: floats; 0 if the family does not use them.
  func scratch(
    intermediate: Int, normalized: Int, turns: Int, blocks: Int, attention: Int, head: Int
  ) throws(BertQAError) -> Scratch {
    let tokens = blocks * Kernels.lanes
    try self.intermediate.reserve(intermediate)
    try self.normalized.reserve(normalized)
    try self.turns.reserve(turns)
    try self.attention.reserve(attention)
    try packed.reserve(intermediate)
    try quantization.reserve(2 * tokens)
    try self.head.reserve(head)
    return Scratch(
      intermediate: self.intermediate.base, normalized: self.normalized.base, turns: self.turns.base,
      attention: self.attention.base,
      packed: UnsafeMutableRawPointer(packed.base), scale: quantization.base,
      offset: quantization.base + tokens, head: self.head.base)
  }

  /// Room for the vectors that a head reads and for its scratch memory, in floats.
  func headMemory(
    vectors: Int, scratch: Int
  ) throws(BertQAError) -> (vectors: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>) {
    try headVectors.reserve(vectors)
    try head.reserve(scratch)
    return (headVectors.base, head.base)
  }
}
