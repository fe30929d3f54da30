/// A question as a query of FTS5, SQLite's full-text search.
package enum FullTextQuery {
  /// Returns a query that matches any of the question's words, quoted so that none acts as an operator. Common words
  /// are omitted unless there are no others. Without words, the query is `""`, which matches nothing.
  package static func matching(_ question: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    let query = joined(question, withCommon: false)
    if !query.isEmpty { return query }
    let all = joined(question, withCommon: true)
    return all.isEmpty ? Array("\"\"".utf8) : all
  }

  private static func joined(_ question: UnsafeBufferPointer<UInt8>, withCommon: Bool) -> [UInt8] {
    var query: [UInt8] = []
    for word in question.split(whereSeparator: { !isOfWord($0) }) where withCommon || !isCommon(word) {
      if !query.isEmpty { query += " OR ".utf8 }
      query.append(UInt8(ascii: "\""))
      query += word
      query.append(UInt8(ascii: "\""))
    }
    return query
  }

  /// True for ASCII letters and digits, and bytes from 0x80 on, which FTS5 splits further.
  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...:
      true
    default: false
    }
  }

  private static func isCommon(_ word: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    commonWords.contains(String(decoding: word, as: UTF8.self).lowercased())
  }

  /// English words that occur in most texts: they distinguish little and are the most expensive to search.
  private static let commonWords = Set(
    words: """
      a about after all also an and any are as at be been by can could did do does during for from had has \
      have he her his how if in into is it its many may more most much not of on or other s she some such than \
      that the their them then there these they this to was we were what when where which who whom whose why \
      will with would you your
      """)
}
