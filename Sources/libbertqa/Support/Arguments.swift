import BertQACore
import CBertQAHeader

/// The bytes of a text argument. A size_t above Int.max arrives here as a negative length.
/// - Parameter name: the parameter's or the member's.
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

/// The value of a pointer argument that must not be NULL.
func required<T>(_ pointer: T?, _ name: StaticString) throws(BertQAError) -> T {
  guard let pointer else { throw BertQAError(.invalidArgument, argument: "\(name)", "must not be NULL") }
  return pointer
}

/// A path, which ends with a NUL.
func pathArgument(
  _ pointer: UnsafePointer<CChar>?, _ name: StaticString
) throws(BertQAError) -> String {
  guard let path = String(validatingCString: try required(pointer, name)) else {
    throw BertQAError(.invalidArgument, argument: "\(name)", "is not valid UTF-8")
  }
  return path
}

/// The name of a label: compared by its bytes, so none may change on the way.
func labelArgument(
  _ pointer: UnsafePointer<CChar>?, _ length: Int, _ name: StaticString
) throws(BertQAError) -> String {
  let bytes = try textArgument(pointer, length, name)
  guard !bytes.isEmpty else { throw BertQAError(.invalidArgument, argument: "\(name)", "is empty") }
  guard !bytes.contains(0) else { throw BertQAError(.invalidArgument, argument: "\(name)", "has a NUL") }
  try Memory.require(bytes.count)
  guard let label = String(validating: bytes, as: UTF8.self) else {
    throw BertQAError(.invalidArgument, argument: "\(name)", "is not valid UTF-8")
  }
  return label
}

/// The room of an array that the caller gave must be what the call will write.
func checkRoom(_ length: Int, _ expected: Int, _ name: StaticString) throws(BertQAError) {
  guard length == expected else {
    throw BertQAError(
      .invalidArgument, argument: "\(name)", "is \(UInt(bitPattern: length)), but must be \(expected)")
  }
}

/// Writes a result into a caller's struct of any version: as much as its struct_size, which stays, has room for.
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

/// The struct_size of a caller's struct for a result, whose fields all have eight bytes.
func checkedSize<Value>(
  of pointer: UnsafeMutablePointer<Value>, _ name: StaticString
) throws(BertQAError) -> Int {
  let known = MemoryLayout<Value>.size
  return try checkedSize(of: pointer, name, wide: known, of: known)
}

/// The struct_size that a caller set: that of a whole struct, of any version, so it ends between two fields.
/// - Parameters:
///   - wide: bytes of the fields that have eight each; those behind have four.
///   - known: bytes of all fields that this library knows.
func checkedSize(
  of pointer: UnsafeRawPointer, _ name: StaticString, wide: Int, of known: Int
) throws(BertQAError) -> Int {
  let size = pointer.loadUnaligned(as: Int.self)
  // No struct will ever be larger than 4096 bytes; a larger struct_size is an uninitialised one.
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
