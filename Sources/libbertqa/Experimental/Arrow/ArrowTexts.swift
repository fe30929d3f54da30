import BertQACore
import CBertQAHeader

/// The texts of an Arrow column, where they lie.
/// Source: Arrow Columnar Format 1.5, variable-size binary layout and its view layout.
struct ArrowTexts {
  let count: Int
  private let layout: Layout
  private let validity: UnsafePointer<UInt8>?
  /// Of the first row, in rows of the buffers.
  private let offset: Int
  private let name: String

  private enum Layout {
    case null
    case offsets32(UnsafePointer<Int32>, data: UnsafePointer<UInt8>?)
    case offsets64(UnsafePointer<Int64>, data: UnsafePointer<UInt8>?)
    /// Each view has 16 bytes: the length, then the text itself or where it lies in one of `data`.
    case views(UnsafeRawPointer, data: UnsafeBufferPointer<UnsafeRawPointer?>)
  }

  init(_ column: bertqa_column, _ name: String) throws(BertQAError) {
    let array = try required(column.array, "\(name).array").pointee
    let schema = try required(column.schema, "\(name).schema").pointee
    guard array.release != nil, schema.release != nil else {
      throw BertQAError(.invalidArgument, "\(name): the column was released before the call")
    }
    guard array.length >= 0, array.offset >= 0, array.length <= Int(BERTQA_MAX_BATCH) else {
      throw BertQAError(
        .tooLarge,
        "\(name): \(array.length) rows at offset \(array.offset); at most \(BERTQA_MAX_BATCH) are possible in one call"
      )
    }
    self.name = name
    count = Int(array.length)
    offset = Int(array.offset)
    let format = schema.format.map { String(cString: $0) } ?? ""
    let buffers = UnsafeBufferPointer(start: array.buffers, count: max(0, Int(array.n_buffers)))
    layout = try Self.layout(format, buffers, isDictionary: schema.dictionary != nil, count, name)
    if case .null = layout {
      validity = nil
    } else {
      validity = array.null_count == 0 ? nil : buffers[0]?.assumingMemoryBound(to: UInt8.self)
    }
  }

  private static func layout(
    _ format: String, _ buffers: UnsafeBufferPointer<UnsafeRawPointer?>, isDictionary: Bool, _ count: Int,
    _ name: String
  ) throws(BertQAError) -> Layout {
    let known = ["n": 0, "u": 3, "z": 3, "U": 3, "Z": 3, "vu": 3, "vz": 3]
    guard let needed = known[format], !isDictionary else {
      throw BertQAError(
        .invalidArgument,
        "\(name): a column of Arrow type \"\(format)\"\(isDictionary ? ", dictionary-encoded" : ""); cast it to "
          + "utf8, large_utf8 or utf8_view")
    }
    if needed == 0 || count == 0 { return .null }
    guard buffers.count >= needed, let second = buffers[1] else {
      throw BertQAError(.invalidArgument, "\(name): a column without the buffers of its type")
    }
    switch format {
    case "u", "z":
      return .offsets32(
        second.assumingMemoryBound(to: Int32.self), data: buffers[2]?.assumingMemoryBound(to: UInt8.self))
    case "U", "Z":
      return .offsets64(
        second.assumingMemoryBound(to: Int64.self), data: buffers[2]?.assumingMemoryBound(to: UInt8.self))
    default:
      // The last buffer holds the lengths of those between.
      return .views(second, data: UnsafeBufferPointer(rebasing: buffers[2..<buffers.count - 1]))
    }
  }

  /// nil for a null.
  func text(_ row: Int) throws(BertQAError) -> UnsafeBufferPointer<UInt8>? {
    let index = offset + row
    if let validity, validity[index / 8] & 1 << UInt8(index % 8) == 0 { return nil }
    let start: UnsafeRawPointer?
    let length: Int
    switch layout {
    case .null: return nil
    case .offsets32(let offsets, let data):
      length = Int(offsets[index + 1]) - Int(offsets[index])
      start = data.map { UnsafeRawPointer($0 + Int(offsets[index])) }
    case .offsets64(let offsets, let data):
      length = Int(offsets[index + 1]) - Int(offsets[index])
      start = data.map { UnsafeRawPointer($0 + Int(offsets[index])) }
    case .views(let views, let data):
      let view = views + 16 * index
      length = Int(view.loadUnaligned(as: Int32.self))
      start = length <= 12 ? view + 4 : try Self.place(view, data, name, row)
    }
    guard length >= 0 else {
      throw BertQAError(.invalidArgument, "\(name): row \(row) has offsets that fall")
    }
    return try textArgument(start?.assumingMemoryBound(to: CChar.self), length, "\(name), row \(row)")
  }

  private static func place(
    _ view: UnsafeRawPointer, _ data: UnsafeBufferPointer<UnsafeRawPointer?>, _ name: String, _ row: Int
  ) throws(BertQAError) -> UnsafeRawPointer {
    let buffer = Int(view.loadUnaligned(fromByteOffset: 8, as: Int32.self))
    guard data.indices.contains(buffer), let base = data[buffer] else {
      throw BertQAError(.invalidArgument, "\(name): row \(row) refers to buffer \(buffer) of \(data.count)")
    }
    return base + Int(view.loadUnaligned(fromByteOffset: 12, as: Int32.self))
  }
}
