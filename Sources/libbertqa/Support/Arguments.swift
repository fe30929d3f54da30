import BertQACore
import CBertQAHeader

/// Returns the bytes of a text argument. A size_t above Int.max arrives here as a negative length.
/// - Parameter name: the name of the parameter or member.
func textArgument(
  _ pointer: UnsafePointer<CChar>?, _ length: Int, _ name: StaticString
) throws(BertQAError) -> UnsafeBufferPointer<UInt8> {
  guard length >= 0, length <= Int(BERTQA_MAX_TEXT_BYTES) else {
    throw BertQAError(
      .tooLarge, argument: "\(name)",
      "has a length of \(UInt(bitPattern: length)), above the limit of \(BERTQA_MAX_TEXT_BYTES) bytes; split it"
    )
  }
  guard length > 0 else { return UnsafeBufferPointer(start: nil, count: 0) }
  guard let pointer else {
    throw BertQAError(
      .invalidArgument, argument: "\(name)", "is NULL with a length of \(length); pass a length of 0")
  }
  return UnsafeBufferPointer(
    start: UnsafeRawPointer(pointer).assumingMemoryBound(to: UInt8.self), count: length)
}

/// Returns a text as a string. Invalid UTF-8 becomes U+FFFD.
func string(of text: UnsafeBufferPointer<UInt8>) throws(BertQAError) -> String {
  // An invalid byte becomes three.
  try Memory.require(3 * text.count)
  return String(decoding: text, as: UTF8.self)
}

/// Returns a pointer argument that must not be NULL.
func required<T>(_ pointer: T?, _ name: StaticString) throws(BertQAError) -> T {
  guard let pointer else { throw BertQAError(.invalidArgument, argument: "\(name)", "must not be NULL") }
  return pointer
}

/// Returns the elements of an array argument, which may be NULL if `count` is 0.
func elements<Element>(
  _ array: UnsafePointer<Element>?, _ count: Int, _ name: StaticString
) throws(BertQAError) -> UnsafeBufferPointer<Element> {
  UnsafeBufferPointer(start: count > 0 ? try required(array, name) : nil, count: count)
}

/// Returns a path argument, which ends with a NUL.
func pathArgument(
  _ pointer: UnsafePointer<CChar>?, _ name: StaticString
) throws(BertQAError) -> String {
  guard let path = String(validatingCString: try required(pointer, name)) else {
    throw BertQAError(.invalidArgument, argument: "\(name)", "is not valid UTF-8")
  }
  return path
}

/// Returns the name of a label. Labels are compared by their bytes, so the bytes must not change.
func labelArgument(
  _ pointer: UnsafePointer<CChar>?, _ length: Int, _ name: StaticString
) throws(BertQAError) -> String {
  let bytes = try textArgument(pointer, length, name)
  guard !bytes.isEmpty else {
    throw BertQAError(.invalidArgument, argument: "\(name)", "is empty; pass a name")
  }
  guard !bytes.contains(0) else { throw BertQAError(.invalidArgument, argument: "\(name)", "contains a NUL") }
  try Memory.require(bytes.count)
  guard let label = String(validating: bytes, as: UTF8.self) else {
    throw BertQAError(.invalidArgument, argument: "\(name)", "is not valid UTF-8")
  }
  return label
}

/// Returns the result of `body`, whose argument has another name in C.
func naming<Success>(
  _ argument: StaticString, _ body: () throws(BertQAError) -> Success
) throws(BertQAError) -> Success {
  do {
    return try body()
  } catch {
    throw error.named("\(argument)")
  }
}

/// Checks that the length of a caller's array equals the number of elements that the call writes.
func checkRoom(_ length: Int, _ expected: Int, _ name: StaticString) throws(BertQAError) {
  guard length == expected else {
    throw BertQAError(
      .invalidArgument, argument: "\(name)", "is \(UInt(bitPattern: length)), but must be \(expected)")
  }
}

/// Sets `needed` to the size of a result in bytes and returns the caller's memory for it; nil if the result is empty.
/// - Throws: `.invalidArgument` if the memory is too small.
func room(
  for count: Int, _ output: UnsafeMutableRawPointer?, _ name: StaticString, _ capacity: Int,
  _ needed: UnsafeMutablePointer<Int>
) throws(BertQAError) -> UnsafeMutableRawPointer? {
  needed.pointee = count
  // A size_t above Int.max arrives here as a negative number.
  guard capacity < 0 || count <= capacity else {
    throw BertQAError(
      .invalidArgument, argument: "capacity", "is \(capacity), but the result has \(count) bytes")
  }
  return count > 0 ? try required(output, name) : nil
}

/// Writes a result into a caller's struct of any version, up to its struct_size, which does not change.
func write<Value>(
  _ value: Value, to pointer: UnsafeMutablePointer<Value>, _ name: StaticString
) throws(BertQAError) {
  let size = try checkedSize(of: pointer, name)
  let target = UnsafeMutableRawBufferPointer(start: pointer, count: size)
  withUnsafeBytes(of: value) { source in
    for index in MemoryLayout<Int>.size..<size {
      target[index] = index < source.count ? source[index] : 0
    }
  }
}

/// Returns the struct_size of a caller's result struct, whose fields all have eight bytes.
func checkedSize<Value>(
  of pointer: UnsafeMutablePointer<Value>, _ name: StaticString
) throws(BertQAError) -> Int {
  let known = MemoryLayout<Value>.size
  return try checkedSize(of: pointer, name, wide: known, of: known)
}

/// Returns the struct_size that a caller set. It must be that of some version, so it must end between two fields.
/// - Parameters:
///   - wide: the size of the fields with eight bytes each; the fields after them have four.
///   - known: the size of all fields that this library knows.
func checkedSize(
  of pointer: UnsafeRawPointer, _ name: StaticString, wide: Int, of known: Int
) throws(BertQAError) -> Int {
  let size = pointer.loadUnaligned(as: Int.self)
  // No struct is larger than 4096 bytes; a larger struct_size is an uninitialised one.
  guard size >= MemoryLayout<Int>.size, size <= 4096 else {
    throw BertQAError(
      .invalidArgument, argument: "struct_size",
      "of \(name) is \(UInt(bitPattern: size)), but must be sizeof(\(name))")
  }
  guard size >= known || size % (size <= wide ? 8 : 4) == 0 else {
    throw BertQAError(
      .invalidArgument, argument: "struct_size",
      "of \(name) is \(size), which ends inside a field; set it to sizeof(\(name))")
  }
  return size
}

/// Returns the labels that the caller wants; nil for NULL. An empty array, such as that of a filter that kept nothing,
/// is refused: it does not mean all labels.
func labels(
  _ pointer: UnsafePointer<bertqa_text>?, _ count: Int, _ call: CallOptions
) throws(BertQAError) -> [String]? {
  let labels = try texts(pointer, count, "labels", "label_count", call)
  guard labels?.isEmpty != true else {
    throw BertQAError(
      .invalidArgument, argument: "labels", "has no element: pass at least one label, or do not set it")
  }
  return labels
}

/// Returns the labels, codes or texts of an array; nil for NULL.
func texts(
  _ pointer: UnsafePointer<bertqa_text>?, _ count: Int, _ name: StaticString, _ countName: StaticString,
  _ call: CallOptions
) throws(BertQAError) -> [String]? {
  guard let pointer else {
    guard count == 0 else {
      throw BertQAError(
        .invalidArgument, argument: "\(name)", "is NULL, but \(countName) is \(UInt(bitPattern: count))")
    }
    return nil
  }
  guard (0...maximumListCount).contains(count) else {
    throw BertQAError(
      .tooLarge, argument: "\(countName)",
      "is \(UInt(bitPattern: count)), but at most \(maximumListCount) are allowed")
  }
  return try readItems(pointer, count, name, call) { text throws(BertQAError) in
    try labelArgument(text.text, text.length, "text")
  }
}

private let maximumListCount = 1 << 20
