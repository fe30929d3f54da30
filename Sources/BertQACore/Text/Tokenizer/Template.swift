/// The special tokens around the texts of a window: `[CLS] text [SEP]` and `[CLS] text [SEP] second [SEP]`, or `<s>
/// text </s>` and `<s> text </s></s> second </s>`.
struct Template: Sendable, Equatable {
  /// Before the first text. Classifiers read the vector of its first token, `[CLS]`.
  var prefix: [Int32]
  /// Between two texts.
  var separator: [Int32]
  /// At the end.
  var suffix: [Int32]

  /// No special tokens.
  static let none = Template(prefix: [], separator: [], suffix: [])

  var isEmpty: Bool { prefix.isEmpty && separator.isEmpty && suffix.isEmpty }

  /// Returns the number of special tokens in a window.
  func specialCount(isPair: Bool) -> Int {
    prefix.count + suffix.count + (isPair ? separator.count : 0)
  }

  /// Returns the beginning of the second text's tokens in a window whose first text has `firstCount`.
  func secondStart(firstCount: Int) -> Int { prefix.count + firstCount + separator.count }

  /// Appends a window's ids to `ids`. Returns the beginning of the second segment, counted from the window's first
  /// token: the window's length for a single text.
  func append(
    first: ArraySlice<Int32>, second: ArraySlice<Int32>?, to ids: inout [Int32]
  ) -> Int {
    let start = ids.count
    ids += prefix
    ids += first
    guard let second else {
      ids += suffix
      return ids.count - start
    }
    ids += separator
    let secondSegment = ids.count - start
    ids += second
    ids += suffix
    return secondSegment
  }
}
