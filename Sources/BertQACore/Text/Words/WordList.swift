// Lists of words as one literal with spaces between them: it is smaller than a literal for each word.

extension Set<String> {
  @inline(never)
  init(words: String) { self.init(words.split(separator: " ").map(String.init)) }
}

extension [[UInt8]] {
  @inline(never)
  init(words: String) { self = words.split(separator: " ").map { [UInt8]($0.utf8) } }
}
