/// A question as a query of FTS5, SQLite's full-text search.
package enum FullTextQuery {
  /// Returns a query that matches any of the question's words, quoted so that none acts as an operator. Common words
  /// are omitted unless there are no others. Without words, the query is `""`, which matches nothing.
  package static func matching(
    _ question: UnsafeBufferPointer<UInt8>, call: CallOptions = CallOptions()
  ) throws(BertQAError) -> [UInt8] {
    let monitor = CallMonitor(call)
    let query = try joined(question, withCommon: false, monitor)
    if !query.isEmpty { return query }
    let all = try joined(question, withCommon: true, monitor)
    return all.isEmpty ? Array("\"\"".utf8) : all
  }

  private static func joined(
    _ question: UnsafeBufferPointer<UInt8>, withCommon: Bool, _ monitor: CallMonitor
  ) throws(BertQAError) -> [UInt8] {
    var query: [UInt8] = []
    var poll = TextPoll(monitor)
    var start = 0
    for end in 0...question.count {
      try poll.reach(end)
      if end < question.count, isOfWord(question[end]) { continue }
      let word = question[start..<end]
      start = end + 1
      if word.isEmpty || !withCommon && isCommon(word) { continue }
      try query.makeRoom(for: word.count + 6, monitor)
      query += query.isEmpty ? "\"".utf8 : " OR \"".utf8
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
    word.count <= longestCommon && commonWords.contains(String(decoding: word, as: UTF8.self).lowercased())
  }

  /// In bytes, also where letters in lower case have fewer.
  private static let longestCommon = 16

  /// English words that occur in most texts: they distinguish little and are the most expensive to search.
  private static let commonWords = Set(
    words: """
      a about after all also an and any are as at be been by can could did do does during for from had has \
      have he her his how if in into is it its many may more most much not of on or other s she some such than \
      that the their them then there these they this to was we were what when where which who whom whose why \
      will with would you your
      """)
}
