import BertQACore
import CBertQAHeader

/// The bytes of a text argument. A size_t above Int.max arrives here as a negative length.
func textArgument(
  _ pointer: UnsafePointer<CChar>?, _ length: Int, _ name: @autoclosure () -> String
) throws(BertQAError) -> UnsafeBufferPointer<UInt8> {
  guard length >= 0, length <= Int(BERTQA_MAX_TEXT_BYTES) else {
    throw BertQAError(
      .tooLarge,
      "\(name()): length \(UInt(bitPattern: length)) is above the limit of \(BERTQA_MAX_TEXT_BYTES) bytes; "
        + "split the text")
  }
  guard length > 0 else { return UnsafeBufferPointer(start: nil, count: 0) }
  guard let pointer else {
    throw BertQAError(.invalidArgument, "\(name()): NULL with a length of \(length); pass a length of 0")
  }
  return UnsafeBufferPointer(
    start: UnsafeRawPointer(pointer).assumingMemoryBound(to: UInt8.self), count: length)
}

/// The value of a pointer argument that must not be NULL.
func required<T>(_ pointer: T?, _ name: String) throws(BertQAError) -> T {
  guard let pointer else {
    throw BertQAError(.invalidArgument, "\(name): NULL is not allowed here")
  }
  return pointer
}

/// The case with this number; `name` is the argument's or the field's.
func enumeration<Value: RawRepresentable<Int32>>(
  _ raw: Int32, _ name: String
) throws(BertQAError) -> Value {
  guard let value = Value(rawValue: raw) else {
    throw BertQAError(
      .invalidArgument, "\(name) is \(raw), which is not one of the values in bertqa.h")
  }
  return value
}

/// Reads an options struct of any version: fields the caller's header did not have keep their
/// defaults; fields that this library does not know must be zero.
/// - Parameter defaults: every field at its default, `struct_size` first.
func readOptions<Options>(
  _ pointer: UnsafePointer<Options>?, _ name: String, defaults: Options
) throws(BertQAError) -> Options {
  guard let pointer else { return defaults }
  let bytes = UnsafeRawPointer(pointer)
  let size = bytes.loadUnaligned(as: Int.self)
  guard size >= MemoryLayout<Int>.size, size <= maximumStructSize else {
    throw BertQAError(
      .invalidArgument,
      "\(name).struct_size is \(UInt(bitPattern: size)); set the options with \(name)_init(&options, sizeof options)"
    )
  }
  let known = MemoryLayout<Options>.size
  if size > known {
    let unknown = UnsafeRawBufferPointer(start: bytes + known, count: size - known)
    guard unknown.allSatisfy({ $0 == 0 }) else {
      throw BertQAError(
        .unsupported,
        "\(name) uses a field that libbertqa \(libraryVersion) does not know; use a newer library")
    }
  }
  var options = defaults
  withUnsafeMutableBytes(of: &options) { target in
    target.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: min(size, known)))
  }
  return options
}

/// Fills the caller's struct with defaults, whatever its version's size.
func writeDefaults<Options>(
  _ defaults: Options, to pointer: UnsafeMutablePointer<Options>?, size: Int
) {
  guard let pointer, size >= MemoryLayout<Int>.size, size <= maximumStructSize else { return }
  let target = UnsafeMutableRawBufferPointer(start: pointer, count: size)
  withUnsafeBytes(of: defaults) { source in
    for index in target.indices { target[index] = index < source.count ? source[index] : 0 }
  }
  target.storeBytes(of: size, as: Int.self)
}

/// Writes a result into a caller's struct of any version, as much as its struct_size, which stays, has room for.
func write<Value>(
  _ value: Value, to pointer: UnsafeMutablePointer<Value>, _ name: String
) throws(BertQAError) {
  let size = UnsafeRawPointer(pointer).loadUnaligned(as: Int.self)
  guard size >= MemoryLayout<Int>.size, size <= maximumStructSize else {
    throw BertQAError(
      .invalidArgument,
      "\(name).struct_size is \(UInt(bitPattern: size)); set it to sizeof(\(name))")
  }
  let target = UnsafeMutableRawBufferPointer(start: pointer, count: size)
  withUnsafeBytes(of: value) { source in
    for index in MemoryLayout<Int>.size..<size {
      target[index] = index < source.count ? source[index] : 0
    }
  }
}

/// No options struct will ever be larger; a larger struct_size is an uninitialised one.
private let maximumStructSize = 4096
