/// The pieces of a vocabulary by id, and their ids by bytes.
struct Vocabulary: Sendable {
  let index: PieceIndex

  /// Reads a `vocab.txt`: the piece in line n has id n.
  ///
  /// As in Hugging Face's loader, lines end in LF, white space at their ends does not belong to the piece (so CRLF
  /// files work), and of equal lines the last one's id is found. O(size).
  init(
    vocabularyFile file: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor? = nil
  ) throws(BertQAError) {
    // First of all: the file may have any size.
    try Self.check(byteCount: file.count, pieceCount: 0)
    var lineCount = 0
    for byte in file where byte == 0x0A { lineCount += 1 }
    if let last = file.last, last != 0x0A { lineCount += 1 }
    try Self.check(byteCount: file.count, pieceCount: lineCount)
    var storage = try Storage(byteCount: file.count + 1, pieceCount: lineCount)
    var begin = 0
    for line in 0..<lineCount {
      if line % CallPoll.elementInterval == 0 { try monitor?.check() }
      var end = begin
      while end < file.count, file[end] != 0x0A { end += 1 }
      storage.append(Self.trimmed(file, begin..<end))
      begin = end + 1
    }
    index = try storage.makeIndex(monitor)
  }

  /// Takes pieces as they are, by id.
  init(pieces: [[UInt8]], _ monitor: CallMonitor? = nil) throws(BertQAError) {
    var byteCount = 0
    for piece in pieces { byteCount += piece.count + 1 }
    try Self.check(byteCount: byteCount, pieceCount: pieces.count)
    var storage = try Storage(byteCount: byteCount, pieceCount: pieces.count)
    for (id, piece) in pieces.enumerated() {
      if id % CallPoll.elementInterval == 0 { try monitor?.check() }
      piece.withUnsafeBufferPointer { storage.append($0) }
    }
    index = try storage.makeIndex(monitor)
  }

  /// The number of ids, including duplicates.
  var count: Int { index.count }

  /// The number of ids whose pieces are not empty; those that a file omits are.
  var filledCount: Int { index.filledCount }

  /// Equal for equal pieces of equal ids.
  var fingerprint: UInt64 { index.fingerprint }

  /// Returns the bytes of a piece, followed by a NUL; empty if there is no such id.
  func piece(_ id: Int32) -> UnsafeBufferPointer<UInt8> {
    guard id >= 0, Int(id) < count else { return UnsafeBufferPointer(start: nil, count: 0) }
    return index.piece(id)
  }

  /// Returns the id of a whole piece, with its "##".
  func id(of piece: UnsafeBufferPointer<UInt8>) -> Int32? {
    guard let base = piece.baseAddress, piece.count > 0 else { return index.emptyPieceID }
    let isContinuation = piece.count >= 2 && base[0] == 0x23 && base[1] == 0x23
    let content = isContinuation ? base + 2 : base
    let count = isContinuation ? piece.count - 2 : piece.count
    let continuation: UInt64 = isContinuation ? 1 : 0
    if count > PieceKey.maximumCount {
      let id = index.longID(content, count: count, continuation: continuation)
      return id >= 0 ? id : nil
    }
    var padded: (UInt64, UInt64) = (0, 0)
    let id = withUnsafeMutableBytes(of: &padded) { buffer -> Int32 in
      buffer.copyMemory(from: UnsafeRawBufferPointer(start: content, count: count))
      let key = PieceKey(
        low: UInt64(littleEndian: buffer.load(as: UInt64.self)),
        high: UInt64(littleEndian: buffer.load(fromByteOffset: 8, as: UInt64.self)))
      return index.short.id(of: key.prefix(count, continuation: continuation))
    }
    return id >= 0 ? id : nil
  }

  /// Returns the id of a whole piece, with its "##".
  func id(of piece: String) -> Int32? {
    var piece = piece
    return piece.withUTF8 { id(of: $0) }
  }

  /// Returns the id of the piece that stands for text without pieces.
  func unknownID(_ token: String) throws(BertQAError) -> Int32 {
    if let id = id(of: token) { return id }
    throw BertQAError(.invalidModel, "\"unk_token\" \(quoted(token)) is not in the vocabulary")
  }

  /// The greatest id.
  static var maximumID: Int { (1 << 22) - 1 }

  /// Bounds the memory of a hostile file's tables; real vocabularies are 20 times smaller.
  static func check(byteCount: Int, pieceCount: Int) throws(BertQAError) {
    guard byteCount <= ModelFile.vocabularyLimit, pieceCount <= maximumID + 1 else {
      throw BertQAError(
        .tooLarge,
        "vocabulary: \(pieceCount) pieces of \(byteCount) bytes; at most \(maximumID + 1) pieces of "
          + "\(ModelFile.vocabularyLimit) bytes are supported")
    }
  }

  /// Returns a line without its trailing white space.
  private static func trimmed(
    _ file: UnsafeBufferPointer<UInt8>, _ line: Range<Int>
  ) -> UnsafeBufferPointer<UInt8> {
    guard let base = file.baseAddress else { return file }
    var end = line.upperBound
    while end > line.lowerBound {
      let decoded = UTF8Codec.decodeBackwards(base, before: end, begin: line.lowerBound)
      guard CharacterClass.isWhiteSpace(decoded.scalar) else { break }
      end -= decoded.size
    }
    return UnsafeBufferPointer(start: base + line.lowerBound, count: end - line.lowerBound)
  }
}

extension Vocabulary {
  /// The memory of an index that is being built.
  private struct Storage: ~Copyable {
    let bytes: AlignedBuffer<UInt8>
    let bounds: AlignedBuffer<PieceBounds>
    let pieceCount: Int
    private var count = 0
    private var end = 0

    init(byteCount: Int, pieceCount: Int) throws(BertQAError) {
      let bytes = try AlignedBuffer<UInt8>(uninitializedCount: byteCount + 16)
      (bytes.base + byteCount).initialize(repeating: 0, count: 16)
      let bounds = try AlignedBuffer<PieceBounds>(uninitializedCount: pieceCount)
      self.bytes = bytes
      self.bounds = bounds
      self.pieceCount = pieceCount
    }

    /// Appends a piece; there must be room for it.
    mutating func append(_ piece: UnsafeBufferPointer<UInt8>) {
      if let base = piece.baseAddress { (bytes.base + end).update(from: base, count: piece.count) }
      bounds[count] = PieceBounds(begin: UInt32(end), end: UInt32(end + piece.count))
      bytes[end + piece.count] = 0
      count += 1
      end += piece.count + 1
    }

    consuming func makeIndex(_ monitor: CallMonitor?) throws(BertQAError) -> PieceIndex {
      try checkPieces(monitor)
      return try PieceIndex(bytes: bytes, bounds: bounds, count: pieceCount, monitor)
    }

    // Separate from `makeIndex`: Swift 6.0.3 cannot compile a function that reads parts of `bytes` and then consumes
    // it.
    private func checkPieces(_ monitor: CallMonitor?) throws(BertQAError) {
      for id in 0..<pieceCount {
        if id % CallPoll.elementInterval == 0 { try monitor?.check() }
        let (begin, end) = (bounds[id].begin, bounds[id].end)
        let piece = UnsafeBufferPointer(start: bytes.base + Int(begin), count: Int(end - begin))
        guard UTF8Codec.isValid(piece) else {
          throw BertQAError(
            .invalidModel,
            "vocabulary: piece \(id) (counting from 0) is not valid UTF-8; save the file as UTF-8")
        }
      }
    }
  }
}
