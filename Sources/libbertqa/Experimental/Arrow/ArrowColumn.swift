import BertQACore

/// A column's type and buffers, before they are copied into Arrow's structs.
struct ArrowColumn {
  let name: String
  /// The type as the C data interface spells it.
  let format: String
  fileprivate(set) var length = 0
  fileprivate(set) var nullCount = 0
  /// A bit per row.
  fileprivate var validBits = Bits()
  /// The type's buffers, without the validity.
  fileprivate(set) var buffers: [[UInt8]] = []
  fileprivate(set) var children: [ArrowColumn] = []

  /// nil if no row is null.
  var validity: [UInt8]? { nullCount > 0 ? validBits.bytes : nil }

  fileprivate init(_ name: String, _ format: String) {
    self.name = name
    self.format = format
  }
}

/// Makes the columns of a call. nil is a null value.
struct ArrowColumns {
  let monitor: CallMonitor

  init(_ monitor: CallMonitor) { self.monitor = monitor }

  func column(_ name: String, _ values: some Collection<String?>) throws(BertQAError) -> ArrowColumn {
    try column(name, strings: values) { $0 }
  }

  /// A column of parts of texts. Invalid UTF-8 becomes U+FFFD.
  func column(
    _ name: String, texts: some Collection<UnsafeBufferPointer<UInt8>?>
  ) throws(BertQAError) -> ArrowColumn {
    try column(name, strings: texts) { text throws(BertQAError) in
      try monitor.temporarily { () throws(BertQAError) in
        try monitor.hold(3 * text.count)
        return try string(of: text)
      }
    }
  }

  private func column<Value>(
    _ name: String, strings values: some Collection<Value?>,
    _ string: (Value) throws(BertQAError) -> String
  ) throws(BertQAError) -> ArrowColumn {
    var column = ArrowColumn(name, "U")
    var offsets = try [UInt8](checkedCapacity: 8 * (values.count + 1), monitor)
    var data: [UInt8] = []
    offsets.append(bytesOf: Int64(0))
    try add(values, to: &column) { value throws(BertQAError) in
      if let value {
        let string = try string(value)
        try data.makeRoom(for: string.utf8.count, monitor)
        data += string.utf8
      }
      offsets.append(bytesOf: Int64(data.count))
    }
    column.buffers = [offsets, data]
    return column
  }

  func column(_ name: String, _ values: some Collection<Float?>) throws(BertQAError) -> ArrowColumn {
    try column(name, "f", values)
  }

  func column(_ name: String, _ values: some Collection<Int64?>) throws(BertQAError) -> ArrowColumn {
    try column(name, "l", values)
  }

  private func column<Number: BitwiseCopyable & AdditiveArithmetic>(
    _ name: String, _ format: String, _ values: some Collection<Number?>
  ) throws(BertQAError) -> ArrowColumn {
    var column = ArrowColumn(name, format)
    var data = try [UInt8](checkedCapacity: values.count * MemoryLayout<Number>.size, monitor)
    try add(values, to: &column) { data.append(bytesOf: $0 ?? .zero) }
    column.buffers = [data]
    return column
  }

  func column(_ name: String, _ values: some Collection<Bool?>) throws(BertQAError) -> ArrowColumn {
    var column = ArrowColumn(name, "b")
    var bits = Bits()
    try add(values, to: &column) { value throws(BertQAError) in try bits.append(value ?? false, monitor) }
    column.buffers = [bits.bytes]
    return column
  }

  /// A column of lists of `size` floats each.
  func column(
    _ name: String, lists: some Collection<[Float]?>, size: Int
  ) throws(BertQAError) -> ArrowColumn {
    var column = ArrowColumn(name, "+w:\(size)")
    var items = ArrowColumn("item", "f")
    var data = try [UInt8](checkedCapacity: lists.count * size * MemoryLayout<Float>.size, monitor)
    try add(lists, to: &column) { list throws(BertQAError) in
      for index in 0..<size { data.append(bytesOf: list?[index] ?? 0) }
    }
    items.length = column.length * size
    items.buffers = [data]
    column.children = [items]
    return column
  }

  /// A column of lists of the rows of another column, in order.
  /// - Parameter counts: the number of rows of each list.
  func column(
    _ name: String, counts: some Collection<Int?>, of rows: ArrowColumn
  ) throws(BertQAError) -> ArrowColumn {
    var column = ArrowColumn(name, "+L")
    var offsets = try [UInt8](checkedCapacity: 8 * (counts.count + 1), monitor)
    var end: Int64 = 0
    offsets.append(bytesOf: end)
    try add(counts, to: &column) { count throws(BertQAError) in
      end += Int64(count ?? 0)
      offsets.append(bytesOf: end)
    }
    column.buffers = [offsets]
    column.children = [rows]
    return column
  }

  /// A struct of columns of the same length.
  func column(
    _ name: String, isValid: some Collection<Bool>, children: [ArrowColumn]
  ) throws(BertQAError) -> ArrowColumn {
    var column = ArrowColumn(name, "+s")
    try add(isValid.lazy.map { $0 ? () : nil }, to: &column) { _ in
    }
    column.children = children
    return column
  }

  /// Adds a row for each value.
  private func add<Value>(
    _ values: some Collection<Value?>, to column: inout ArrowColumn,
    _ body: (Value?) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    for value in values {
      if column.length % ArrowTexts.pollInterval == 0 {
        try monitor.check()
        try Memory.requireReserve()
      }
      try column.validBits.append(value != nil, monitor)
      if value == nil { column.nullCount += 1 }
      column.length += 1
      try body(value)
    }
  }
}

/// Booleans as Arrow stores them: eight in a byte, the first in its lowest bit.
private struct Bits {
  private(set) var bytes: [UInt8] = []
  private var count = 0

  mutating func append(_ value: Bool, _ monitor: CallMonitor) throws(BertQAError) {
    if count % 8 == 0 {
      try bytes.makeRoom(for: 1, monitor)
      bytes.append(0)
    }
    if value { bytes[count / 8] |= 1 << UInt8(count % 8) }
    count += 1
  }
}

extension [UInt8] {
  /// Appends to an array that has room for the bytes.
  fileprivate mutating func append(bytesOf value: some BitwiseCopyable) {
    Swift.withUnsafeBytes(of: value) { append(contentsOf: $0) }
  }
}
