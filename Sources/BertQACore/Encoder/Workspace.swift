/// One thread's scratch memory. Its size depends on the model and the longest chunk seen, not on the
/// number of windows.
final class Workspace: @unchecked Sendable {
  // Sendable: used by one thread at a time.

  /// Activations of a chunk; [block][hidden][16].
  private var hidden = AlignedBuffer<Float>()
  /// Query, key and value; [block][3 · hidden][16].
  private var projections = AlignedBuffer<Float>()
  /// What attention gathered; [block][hidden][16].
  private var context = AlignedBuffer<Float>()
  private var intermediate = AlignedBuffer<Float>()
  private var attention = AlignedBuffer<Float>()

  /// A chunk's activations.
  struct Activations {
    var hidden: UnsafeMutablePointer<Float>
    var projections: UnsafeMutablePointer<Float>
    var context: UnsafeMutablePointer<Float>
  }

  /// What one task needs between reading and writing activations.
  struct Scratch {
    /// [block][intermediate][16] of a group of blocks
    var intermediate: UnsafeMutablePointer<Float>
    var attention: UnsafeMutablePointer<Float>
  }

  func activations(floatsPerFeature: Int, hiddenSize: Int) throws(BertQAError) -> Activations {
    try hidden.reserve(floatsPerFeature * hiddenSize)
    try projections.reserve(floatsPerFeature * hiddenSize * 3)
    try context.reserve(floatsPerFeature * hiddenSize)
    return Activations(hidden: hidden.base, projections: projections.base, context: context.base)
  }

  func scratch(intermediate: Int, attention: Int) throws(BertQAError) -> Scratch {
    try self.intermediate.reserve(intermediate)
    try self.attention.reserve(attention)
    return Scratch(intermediate: self.intermediate.base, attention: self.attention.base)
  }
}
