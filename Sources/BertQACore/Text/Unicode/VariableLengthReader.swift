/// Reads the numbers of a generated table: five bits a character from "0" on, least significant
/// first, with 32 added to a character that more follow. Line ends are skipped.
struct VariableLengthReader {
  private var next: UnsafePointer<UInt8>
  private let end: UnsafePointer<UInt8>

  init(_ table: StaticString) {
    next = table.utf8Start
    end = next + table.utf8CodeUnitCount
  }

  /// Returns the next number, or nil at the end of the table.
  mutating func read() -> UInt32? {
    var number: UInt32 = 0
    var shift: UInt32 = 0
    while next < end {
      let character = UInt32(next.pointee)
      next += 1
      if character < 48 { continue }
      let bits = character &- 48
      number |= (bits & 31) &<< shift
      if bits < 32 { return number }
      shift += 5
    }
    return nil
  }

  /// Returns the next number as a signed one (zigzag).
  mutating func readSigned() -> Int32? {
    read().map { Int32($0 >> 1) ^ -Int32($0 & 1) }
  }

  /// Reads a table of decompositions: the code points of all of them, and for each its character and its place in
  /// `parts`.
  mutating func readDecompositions() -> (
    parts: [UInt32], entries: [(scalar: UInt32, offset: UInt32, count: UInt32)]
  ) {
    var parts: [UInt32] = []
    var entries: [(scalar: UInt32, offset: UInt32, count: UInt32)] = []
    var scalar: UInt32 = 0
    var base: Int32 = 0
    while let gap = read(), let count = read() {
      scalar += gap
      let offset = parts.count
      var part = base
      for _ in 0..<count {
        part += readSigned() ?? 0
        parts.append(UInt32(bitPattern: part))
      }
      base = Int32(bitPattern: parts[offset])
      entries.append((scalar, UInt32(offset), count))
    }
    return (parts, entries)
  }
}
