import BertQACore
import CBertQAHeader

/// The words of a text and their C views.
final class WordCountListHandle: Handle {
  /// The memory that the views point to.
  private let list: WordCountList
  let words: CArray<bertqa_word_count>

  init(_ list: WordCountList, _ monitor: CallMonitor) throws(BertQAError) {
    self.list = list
    words = try CArray(count: list.count, monitor) { index in
      let word = list.bytes(at: index)
      var view = bertqa_word_count()
      view.struct_size = MemoryLayout<bertqa_word_count>.size
      view.text = UnsafeRawPointer(word.baseAddress)?.assumingMemoryBound(to: CChar.self)
      view.length = word.count
      view.count = list.occurrences(at: index)
      return view
    }
  }
}

extension bertqa_word_counts_options: COptions {
  static let name: StaticString = "bertqa_word_counts_options"
  static var narrowFieldCount: Int { 2 }
}

@_cdecl("bertqa_word_counts")
public func bertqa_word_counts(
  _ text: UnsafePointer<CChar>?, _ length: Int, _ options: UnsafePointer<bertqa_word_counts_options>?,
  _ list: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(list, "list") { () throws(BertQAError) in
    let raw = try readOptions(options)
    var options = WordCountOptions()
    options.call = try callOptions(raw.call)
    options.minWordLength = number(raw.min_word_length, default: options.minWordLength)
    options.maxNGram = number(raw.max_ngram, default: options.maxNGram)
    let bytes = try textArgument(text, length, "text")
    let counted = try WordCountList(of: bytes, options: options)
    let monitor = CallMonitor(options.call)
    return try WordCountListHandle(counted, monitor)
  }
}

@_cdecl("bertqa_word_count_list_free")
public func bertqa_word_count_list_free(_ list: OpaquePointer?) {
  WordCountListHandle.release(list)
}

@_cdecl("bertqa_word_count_list_count")
public func bertqa_word_count_list_count(_ list: OpaquePointer?) -> Int {
  insideGate { WordCountListHandle.borrowed(list)?.words.count ?? 0 }
}

@_cdecl("bertqa_word_count_list_get")
public func bertqa_word_count_list_get(
  _ list: OpaquePointer?, _ index: Int
) -> UnsafePointer<bertqa_word_count>? {
  insideGate { WordCountListHandle.borrowed(list)?.words.pointer(at: index) }
}
