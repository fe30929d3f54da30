/// A value for every code point: an array of pages of 256, in which equal pages are shared.
struct TwoStageTable<Value: Equatable & Sendable>: Sendable {
  static var pageCount: Int { 0x1100 }
  static var pageSize: Int { 256 }

  /// Page of `values` for each `code point >> 8`; page 0 is all `defaultValue`.
  private(set) var pages = [UInt16](repeating: 0, count: Self.pageCount)
  /// Pages of 256.
  private(set) var values: [Value]
  /// For each page of `values`: true if it may be shared because it has one value throughout.
  private var uniform = [true]
  private let defaultValue: Value

  init(defaultValue: Value) {
    self.defaultValue = defaultValue
    values = Array(repeating: defaultValue, count: Self.pageSize)
  }

  subscript(scalar: UInt32) -> Value {
    values[Int(pages[Int(scalar >> 8)]) << 8 | Int(scalar & 0xFF)]
  }

  /// Returns the value of a whole page, or nil if it has several.
  func uniformValue(ofPage page: Int) -> Value? {
    let index = Int(pages[page])
    return uniform[index] ? values[index << 8] : nil
  }

  /// Assigns `value` to the code points from `first` on, which must not have one yet.
  mutating func assign(_ value: Value, from first: UInt32, count: UInt32) {
    var position = Int(first)
    let end = min(position + Int(count), Self.pageCount << 8)
    while position < end {
      let page = position >> 8
      let pageEnd = min(end, (page + 1) << 8)
      if pageEnd - position == Self.pageSize, pages[page] == 0 {
        pages[page] = uniformPage(of: value)
      } else {
        let base = ownPage(page) << 8
        for offset in (position & 0xFF)...((pageEnd - 1) & 0xFF) { values[base + offset] = value }
      }
      position = pageEnd
    }
  }

  private mutating func uniformPage(of value: Value) -> UInt16 {
    for index in uniform.indices where uniform[index] && values[index << 8] == value {
      return UInt16(index)
    }
    uniform.append(true)
    values.append(contentsOf: repeatElement(value, count: Self.pageSize))
    return UInt16(uniform.count - 1)
  }

  private mutating func ownPage(_ page: Int) -> Int {
    if uniform[Int(pages[page])] {
      uniform.append(false)
      values.append(contentsOf: repeatElement(defaultValue, count: Self.pageSize))
      pages[page] = UInt16(uniform.count - 1)
    }
    return Int(pages[page])
  }
}

extension TwoStageTable where Value: FixedWidthInteger {
  /// Reads a generated table of runs of code points with one value; the others have 0.
  /// - Parameter decoded: returns the value that a number of the table stands for.
  init(
    runs: StaticString, _ decoded: (UInt32) -> Value = { Value(truncatingIfNeeded: $0) }
  ) {
    self.init(defaultValue: 0)
    var reader = VariableLengthReader(runs)
    var position: UInt32 = 0
    while let gap = reader.read(), let count = reader.read(), let number = reader.read() {
      assign(decoded(number), from: position + gap, count: count)
      position += gap + count
    }
  }
}
