/// A JSON value.
package enum JSON: Sendable, Equatable {
  case null
  case bool(Bool)
  case number(Number)
  case string(String)
  case array([JSON])
  case object(Object)

  package struct Number: Sendable, Equatable {
    package let double: Double
    /// The exact value if it is written without fraction and exponent and fits in 64 bits.
    package let integer: Int64?
  }

  /// The members in the order of the text, including duplicates.
  package struct Object: Sendable, Equatable {
    package struct Member: Sendable, Equatable {
      package var key: String
      package var value: JSON
    }

    package var members: [Member] = []

    /// Returns the value of the last member with this key, as most readers do. Compares keys byte by byte,
    /// not by canonical equivalence. Linear in the number of members.
    package subscript(key: String) -> JSON? {
      get { members.last { $0.key.utf8.elementsEqual(key.utf8) }?.value }
      // Out of line: there are many callers.
      @inline(never)
      set {
        members.removeAll { $0.key.utf8.elementsEqual(key.utf8) }
        if let newValue { members.append(Member(key: key, value: newValue)) }
      }
    }
  }

  // Out of line, or the compiler would put it into itself.
  @inline(never)
  package static func == (a: JSON, b: JSON) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.string(let a), .string(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }

  /// The value as an error message shows it: scalars in full, containers by kind.
  package var summary: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .number(let number): number.integer.map { "\($0)" } ?? "\(number.double)"
    case .string(let text): quoted(text)
    case .array: "an array"
    case .object: "an object"
    }
  }
}
