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

  init(nodes: consuming AlignedBuffer<Node>) { self.nodes = nodes }

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

  /// The longest piece that a text begins with; id -1 if there is none.
  func longestMatch(_ text: UnsafePointer<UInt8>, count: Int) -> (id: Int32, length: Int) {
    let root = self.root
    var found: (id: Int32, length: Int) = (-1, 0)
    var node = root[0]
    var length = 0
    while length < count {
      let byte = text[length]
      node = root[node.offset ^ Int(byte)]
      if node.label != Node.label(byte) { break }
      length &+= 1
      if node.value >= 0 { found = (node.value, length) }
    }
    return found
  }
}
