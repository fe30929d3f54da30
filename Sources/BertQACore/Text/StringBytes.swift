/// The UTF-8 bytes of a string, contiguous.
func withBytes<Result>(
  of text: String, _ body: (UnsafeBufferPointer<UInt8>) throws(BertQAError) -> Result
) throws(BertQAError) -> Result {
  var text = text
  let result = text.withUTF8 { bytes in
    // Swift.Result, because withUTF8 does not pass typed errors on.
    do throws(BertQAError) {
      return Swift.Result<Result, BertQAError>.success(try body(bytes))
    } catch {
      return .failure(error)
    }
  }
  return try result.get()
}

/// The UTF-8 bytes of several strings, in one allocation that lasts as long as `body`.
func withBytes<Result>(
  of texts: [String], _ body: ([UnsafeBufferPointer<UInt8>]) throws(BertQAError) -> Result
) throws(BertQAError) -> Result {
  var all: [UInt8] = []
  var ends: [Int] = []
  ends.reserveCapacity(texts.count)
  for text in texts {
    all += text.utf8
    ends.append(all.count)
  }
  return try all.withElements { all throws(BertQAError) in
    var start = 0
    return try body(
      ends.map { end in
        defer { start = end }
        return UnsafeBufferPointer(rebasing: all[start..<end])
      })
  }
}
