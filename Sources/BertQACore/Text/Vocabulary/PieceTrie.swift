/// The pieces of a vocabulary as a trie in a double array (Aoe, "An efficient digital search algorithm by using a
/// double-array structure", 1989; with exclusive or in place of addition): a step along a byte is one load.
struct PieceTrie: ~Copyable {
  /// A node: 9 bits of label, 23 bits of value + 1 (0 where no piece ends; ids of
  /// a `Vocabulary` have 22), 32 bits of the offset of its children.
  struct Node: BitwiseCopyable {
    var bits: UInt64

    /// The label of a node reached by `byte`; an unused place has 0.
    @inline(__always)
    static func label(_ byte: UInt8) -> UInt64 { 0x100 | UInt64(byte) }

    @inline(__always) var label: UInt64 { bits & 0x1FF }
    /// The id of the piece that ends here; -1 if none does.
    @inline(__always) var value: Int32 { Int32(truncatingIfNeeded: bits &>> 9 & 0x7F_FFFF) &- 1 }
    @inline(__always) var offset: Int { Int(truncatingIfNeeded: bits &>> 32) }
  }

  /// Node 0 is the root. Offsets and labels stay inside blocks of 256 nodes, so that a step needs no check of bounds.
  private let nodes: AlignedBuffer<Node>

  init(nodes: consuming AlignedBuffer<Node>) { self.nodes = nodes }

  /// Valid as long as the trie.
  @inline(__always) var root: UnsafePointer<Node> { UnsafePointer(nodes.base) }

  /// Returns the id of a whole piece; nil if there is none.
  func value(of piece: UnsafeBufferPointer<UInt8>) -> Int32? {
    var node = root[0]
    for byte in piece {
      node = root[node.offset ^ Int(byte)]
      if node.label != Node.label(byte) { return nil }
    }
    return node.value >= 0 ? node.value : nil
  }

  /// Returns the longest piece that a text begins with; id -1 if there is none.
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

extension PieceTrie {
  /// A piece: its range in the bytes of all pieces, and its id.
  struct Entry: BitwiseCopyable {
    var bounds: PieceBounds
    var id: Int32

    var count: Int { Int(bounds.end &- bounds.begin) }
  }

  /// Makes the trie of the pieces; of equal ones the greatest id wins.
  ///
  /// Time: that of sorting the pieces, then linear in their bytes.
  /// - Parameter pieces: not empty.
  static func make(
    _ pieces: [Entry], in bytes: UnsafePointer<UInt8>, _ monitor: CallMonitor? = nil
  ) throws(BertQAError) -> PieceTrie {
    var builder = Builder()
    try builder.addRoot()
    let order = try Self.sorted(pieces, bytes, monitor)
    // Nodes whose children are not placed yet: the pieces that share their first `depth` bytes.
    var pending = try [Builder.Subtree](checkedCapacity: 1024)
    pending.append(Builder.Subtree(begin: 0, end: order.count, depth: 0, node: 0))
    var placed = 0
    while let subtree = pending.popLast() {
      if placed % Pipeline.checkInterval == 0 { try monitor?.check() }
      placed += 1
      try pending.makeRoom(for: 256)
      try builder.place(subtree, order, bytes, &pending)
    }
    return PieceTrie(nodes: try builder.finish())
  }

  /// Sorts the pieces by bytes, and equal ones by id.
  private static func sorted(
    _ pieces: [Entry], _ bytes: UnsafePointer<UInt8>, _ monitor: CallMonitor?
  ) throws(BertQAError) -> [Entry] {
    // Compares the first eight bytes as a number, which avoids nearly all comparisons of memory.
    typealias Key = (prefix: UInt64, piece: Entry)
    let keys = try pieces.checkedMap { piece -> Key in
      let base = bytes + Int(piece.bounds.begin)
      var prefix: UInt64 = 0
      for offset in 0..<8 { prefix = prefix << 8 | UInt64(offset < piece.count ? base[offset] : 0) }
      return (prefix, piece)
    }
    let order = try keys.checkedSorted(monitor.map { CallPoll($0) }) { first, second in
      if first.prefix != second.prefix { return first.prefix < second.prefix }
      let (left, right) = (bytes + Int(first.piece.bounds.begin), bytes + Int(second.piece.bounds.begin))
      let (leftCount, rightCount) = (first.piece.count, second.piece.count)
      for index in 0..<min(leftCount, rightCount) where left[index] != right[index] {
        return left[index] < right[index]
      }
      return leftCount != rightCount ? leftCount < rightCount : first.piece.id < second.piece.id
    }
    return try order.checkedMap { $0.piece }
  }

  /// Builds the nodes of a trie.
  private struct Builder: ~Copyable {
    struct Subtree {
      var begin: Int
      var end: Int
      var depth: Int
      var node: Int
    }

    /// The number of places tried for a node's children before a new block is made.
    static var trials: Int { 64 }
    static var none: UInt32 { .max }

    private var nodes = GrowableBuffer<Node>()
    /// 1 if the children of a node have this offset.
    private var isOffset = GrowableBuffer<UInt8>()
    /// The list of free places: the one before and after each.
    private var previous = GrowableBuffer<UInt32>()
    private var next = GrowableBuffer<UInt32>()
    private var first = Builder.none
    private var last = Builder.none
    /// The labels of the children that are being placed.
    private var labels: [UInt8] = []

    /// The first block holds the root alone: leaves have offset 0, where no label fits.
    mutating func addRoot() throws(BertQAError) {
      try addBlock()
      while first != Self.none { remove(first) }
    }

    func finish() throws(BertQAError) -> AlignedBuffer<Node> {
      let result = try AlignedBuffer<Node>(uninitializedCount: nodes.count)
      result.base.initialize(from: nodes.base, count: nodes.count)
      return result
    }

    /// Sets the value of the subtree's node and places its children.
    mutating func place(
      _ subtree: Subtree, _ order: [Entry], _ bytes: UnsafePointer<UInt8>, _ pending: inout [Subtree]
    ) throws(BertQAError) {
      var begin = subtree.begin
      let depth = subtree.depth
      while begin < subtree.end, order[begin].count == depth {
        let value = UInt64(order[begin].id) + 1
        nodes[subtree.node].bits = nodes[subtree.node].bits & ~(0x7F_FFFF << 9) | value << 9
        begin += 1
      }
      if begin == subtree.end { return }
      let firstChild = pending.count
      labels.removeAll(keepingCapacity: true)
      for index in begin..<subtree.end {
        let label = bytes[Int(order[index].bounds.begin) + depth]
        if labels.last != label {
          labels.append(label)
          pending.append(Subtree(begin: index, end: index, depth: depth + 1, node: 0))
        }
        pending[pending.count - 1].end = index + 1
      }
      let offset = try freeOffset()
      isOffset[offset] = 1
      nodes[subtree.node].bits |= UInt64(offset) << 32
      for (index, label) in labels.enumerated() {
        let place = offset ^ Int(label)
        remove(UInt32(place))
        nodes[place].bits = Node.label(label)
        pending[firstChild + index].node = place
      }
    }

    /// Returns an offset that no other node's children have and at which all labels are free.
    private mutating func freeOffset() throws(BertQAError) -> Int {
      var place = first
      for _ in 0..<Self.trials {
        if place == Self.none { break }
        let offset = Int(place) ^ Int(labels[0])
        if isOffset[offset] == 0, hasRoom(at: offset) { return offset }
        place = next[Int(place)]
      }
      // Places that failed are not tried again, which bounds the time.
      while first != place { remove(first) }
      let offset = nodes.count
      try addBlock()
      return offset
    }

    private func hasRoom(at offset: Int) -> Bool {
      for label in labels where nodes[offset ^ Int(label)].label != 0 { return false }
      return true
    }

    private mutating func addBlock() throws(BertQAError) {
      guard nodes.count < Int(UInt32.max) - 256 else {
        throw BertQAError(.tooLarge, "vocabulary: its pieces have more than \(UInt32.max) prefixes")
      }
      for _ in 0..<256 {
        let place = UInt32(nodes.count)
        try nodes.append(Node(bits: 0))
        try isOffset.append(0)
        try previous.append(last)
        try next.append(Self.none)
        if last == Self.none { first = place } else { next[Int(last)] = place }
        last = place
      }
    }

    /// Removes a place from the list of free ones.
    private mutating func remove(_ place: UInt32) {
      let (before, after) = (previous[Int(place)], next[Int(place)])
      if before != Self.none {
        next[Int(before)] = after
      } else if first == place {
        first = after
      } else {
        return
      }
      if after != Self.none { previous[Int(after)] = before } else { last = before }
      previous[Int(place)] = Self.none
      next[Int(place)] = Self.none
    }
  }
}
