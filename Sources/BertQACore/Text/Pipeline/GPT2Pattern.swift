/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`, which matches everywhere.
struct GPT2Pattern: SplitPattern {
  static let expression =
    #"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"#

  private let kinds = CharacterKinds.shared

  @inline(__always)
  func match(
    in text: UnsafePointer<UInt8>, start: Int, from position: Int, to end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> (start: Int, end: Int)? {
    var next = position
    if text[position] == UInt8(ascii: "'") {
      next = kinds.endOfContraction(text, position, end, ignoringCase: false)
      if next > position { return (position, next) }
    } else if text[position] == 0x20, position &+ 1 < end {
      next = position &+ 1
    }
    let (kind, size) = kinds.kind(text, next, end)
    if kind.contains(.space) { return (position, try kinds.endOfSpaces(text, position, end, &poll)) }
    return (position, try kinds.endOfRun(text, next &+ size, end, kind, &poll))
  }
}
