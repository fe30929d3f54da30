import Glibc

/// One string of the command line, byte for byte: a file name need not be UTF-8.
struct ArgumentText: @unchecked Sendable {  // what it points to does not change
  /// Into `argv`, which lives as long as the process.
  let pointer: UnsafePointer<CChar>

  static let standardInput = ArgumentText(literal: "-")

  init(pointer: UnsafePointer<CChar>) { self.pointer = pointer }

  private init(literal: StaticString) {
    pointer = UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  var bytes: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      start: UnsafeRawPointer(pointer).assumingMemoryBound(to: UInt8.self), count: strlen(pointer))
  }

  var string: String { String(cString: pointer) }

  func integer(of option: Option, command: String) throws(ToolError) -> Int {
    if let value = Int(string) { return value }
    throw .usage("--\(option.rawValue) takes a whole number, not '\(string)'", command: command)
  }

  /// A number of bytes, also in units of 1024 (K), 1024² (M) or 1024³ (G).
  func byteCount(of option: Option, in range: ClosedRange<Int>, command: String) throws(ToolError) -> Int {
    let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    let unit = string.last.flatMap { units[$0] }
    let digits = unit == nil ? Substring(string) : string.dropLast()
    if let value = Int(digits) {
      let (bytes, isTooLarge) = value.multipliedReportingOverflow(by: unit ?? 1)
      if !isTooLarge, range.contains(bytes) { return bytes }
    }
    throw .usage(
      "--\(option.rawValue) takes a number of bytes, \(range.lowerBound) to \(range.upperBound), such as "
        + "64M, not '\(string)'", command: command)
  }

  func unsigned(of option: Option, command: String) throws(ToolError) -> UInt64 {
    if let value = UInt64(string) { return value }
    throw .usage("--\(option.rawValue) takes a whole number from 0 on, not '\(string)'", command: command)
  }

  /// One character of ASCII that is no quote and no line end; "\t" for a tab.
  func delimiter(of option: Option, command: String) throws(ToolError) -> UInt8 {
    if bytes.elementsEqual("\\t".utf8) { return UInt8(ascii: "\t") }
    if bytes.count == 1, let byte = bytes.first, byte < 0x80, !"\"\r\n".utf8.contains(byte) { return byte }
    throw .usage("--\(option.rawValue) takes one character, not '\(string)'", command: command)
  }

  func number(of option: Option, command: String) throws(ToolError) -> Float {
    Float(try double(of: option, command: command))
  }

  func double(of option: Option, command: String) throws(ToolError) -> Double {
    if let value = Double(string), !value.isNaN { return value }
    throw .usage("--\(option.rawValue) takes a number, not '\(string)'", command: command)
  }

  /// The element that this argument names, by the spellings given.
  func choice<Element>(
    of option: Option, from choices: KeyValuePairs<String, Element>, command: String
  ) throws(ToolError) -> Element {
    let string = string
    for (name, element) in choices where name == string { return element }
    throw .usage(
      "--\(option.rawValue) takes \(choices.map(\.key).joined(separator: ", ")), not '\(string)'",
      command: command)
  }
}
