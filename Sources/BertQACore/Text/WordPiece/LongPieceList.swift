/// The pieces of more than 15 bytes in the order of their bytes, to find the longest one that a text begins with.
///
/// Hash tables need a probe for each length that occurs, some hundreds where a vocabulary was made for it. Here it is
/// one binary search, which compares eight bytes at a time and leaves out those that both bounds share with the text, and
/// a walk from the piece found to the shorter pieces that it begins with: O(length · log pieces / 8) for any vocabulary.
struct LongPieceList: ~Copyable {
  /// A piece without its "##". The bytes are the index's, with 8 readable ones behind.
  struct Piece: BitwiseCopyable {
    var base: UnsafePointer<UInt8>
    var count: Int32
    var id: Int32
    /// Position of the longest other piece that this one begins with; -1 if there is none.
    var parent: Int32
    /// One of those further up, or the parent: walks by these take logarithmic time (Myers 1983, "An applicative
    /// random-access stack").
    var jump: Int32
    /// Pieces from here to the last of the parents.
    var depth: Int32
  }

  private let pieces: AlignedBuffer<Piece>
  private let count: Int

  /// - Parameter pieces: of equal ones the last one's id is found.
  init(_ unsorted: [Piece], _ monitor: CallMonitor?) throws(BertQAError) {
    let sorted = try unsorted.checkedSorted(monitor.map { CallPoll($0) }) {
      let order = Self.order($0, $1)
      return order != 0 ? order < 0 : $0.id < $1.id
    }
    let pieces = try AlignedBuffer<Piece>(uninitializedCount: sorted.count)
    var count = 0
    for var piece in sorted {
      if count % CallPoll.elementInterval == 0 { try monitor?.check() }
      if count > 0, Self.order(pieces[count - 1], piece) == 0 {
        pieces[count - 1].id = piece.id
        continue
      }
      var parent = Int32(count - 1)
      while parent >= 0, !Self.begins(piece, with: pieces[Int(parent)]) {
        parent = pieces[Int(parent)].parent
      }
      piece.parent = parent
      piece.depth = 0
      piece.jump = -1
      if parent >= 0 {
        let above = pieces[Int(parent)]
        piece.depth = above.depth + 1
        piece.jump = parent
        if above.jump >= 0 {
          let further = pieces[Int(above.jump)]
          if further.jump >= 0, above.depth - further.depth == further.depth - pieces[Int(further.jump)].depth
          {
            piece.jump = further.jump
          }
        }
      }
      pieces[count] = piece
      count += 1
    }
    self.pieces = pieces
    self.count = count
  }

  /// The longest piece that `text`, with 8 readable bytes behind, begins with; id -1 if there is none.
  /// - Parameter work: grows by the words of 8 bytes and the pieces looked at.
  func longestMatch(
    _ text: UnsafePointer<UInt8>, remaining: Int, work: inout Int
  ) -> (id: Int32, length: Int) {
    // pieces[..<low] are at most the text, pieces[high...] are greater; both share that many bytes with it.
    var (low, high) = (0, count)
    var (lowShared, highShared) = (0, 0)
    while low < high {
      let middle = low + (high - low) / 2
      let piece = pieces[middle]
      var shared = min(lowShared, highShared)
      let limit = min(Int(piece.count), remaining)
      work += 1
      // Eight bytes at a time: both have so many readable behind their ends.
      while shared < limit {
        let difference = Self.word(piece.base + shared) ^ Self.word(text + shared)
        work += 1
        if difference == 0 {
          shared += 8
          continue
        }
        shared += difference.trailingZeroBitCount / 8
        break
      }
      shared = min(shared, limit)
      let isGreater =
        shared < limit ? piece.base[shared] > text[shared] : shared < Int(piece.count)
      if isGreater { (high, highShared) = (middle, shared) } else { (low, lowShared) = (middle + 1, shared) }
    }
    // The last piece that is not greater shares the most with the text; those that begin the text begin it, too.
    var position = low - 1
    while position >= 0, Int(pieces[position].count) > lowShared {
      let piece = pieces[position]
      let isTooFar = piece.jump < 0 || Int(pieces[Int(piece.jump)].count) <= lowShared
      position = Int(isTooFar ? piece.parent : piece.jump)
      work += 1
    }
    return position >= 0 ? (pieces[position].id, Int(pieces[position].count)) : (-1, 0)
  }

  /// Eight bytes, the first lowest.
  @inline(__always)
  private static func word(_ bytes: UnsafePointer<UInt8>) -> UInt64 {
    UInt64(littleEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self))
  }

  /// Negative if `a` comes before `b`, 0 if their bytes are equal.
  private static func order(_ a: Piece, _ b: Piece) -> Int {
    let count = Int(min(a.count, b.count))
    for index in 0..<count where a.base[index] != b.base[index] {
      return Int(a.base[index]) - Int(b.base[index])
    }
    return Int(a.count) - Int(b.count)
  }

  private static func begins(_ piece: Piece, with other: Piece) -> Bool {
    other.count < piece.count && (0..<Int(other.count)).allSatisfy { piece.base[$0] == other.base[$0] }
  }
}
