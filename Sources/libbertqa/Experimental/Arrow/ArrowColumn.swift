/// A column to hand over: its type and its buffers, before they are Arrow's structs.
struct ArrowColumn {
  let name: String
  /// As the C data interface spells types.
  let format: String
  let length: Int
  private(set) var nullCount = 0
  /// A bit per row; nil where no row is null.
  private(set) var validity: [UInt8]?
  /// Those of the type, without the validity.
  private(set) var buffers: [[UInt8]] = []
  private(set) var children: [ArrowColumn] = []

  init(_ name: String, _ values: [String?]) {
    self.init(name, "U", isValid: values.map { $0 != nil })
    var offsets: [Int64] = [0]
    offsets.reserveCapacity(values.count + 1)
    var data: [UInt8] = []
    for value in values {
      if let value { data += value.utf8 }
      offsets.append(Int64(data.count))
    }
    buffers = [Self.bytes(of: offsets), data]
  }

  init(_ name: String, _ values: [Float?]) {
    self.init(name, "f", isValid: values.map { $0 != nil })
    buffers = [Self.bytes(of: values.map { $0 ?? 0 })]
  }

  init(_ name: String, _ values: [Int64?]) {
    self.init(name, "l", isValid: values.map { $0 != nil })
    buffers = [Self.bytes(of: values.map { $0 ?? 0 })]
  }

  init(_ name: String, _ values: [Bool?]) {
    self.init(name, "b", isValid: values.map { $0 != nil })
    buffers = [Self.bits(values.map { $0 ?? false })]
  }

  /// Lists of `size` floats each; nil is a null list.
  init(_ name: String, lists: [[Float]?], size: Int) {
    self.init(name, "+w:\(size)", isValid: lists.map { $0 != nil })
    let nothing = [Float?](repeating: 0, count: size)
    children = [ArrowColumn("item", lists.flatMap { $0.map { $0.map { $0 } } ?? nothing })]
  }

  /// Lists of the rows of a column: list k has as many as `counts` says, in order; nil is a null list.
  init(_ name: String, counts: [Int?], of rows: ArrowColumn) {
    self.init(name, "+L", isValid: counts.map { $0 != nil })
    var offsets: [Int64] = [0]
    offsets.reserveCapacity(counts.count + 1)
    var end: Int64 = 0
    for count in counts {
      end += Int64(count ?? 0)
      offsets.append(end)
    }
    buffers = [Self.bytes(of: offsets)]
    children = [rows]
  }

  /// A struct of columns of one length.
  init(_ name: String, isValid: [Bool], children: [ArrowColumn]) {
    self.init(name, "+s", isValid: isValid)
    self.children = children
  }

  private init(_ name: String, _ format: String, isValid: [Bool]) {
    self.name = name
    self.format = format
    length = isValid.count
    nullCount = isValid.count { !$0 }
    if nullCount > 0 { validity = Self.bits(isValid) }
  }

  private static func bits(_ values: [Bool]) -> [UInt8] {
    var bits = [UInt8](repeating: 0, count: (values.count + 7) / 8)
    for (index, value) in values.enumerated() where value { bits[index / 8] |= 1 << UInt8(index % 8) }
    return bits
  }

  private static func bytes<Element: BitwiseCopyable>(of elements: [Element]) -> [UInt8] {
    elements.withUnsafeBytes { Array($0) }
  }
}
