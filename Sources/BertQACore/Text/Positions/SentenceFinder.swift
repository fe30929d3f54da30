/// Finds the sentence around a range of a text by rules that need no model and no language.
///
/// - A run of `.` `!` `?` `…`, with the closing quotes and brackets behind it, ends a sentence if the text
///   ends there, or if white space and then something other than a lower-case letter follows.
/// - A single `.` does not after an initial (`J.`), letters with dots inside (`e.g.`), or one of a few
///   abbreviations that stand before what they belong to (`Mr.`, `No.` before a digit).
/// - A run with `。` `！` `？` always ends one.
/// - A blank line always ends one; a single line break is a space like any other.
/// - Nothing further than `reach` bytes from the range is looked at: a longer sentence is cut at white
///   space there if possible, and never inside a code point.
struct SentenceFinder {
  let text: UnsafeBufferPointer<UInt8>

  /// In bytes, on each side.
  static let reach = 1000

  /// The sentence, or sentences, that `range` lies in, without white space around them. O(reach + range).
  func sentence(around range: TextRange) -> TextRange {
    var start = lowerLimit(of: range)
    var end = upperLimit(of: range)
    var position = start
    let limit = end
    while position < limit {
      guard let boundary = sentenceEnd(at: position, limit: limit) else {
        position += 1
        continue
      }
      if boundary <= range.start { start = boundary }
      if boundary >= range.end {
        end = boundary
        break
      }
      position = max(boundary, position + 1)
    }
    while start < range.start, let space = spaceLength(at: start), start + space <= range.start {
      start += space
    }
    return TextRange(start: start, end: trimmedEnd(end, down: range.end))
  }

  /// Where to begin: the start of the text, or else behind the first white space in reach, or else the
  /// first code point in reach.
  private func lowerLimit(of range: TextRange) -> Int {
    let low = range.start - Self.reach
    if low <= 0 { return 0 }
    if let space = (low..<range.start).first(where: { isWhiteSpace(text[$0]) }) { return space }
    return (low..<min(low + 3, range.start)).first { !isContinuationByte(text[$0]) } ?? range.start
  }

  /// Where to stop, likewise.
  private func upperLimit(of range: TextRange) -> Int {
    let high = range.end + Self.reach
    if high >= text.count { return text.count }
    if let space = (range.end..<high).last(where: { isWhiteSpace(text[$0]) }) { return space }
    return (max(high - 3, range.end)...high).last { !isContinuationByte(text[$0]) } ?? range.end
  }

  private func trimmedEnd(_ end: Int, down low: Int) -> Int {
    var end = end
    trimming: while end > low {
      for length in 1...3 where end - length >= low && spaceLength(at: end - length) == length {
        end -= length
        continue trimming
      }
      break
    }
    return end
  }

  private func isContinuationByte(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

  /// Bytes of the white space character at `position`, if there is one: ASCII, no-break or ideographic.
  func spaceLength(at position: Int) -> Int? {
    let unit = UTF8Unit(text, at: position)
    switch unit.scalar {
    case "\t"..."\r", " ", "\u{A0}", "\u{3000}": return unit.byteCount
    default: return nil
    }
  }
}
