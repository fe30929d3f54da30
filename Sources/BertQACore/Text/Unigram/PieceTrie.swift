/// The pieces of a vocabulary as a trie in a double array (Aoe, "An efficient digital search algorithm by using a
/// double-array structure", 1989; with exclusive or in place of addition): a step along a byte is one load.
struct PieceTrie: ~Copyable {
  /// A node: 9 bits of label, 23 bits of value + 1 (0 where no piece ends; ids of
  /// a `Vocabulary` have 22), 32 bits of the offset of its children.
  struct Node: BitwiseCopyable {
    var bits: UInt64

    /// What a node reached by `byte` has as its label; a place that no node uses has 0.
    @inline(__always)
    static func label(_ byte: UInt8) -> UInt64 { 0x100 | UInt64(byte) }

    @inline(__always) var label: UInt64 { bits & 0x1FF }
    /// The id of the piece that ends here; -1 where none does.
    @inline(__always) var value: Int32 { Int32(truncatingIfNeeded: bits &>> 9 & 0x7F_FFFF) &- 1 }
    @inline(__always) var offset: Int { Int(truncatingIfNeeded: bits &>> 32) }
  }

  /// Node 0 is the root. Offsets and labels stay inside blocks of 256 nodes, so that a step needs no check of bounds.
  private let nodes: AlignedBuffer<Node>
  /// Bytes of the longest piece.
  let depth: Int

  init(nodes: consuming AlignedBuffer<Node>, depth: Int) {
    self.nodes = nodes
    self.depth = depth
  }

  /// Valid as long as the trie.
  @inline(__always) var root: UnsafePointer<Node> { UnsafePointer(nodes.base) }

  /// The value of a whole piece; nil where there is none.
  func value(of piece: UnsafeBufferPointer<UInt8>) -> Int32? {
    var node = root[0]
    for byte in piece {
      node = root[node.offset ^ Int(byte)]
      if node.label != Node.label(byte) { return nil }
    }
    return node.value >= 0 ? node.value : nil
  }
}
