/// What values of a result are written to: JSON, or the cells of a row.
protocol ValueWriter {
  mutating func null()
  mutating func boolean(_ value: Bool)
  mutating func integer(_ value: Int)
  mutating func number(_ value: Float)
  mutating func string(_ text: some Collection<UInt8>)
  /// Numbers.
  mutating func list(_ items: some Sequence<some CustomStringConvertible>)
  /// What has no simpler form.
  mutating func json(_ body: (inout JSONWriter) -> Void)
}

extension JSONWriter: ValueWriter {
  mutating func list(_ items: some Sequence<some CustomStringConvertible>) {
    array { writer in
      for item in items { writer.literal(item.description) }
    }
  }

  mutating func json(_ body: (inout JSONWriter) -> Void) { body(&self) }

  /// An object with these members.
  mutating func object<Field: ResultField>(
    _ fields: [Field], _ write: (Field, inout JSONWriter) -> Void
  ) {
    object { writer in
      for field in fields {
        writer.key(field.rawValue)
        write(field, &writer)
      }
    }
  }
}

/// What --fields can ask for of a result.
protocol ResultField: RawRepresentable<String>, CaseIterable, Equatable {
  /// The columns of a table without --fields.
  static var usual: [Self] { get }
}

extension ResultField {
  static var names: [String] { allCases.map(\.rawValue) }
}
