/// Scans one JSON object (RFC 8259, strict except that it does not check UTF-8) and records the positions of
/// the values at up to 64 paths. It copies and decodes nothing, runs in linear time, and does not recurse.
struct JSONScanner {
  enum Kind {
    case string, number, boolean, null, array, object
  }

  struct Value {
    /// The value's bytes, with the quotes of a string.
    var range: Range<Int>
    var kind: Kind
    var hasEscapes: Bool
  }

  /// The deepest existing value on the last path. If it is an object, a member can be added to it.
  struct Nearest {
    /// The number of path segments that lead to it.
    var depth: Int
    var kind: Kind
    /// The position of its closing brace.
    var closing: Int
    var isEmpty: Bool
  }

  /// A syntax error and its position.
  struct Flaw: Error {
    let what: StaticString
    let position: Int
  }

  /// A value that is being scanned. Bit i of a set refers to path i.
  struct Visit {
    var start: Int
    /// Paths that continue inside the value.
    var inner: UInt64
    /// Paths that end at the value.
    var targets: UInt64
  }

  private struct Frame {
    var visit: Visit
    var isObject: Bool
    var isEmpty: Bool
    /// The index of the current element.
    var index: Int
  }

  /// At most 64 paths.
  let paths: [FieldPath]
  private(set) var values: [Value?]
  private(set) var nearest: Nearest?
  /// Every value at the last path, in order: more than one if a key on it occurs twice.
  private(set) var occurrences: [Range<Int>] = []
  /// Bit i is set if a key on path i occurs twice.
  private(set) var repeated: UInt64 = 0
  /// The number of segments of each path that were found.
  private var metCounts: [Int]

  var text = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
  var position = 0
  var end = 0
  private var frames: [Frame] = []

  private static let maximumDepth = 1000

  init(paths: [FieldPath]) {
    self.paths = paths
    values = Array(repeating: nil, count: paths.count)
    metCounts = Array(repeating: 0, count: paths.count)
  }

  /// Scans the object in `range` of `text`.
  mutating func scan(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) throws(Flaw) {
    self.text = text
    position = range.lowerBound
    end = range.upperBound
    frames.removeAll(keepingCapacity: true)
    for index in values.indices {
      values[index] = nil
      metCounts[index] = 0
    }
    repeated = 0
    occurrences.removeAll(keepingCapacity: true)
    nearest = nil
    skipSpace()
    guard next == UInt8(ascii: "{") else { throw flaw("expected an object") }
    var visit = Visit(start: position, inner: ~0 >> UInt64(64 - paths.count), targets: 0)
    repeat {
      try enter(visit)
    } while try leave(&visit)
    skipSpace()
    guard position == end else { throw flaw("expected the end of the record") }
  }

  /// Passes a scalar, or the beginning of a container up to its first value.
  private mutating func enter(_ first: Visit) throws(Flaw) {
    var visit = first
    while true {
      visit.start = position
      guard next == UInt8(ascii: "{") || next == UInt8(ascii: "[") else {
        let (kind, hasEscapes) = try scalar()
        return note(visit, kind, hasEscapes: hasEscapes)
      }
      guard frames.count < Self.maximumDepth else { throw flaw("nested deeper than 1000 levels") }
      let isObject = next == UInt8(ascii: "{")
      position &+= 1
      skipSpace()
      let isEmpty = next == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
      frames.append(Frame(visit: visit, isObject: isObject, isEmpty: isEmpty, index: 0))
      if isEmpty { return }
      visit = isObject ? try key() : element()
    }
  }

  /// Passes the bytes after a value. Returns true and the next value if there is one.
  private mutating func leave(_ visit: inout Visit) throws(Flaw) -> Bool {
    while let frame = frames.last {
      skipSpace()
      if next == UInt8(ascii: ","), !frame.isEmpty {
        position &+= 1
        skipSpace()
        frames[frames.count - 1].index &+= 1
        visit = frame.isObject ? try key() : element()
        return true
      }
      guard next == (frame.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
        throw flaw(frame.isObject ? "expected ',' or '}'" : "expected ',' or ']'")
      }
      position &+= 1
      frames.removeLast()
      note(frame.visit, frame.isObject ? .object : .array, isEmpty: frame.isEmpty)
    }
    return false
  }

  /// Passes a member's key and colon.
  private mutating func key() throws(Flaw) -> Visit {
    guard next == UInt8(ascii: "\"") else { throw flaw("expected a key in quotes") }
    let start = position &+ 1
    let hasEscapes = try string()
    let key = start..<position &- 1
    skipSpace()
    guard next == UInt8(ascii: ":") else { throw flaw("expected ':'") }
    position &+= 1
    skipSpace()
    let inner = frames[frames.count - 1].visit.inner
    guard inner != 0 else { return Visit(start: 0, inner: 0, targets: 0) }
    let spelled = UnsafeBufferPointer(rebasing: text[key])
    return follow(inner) { segment, _ in JSONText.matches(spelled, hasEscapes: hasEscapes, segment) }
  }

  private mutating func element() -> Visit {
    let frame = frames[frames.count - 1]
    guard frame.visit.inner != 0 else { return Visit(start: 0, inner: 0, targets: 0) }
    return follow(frame.visit.inner) { _, index in index == frame.index }
  }

  /// Returns the paths that lead through, or end at, the value whose key or index `matches`. The last of
  /// several equal keys wins.
  private mutating func follow(_ candidates: UInt64, _ matches: ([UInt8], Int?) -> Bool) -> Visit {
    var visit = Visit(start: 0, inner: 0, targets: 0)
    let depth = frames.count - 1
    var rest = candidates
    while rest != 0 {
      let index = rest.trailingZeroBitCount
      rest &= rest &- 1
      let path = paths[index]
      guard matches(path.segments[depth], path.indices[depth]) else { continue }
      if metCounts[index] > depth { repeated |= 1 << UInt64(index) }
      metCounts[index] = max(metCounts[index], depth + 1)
      if depth + 1 == path.segments.count {
        visit.targets |= 1 << UInt64(index)
      } else {
        visit.inner |= 1 << UInt64(index)
        values[index] = nil
        if index == paths.count - 1, let found = nearest, found.depth > depth { nearest = nil }
      }
    }
    return visit
  }

  private mutating func note(_ visit: Visit, _ kind: Kind, hasEscapes: Bool = false, isEmpty: Bool = false) {
    var rest = visit.targets
    if rest >> UInt64(paths.count - 1) & 1 == 1 { occurrences.append(visit.start..<position) }
    while rest != 0 {
      values[rest.trailingZeroBitCount] = Value(
        range: visit.start..<position, kind: kind, hasEscapes: hasEscapes)
      rest &= rest &- 1
    }
    let leadsOn = visit.inner >> UInt64(paths.count - 1) & 1 == 1
    guard leadsOn, frames.count >= (nearest?.depth ?? 0) else { return }
    nearest = Nearest(depth: frames.count, kind: kind, closing: position - 1, isEmpty: isEmpty)
  }
}
