import BertQACore

/// A column to hand over: its type and its buffers, before they are Arrow's structs.
struct ArrowColumn {
  let name: String
  /// As the C data interface spells types.
  let format: String
  private(set) var length = 0
  private(set) var nullCount = 0
  /// A bit per row.
  private var validBits = Bits()
  /// Those of the type, without the validity.
  private(set) var buffers: [[UInt8]] = []
  private(set) var children: [ArrowColumn] = []

  init(_ name: String, _ values: some Collection<String?>, _ monitor: CallMonitor) throws(BertQAError) {
    try self.init(name, strings: values, monitor) { $0 }
  }

  /// Parts of texts; what is no UTF-8 in them becomes U+FFFD.
  init(
    _ name: String, texts: some Collection<UnsafeBufferPointer<UInt8>?>, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try self.init(name, strings: texts, monitor) { text throws(BertQAError) in
      // An invalid byte becomes three.
      try Memory.require(3 * text.count)
      return try monitor.temporarily { () throws(BertQAError) in
        try monitor.hold(3 * text.count)
        return String(decoding: text, as: UTF8.self)
      }
    }
  }

  private init<Value>(
    _ name: String, strings values: some Collection<Value?>, _ monitor: CallMonitor,
    _ string: (Value) throws(BertQAError) -> String
  ) throws(BertQAError) {
    self.init(name, "U")
    var offsets = try [UInt8](checkedCapacity: 8 * (values.count + 1), monitor)
    var data: [UInt8] = []
    offsets.append(bytesOf: Int64(0))
    try forEach(values, monitor) { value throws(BertQAError) in
      if let value {
        let string = try string(value)
        try data.makeRoom(for: string.utf8.count, monitor)
        data += string.utf8
      }
      offsets.append(bytesOf: Int64(data.count))
    }
    buffers = [offsets, data]
  }

  init(_ name: String, _ values: some Collection<Float?>, _ monitor: CallMonitor) throws(BertQAError) {
    try self.init(name, "f", values, monitor)
  }

  init(_ name: String, _ values: some Collection<Int64?>, _ monitor: CallMonitor) throws(BertQAError) {
    try self.init(name, "l", values, monitor)
  }

  init(_ name: String, _ values: some Collection<Bool?>, _ monitor: CallMonitor) throws(BertQAError) {
    self.init(name, "b")
    var bits = Bits()
    try forEach(values, monitor) { value throws(BertQAError) in try bits.append(value ?? false, monitor) }
    buffers = [bits.bytes]
  }

  /// Lists of `size` floats each; nil is a null list.
  init(
    _ name: String, lists: some Collection<[Float]?>, size: Int, _ monitor: CallMonitor
  ) throws(BertQAError) {
    self.init(name, "+w:\(size)")
    var items = ArrowColumn("item", "f")
    var data = try [UInt8](checkedCapacity: lists.count * size * MemoryLayout<Float>.size, monitor)
    try forEach(lists, monitor) { list throws(BertQAError) in
      for index in 0..<size { data.append(bytesOf: list?[index] ?? 0) }
    }
    items.length = length * size
    items.buffers = [data]
    children = [items]
  }

  /// Lists of the rows of a column: list k has as many as `counts` says, in order; nil is a null list.
  init(
    _ name: String, counts: some Collection<Int?>, of rows: ArrowColumn, _ monitor: CallMonitor
  ) throws(BertQAError) {
    self.init(name, "+L")
    var offsets = try [UInt8](checkedCapacity: 8 * (counts.count + 1), monitor)
    var end: Int64 = 0
    offsets.append(bytesOf: end)
    try forEach(counts, monitor) { count throws(BertQAError) in
      end += Int64(count ?? 0)
      offsets.append(bytesOf: end)
    }
    buffers = [offsets]
    children = [rows]
  }

  /// A struct of columns of one length.
  init(
    _ name: String, isValid: some Collection<Bool>, children: [ArrowColumn], _ monitor: CallMonitor
  ) throws(BertQAError) {
    self.init(name, "+s")
    try forEach(isValid.lazy.map { $0 ? () : nil }, monitor) { _ in
    }
    self.children = children
  }

  /// nil where no row is null.
  var validity: [UInt8]? { nullCount > 0 ? validBits.bytes : nil }

  private init(_ name: String, _ format: String) {
    self.name = name
    self.format = format
  }

  private init<Number: BitwiseCopyable & AdditiveArithmetic>(
    _ name: String, _ format: String, _ values: some Collection<Number?>, _ monitor: CallMonitor
  ) throws(BertQAError) {
    self.init(name, format)
    var data = try [UInt8](checkedCapacity: values.count * MemoryLayout<Number>.size, monitor)
    try forEach(values, monitor) { data.append(bytesOf: $0 ?? .zero) }
    buffers = [data]
  }

  /// Adds a row for each value.
  private mutating func forEach<Value>(
    _ values: some Collection<Value?>, _ monitor: CallMonitor, _ body: (Value?) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    for value in values {
      if length % ArrowTexts.pollInterval == 0 {
        try monitor.check()
        try Memory.requireReserve()
      }
      try validBits.append(value != nil, monitor)
      if value == nil { nullCount += 1 }
      length += 1
      try body(value)
    }
  }

  /// Booleans as Arrow has them: eight in a byte, the first in its lowest bit.
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
}

extension [UInt8] {
  /// In an array with room for them.
  fileprivate mutating func append(bytesOf value: some BitwiseCopyable) {
    Swift.withUnsafeBytes(of: value) { append(contentsOf: $0) }
  }
}
