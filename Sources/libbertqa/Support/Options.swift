import BertQACore
import CBertQAHeader

/// An options struct. `struct_size` comes first; 0 is the default of every other field.
protocol COptions {
  static var name: StaticString { get }
  /// The number of fields with four bytes, which come last. All others have eight.
  static var narrowFieldCount: Int { get }
  /// Sets all fields to 0.
  init()
}

/// Reads an options struct of any version. Fields that the caller's header lacks are 0, the default. Fields that this
/// library does not know must be 0.
func readOptions<Options: COptions>(
  _ pointer: UnsafePointer<Options>?
) throws(BertQAError) -> Options {
  var options = Options()
  guard let pointer else { return options }
  let bytes = UnsafeRawPointer(pointer)
  let known = MemoryLayout<Options>.size
  let size = try checkedSize(of: bytes, Options.name, wide: known - 4 * Options.narrowFieldCount, of: known)
  if size > known {
    let unknown = UnsafeRawBufferPointer(start: bytes + known, count: size - known)
    guard unknown.allSatisfy({ $0 == 0 }) else {
      throw BertQAError(
        .unsupported, argument: "\(Options.name)",
        "uses a field that libbertqa \(libraryVersion) does not know; use a newer library")
    }
  }
  withUnsafeMutableBytes(of: &options) { target in
    target.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: min(size, known)))
  }
  return options
}

/// Returns a boolean option; nil for the default.
func switched(_ raw: bertqa_switch, _ name: StaticString) throws(BertQAError) -> Bool? {
  switch raw {
  case 0: return nil
  case 1: return true
  case -1: return false
  default:
    throw BertQAError(
      .invalidArgument, argument: "\(name)",
      "is \(raw), but must be BERTQA_ON (1), BERTQA_OFF (-1) or BERTQA_DEFAULT (0)")
  }
}

/// Returns the case with this number.
func enumeration<Value: RawRepresentable<Int32>>(
  _ raw: Int32, _ name: StaticString
) throws(BertQAError) -> Value {
  guard let value = Value(rawValue: raw) else {
    throw BertQAError(
      .invalidArgument, argument: "\(name)", "is \(raw), which is not one of the values in the header")
  }
  return value
}

/// Returns a number; `value` for 0, the default.
func number(_ raw: Int32, default value: Int) -> Int { number(raw) ?? value }

/// Returns a number; nil for 0, the default.
func number(_ raw: Int32) -> Int? { raw == 0 ? nil : Int(raw) }

/// Returns a number; nil for 0, the default, and 0 for `none`.
func number(_ raw: Int32, none: Int32) -> Int? { raw == none ? 0 : number(raw) }

/// Returns a number; `value` for 0, the default.
func number<Number: FloatingPoint>(_ raw: Number, default value: Number) -> Number {
  raw == 0 ? value : raw
}

/// Checks a member that pads a struct. Later versions may use it.
func checkReserved(_ raw: Int32) throws(BertQAError) {
  guard raw == 0 else {
    throw BertQAError(.invalidArgument, argument: "reserved", "is \(raw), but must be 0")
  }
}

/// Returns a threshold if its switch is on.
func threshold(
  _ value: Float, used raw: bertqa_switch
) throws(BertQAError) -> Float? {
  if try switched(raw, "use_no_answer_threshold") ?? false { return value }
  guard value == 0 else {
    throw BertQAError(
      .invalidArgument, argument: "no_answer_threshold",
      "is \(value), but use_no_answer_threshold is not BERTQA_ON")
  }
  return nil
}
