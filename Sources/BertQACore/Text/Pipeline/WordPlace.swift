/// Where a word lies in the text that tokens are made from. Pieces of a word have ranges that count from the word's
/// beginning as the model reads it: with the mark, if `Words` has one.
struct WordPlace: BitwiseCopyable {
  /// The word's first byte in the text: that which the mark takes the place of, or stands before.
  private let begin: Int
  /// What lies between a byte of the word and its place in the text, for bytes behind the mark.
  private let shift: Int
  /// Bytes of the mark.
  private let markSize: Int

  /// A word whose bytes are those of the text.
  @inline(__always)
  init(at begin: Int) {
    self.begin = begin
    shift = begin
    markSize = 0
  }

  /// A word that is a mark of `markSize` bytes and the text from `core` on, which is `begin` or a byte behind it.
  @inline(__always)
  init(at begin: Int, core: Int, markSize: Int) {
    self.begin = begin
    shift = core &- markSize
    self.markSize = markSize
  }

  @inline(__always)
  func start(_ offset: Int) -> Int { offset == 0 ? begin : offset &+ shift }

  /// The end of a piece that is not empty. The mark has the range of the character at `begin`.
  @inline(__always)
  func end(_ offset: Int) -> Int { offset <= markSize ? begin &+ 1 : offset &+ shift }
}

/// A piece of a word, its range counted from the word's beginning.
struct WordPiece: BitwiseCopyable {
  var id: Int32
  var begin: Int
  var end: Int
}
