/// A piece of a pre-token.
struct PlacedPiece: BitwiseCopyable {
  var id: Int32
  /// The range in the pre-token.
  var begin: Int32
  var end: Int32
}

/// Finds the best split of a text by the best way to each place (Viterbi).
///
/// If two ways have the same sum, it keeps the one whose last piece begins first. It adds scores from left to right.
/// Hugging Face's implementation does both.
struct UnigramLattice: ~Copyable {
  /// A place in the text. Not private: the compiler needs to see it if a lattice is a member.
  struct Node: BitwiseCopyable {
    /// The sum of the way's scores.
    var score: Double
    /// The bytes of the way's last piece; 0 if no way leads here.
    var length: UInt32
    var id: Int32
  }

  private var nodes = GrowableBuffer<Node>()
  /// The result of `split`.
  private(set) var pieces = GrowableBuffer<PlacedPiece>()

  /// Replaces `pieces` by those of a pre-token of `count` bytes, valid UTF-8. Adjacent unknown characters become one
  /// piece.
  ///
  /// - Parameter scores: those of the model, with or without special tokens.
  ///
  /// Time: the number of bytes times the length of the longest piece.
  mutating func split(
    _ text: UnsafePointer<UInt8>, count: Int, _ model: UnigramModel,
    _ scores: borrowing AlignedBuffer<Double>, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    pieces.truncate(to: 0)
    let heldBytes = count < CallPoll.textInterval ? 0 : count * MemoryLayout<Node>.stride
    if heldBytes > 0 { try monitor?.hold(heldBytes) }
    defer { if heldBytes > 0 { monitor?.release(heldBytes) } }
    nodes.truncate(to: 0)
    try nodes.makeRoom(for: count + 1)
    let nodes = nodes.base
    for first in stride(from: 0, through: count, by: CallPoll.elementInterval) {
      if first > 0 { try monitor?.check() }
      (nodes + first).initialize(
        repeating: Node(score: 0, length: 0, id: 0), count: min(CallPoll.elementInterval, count + 1 - first))
    }
    let (trie, scores) = (model.trie.root, scores.base)
    let characterNodes = UnsafePointer(model.characterNodes.base)
    let (unkID, unkScore) = (model.unkID, model.unkScore)

    @inline(__always)
    func offer(_ score: Double, _ id: Int32, at end: Int, length: Int) {
      if nodes[end].length == 0 || score > nodes[end].score {
        nodes[end] = Node(score: score, length: UInt32(truncatingIfNeeded: length), id: id)
      }
    }

    var start = 0
    var poll = TextPoll(monitor)
    while start < count {
      try poll.reach(start)
      let score = nodes[start].score
      var isSingle = false
      let (place, size) = Self.character(text + start, trie, characterNodes)
      var position = start &+ size
      if place != 0 {
        var node = trie[place]
        while true {
          let id = node.value
          // -∞: it spells a special token, which here is text.
          if id >= 0, scores[Int(id)] > -.infinity {
            let length = position &- start
            offer(scores[Int(id)] + score, id, at: position, length: length)
            if length == size { isSingle = true }
          }
          if position >= count { break }
          let byte = text[position]
          node = trie[node.offset ^ Int(byte)]
          if node.label != PieceTrie.Node.label(byte) { break }
          position &+= 1
        }
      }
      if !isSingle { offer(unkScore + score, unkID, at: start &+ size, length: size) }
      start &+= size
    }
    try trace(text, count, model, scores, monitor)
  }

  /// Appends the pieces of the way to the end.
  private mutating func trace(
    _ text: UnsafePointer<UInt8>, _ count: Int, _ model: UnigramModel, _ scores: UnsafePointer<Double>,
    _ monitor: CallMonitor?
  ) throws(BertQAError) {
    // Reverses the lengths: each place of the way gets that of the piece which begins there.
    var position = count
    var length = nodes[position].length
    var stepCount = 0
    while position > 0 {
      stepCount += 1
      if stepCount % CallPoll.elementInterval == 0 { try monitor?.check() }
      position -= Int(length)
      swap(&length, &nodes.base[position].length)
    }
    try pieces.makeRoom(for: stepCount)
    var unknownBegin = -1
    var steps = 0
    while position < count {
      steps += 1
      if steps % CallPoll.elementInterval == 0 { try monitor?.check() }
      let next = position + Int(nodes[position].length)
      let id = nodes[next].id
      if id == model.unkID {
        if unknownBegin < 0 { unknownBegin = position }
      } else {
        if unknownBegin >= 0 {
          try appendUnknown(text, from: unknownBegin, to: position, model, scores)
          unknownBegin = -1
        }
        try append(id, from: position, to: next)
      }
      position = next
    }
    if unknownBegin >= 0 { try appendUnknown(text, from: unknownBegin, to: count, model, scores) }
  }

  @inline(__always)
  private mutating func append(_ id: Int32, from begin: Int, to end: Int) throws(BertQAError) {
    try pieces.append(
      PlacedPiece(id: id, begin: Int32(truncatingIfNeeded: begin), end: Int32(truncatingIfNeeded: end)))
  }

  /// Several unknown characters together may be a piece after all; else their bytes are pieces, if all of them have
  /// one.
  private mutating func appendUnknown(
    _ bytes: UnsafePointer<UInt8>, from begin: Int, to end: Int, _ model: UnigramModel,
    _ scores: UnsafePointer<Double>
  ) throws(BertQAError) {
    let text = UnsafeBufferPointer(start: bytes + begin, count: end - begin)
    if let id = model.trie.value(of: text), scores[Int(id)] > -.infinity {
      return try append(id, from: begin, to: end)
    }
    guard text.allSatisfy({ model.byteIDs[Int($0)] >= 0 }) else {
      return try append(model.unkID, from: begin, to: end)
    }
    for byte in text { try append(model.byteIDs[Int(byte)], from: begin, to: end) }
  }

  /// Returns the node that a character of valid UTF-8 leads to, 0 if there is none, and the character's size.
  @inline(__always)
  private static func character(
    _ text: UnsafePointer<UInt8>, _ trie: UnsafePointer<PieceTrie.Node>, _ nodes: UnsafePointer<UInt32>
  ) -> (place: Int, size: Int) {
    let lead = UInt32(text[0])
    if lead < 0x80 { return (Int(nodes[Int(lead)]), 1) }
    let second = UInt32(text[1]) & 0x3F
    if lead < 0xE0 { return (Int(nodes[Int((lead & 0x1F) << 6 | second)]), 2) }
    if lead < 0xF0 {
      let scalar = (lead & 0xF) << 12 | second << 6 | UInt32(text[2]) & 0x3F
      return (Int(nodes[Int(scalar)]), 3)
    }
    var place = 0
    for index in 0..<4 {
      place = trie[place].offset ^ Int(text[index])
      if trie[place].label != PieceTrie.Node.label(text[index]) { return (0, 4) }
    }
    return (place, 4)
  }
}
