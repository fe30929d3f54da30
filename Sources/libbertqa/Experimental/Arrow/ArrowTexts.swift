import BertQACore
import CBertQAHeader

/// The texts of an Arrow column, in place. Every count, offset and pointer is checked before it is used. Arrow's
/// structs do not contain the lengths of the offset and text buffers, so these cannot be checked.
/// Source: Arrow Columnar Format 1.5, variable-size binary layout and its view layout.
struct ArrowTexts {
  let count: Int
  /// The number of rows between two polls.
  static let pollInterval = 4096
  private let layout: Layout
  /// One bit per row of the buffers; nil if no row is null.
  private let validity: UnsafePointer<UInt8>?
  /// The offset of the first row, in rows of the buffers.
  private let offset: Int
  private let name: String

  /// The most rows of 16 bytes that fit in the 2^56 bytes of the largest address space.
  private static let offsetLimit: Int64 = 1 << 52

  private enum Layout {
    /// Every row is null, or there are no rows.
    case null
    /// The start of each text in `data`, and the end of the last one, in `width` bytes each.
    case offsets(UnsafeRawPointer, width: Int, data: UnsafeRawPointer?)
    /// 16 bytes per text: the length, then the text itself or its position in one of the `data` buffers.
    case views(UnsafeRawPointer, data: UnsafeBufferPointer<UnsafeRawPointer?>, sizes: UnsafeRawPointer?)
  }

  init(_ column: bertqa_column, _ name: StaticString) throws(BertQAError) {
    self.name = "\(name)"
    guard let array = column.array?.pointee, let schema = column.schema?.pointee else {
      throw Self.invalid(name, "has no array or no schema")
    }
    guard array.release != nil, schema.release != nil else {
      throw Self.invalid(name, "was released before the call")
    }
    guard array.length <= Int64(BERTQA_MAX_BATCH) else {
      throw BertQAError(
        .tooLarge, argument: "\(name)",
        "has \(array.length) rows, above the limit of \(BERTQA_MAX_BATCH); split the column")
    }
    guard array.length >= 0, array.offset >= 0, array.offset <= Self.offsetLimit else {
      throw Self.invalid(name, "has \(array.length) rows from \(array.offset) on")
    }
    guard (-1...array.length).contains(array.null_count) else {
      throw Self.invalid(name, "has \(array.null_count) nulls in \(array.length) rows")
    }
    count = Int(array.length)
    offset = Int(array.offset)
    layout = try Self.layout(array, schema, name)
    switch layout {
    case .null: validity = nil
    case .offsets, .views:
      let bits = array.buffers?[0]?.assumingMemoryBound(to: UInt8.self)
      guard bits != nil || array.null_count <= 0 else {
        throw Self.invalid(name, "has \(array.null_count) nulls, but no buffer that says which")
      }
      validity = array.null_count == 0 ? nil : bits
    }
  }

  private static func layout(
    _ array: ArrowArray, _ schema: ArrowSchema, _ name: StaticString
  ) throws(BertQAError) -> Layout {
    let format = schema.format.map { String(cString: $0) } ?? ""
    let isDictionary = schema.dictionary != nil || array.dictionary != nil
    guard ["n", "u", "z", "U", "Z", "vu", "vz"].contains(format), !isDictionary else {
      throw invalid(
        name,
        "is of Arrow type \"\(format)\"\(isDictionary ? ", dictionary-encoded" : ""); cast it to utf8, "
          + "large_utf8 or utf8_view")
    }
    guard array.n_children == 0, schema.n_children == 0 else { throw invalid(name, "has children") }
    if format == "n" || array.length == 0 { return .null }
    let isView = format.utf8.first == UInt8(ascii: "v")
    guard isView ? (3...Int64(Int32.max)).contains(array.n_buffers) : array.n_buffers == 3,
      let buffers = array.buffers, let second = buffers[1]
    else { throw invalid(name, "does not have the buffers of its type") }
    guard isView else {
      let isLarge = format == "U" || format == "Z"
      return .offsets(second, width: isLarge ? 8 : 4, data: buffers[2])
    }
    // The last buffer contains the lengths of the data buffers.
    let last = Int(array.n_buffers) - 1
    guard last == 2 || buffers[last] != nil else {
      throw invalid(name, "does not have the buffer of its buffers' lengths")
    }
    return .views(
      second, data: UnsafeBufferPointer(start: buffers + 2, count: last - 2), sizes: buffers[last])
  }

  private static func invalid(_ name: StaticString, _ detail: String) -> BertQAError {
    BertQAError(.invalidArgument, argument: "\(name)", detail)
  }

  /// Returns the text of a row; nil for a null.
  func text(_ row: Int) throws(BertQAError) -> UnsafeBufferPointer<UInt8>? {
    let index = offset + row
    if let validity, validity[index / 8] & 1 << UInt8(index % 8) == 0 { return nil }
    do throws(BertQAError) {
      switch layout {
      case .null: return nil
      case .offsets(let offsets, let width, let data):
        let start = Self.offset(offsets, width, index)
        let end = Self.offset(offsets, width, index + 1)
        guard start >= 0, start <= end else {
          throw BertQAError(.invalidArgument, "begins at \(start) and ends at \(end)")
        }
        return try Self.text(data, start: start, length: end - start)
      case .views(let views, let data, let sizes):
        return try Self.text(view: views + 16 * index, data, sizes)
      }
    } catch {
      throw error.of(item: row, in: name)
    }
  }

  /// Returns an item for each text that is not null, and its row.
  func valid<Item>(
    _ monitor: CallMonitor, _ item: (UnsafeBufferPointer<UInt8>) -> Item
  ) throws(BertQAError) -> (items: [Item], rows: [Int]) {
    var items = try [Item](resultCapacity: count, monitor)
    var rows = try [Int](resultCapacity: count, monitor)
    for row in 0..<count {
      if row % Self.pollInterval == 0 { try monitor.check() }
      guard let text = try text(row) else { continue }
      items.append(item(text))
      rows.append(row)
    }
    return (items, rows)
  }

  private static func offset(_ offsets: UnsafeRawPointer, _ width: Int, _ index: Int) -> Int {
    let place = offsets + width * index
    return width == 4 ? Int(place.loadUnaligned(as: Int32.self)) : Int(place.loadUnaligned(as: Int64.self))
  }

  private static func text(
    view: UnsafeRawPointer, _ data: UnsafeBufferPointer<UnsafeRawPointer?>, _ sizes: UnsafeRawPointer?
  ) throws(BertQAError) -> UnsafeBufferPointer<UInt8> {
    let length = Int(view.loadUnaligned(as: Int32.self))
    guard length >= 0 else { throw BertQAError(.invalidArgument, "has a length of \(length)") }
    if length <= 12 { return try text(view, start: 4, length: length) }
    let buffer = Int(view.loadUnaligned(fromByteOffset: 8, as: Int32.self))
    let start = Int(view.loadUnaligned(fromByteOffset: 12, as: Int32.self))
    guard data.indices.contains(buffer), let sizes else {
      throw BertQAError(.invalidArgument, "is in buffer \(buffer) of \(data.count)")
    }
    let size = Int((sizes + 8 * buffer).loadUnaligned(as: Int64.self))
    guard start >= 0, start + length <= size else {
      throw BertQAError(
        .invalidArgument, "has \(length) bytes from \(start) on in a buffer of \(size)")
    }
    return try text(data[buffer], start: start, length: length)
  }

  private static func text(
    _ data: UnsafeRawPointer?, start: Int, length: Int
  ) throws(BertQAError) -> UnsafeBufferPointer<UInt8> {
    guard length > 0 else { return UnsafeBufferPointer(start: nil, count: 0) }
    guard let data else { throw BertQAError(.invalidArgument, "is in a buffer that is NULL") }
    // `data + start` would be undefined outside the address space.
    let (place, overflow) = UInt(bitPattern: data).addingReportingOverflow(UInt(start))
    guard !overflow, !place.addingReportingOverflow(UInt(length)).overflow else {
      throw BertQAError(.invalidArgument, "begins at offset \(start), outside the address space")
    }
    return try textArgument(UnsafePointer(bitPattern: place), length, "text")
  }
}
