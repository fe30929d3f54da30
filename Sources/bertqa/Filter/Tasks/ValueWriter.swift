/// The target of a result's values: JSON or the cells of a row.
protocol ValueWriter {
  mutating func null()
  mutating func boolean(_ value: Bool)
  mutating func integer(_ value: Int)
  mutating func number(_ value: Float)
  mutating func string(_ text: some Collection<UInt8>)
  /// Writes numbers.
  mutating func list(_ items: some Sequence<some CustomStringConvertible>)
  /// Writes a value without a simpler form.
  mutating func json(_ body: (inout JSONWriter) -> Void)
}

extension JSONWriter: ValueWriter {
  mutating func list(_ items: some Sequence<some CustomStringConvertible>) {
    array { writer in
      for item in items { writer.literal(item.description) }
    }
  }

  mutating func list(_ name: String, _ items: some Sequence<some CustomStringConvertible>) {
    key(name)
    list(items)
  }

  mutating func json(_ body: (inout JSONWriter) -> Void) { body(&self) }

  /// Writes an object with these members.
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

/// The fields of a result that --fields can name.
protocol ResultField: RawRepresentable<String>, CaseIterable, Equatable {
  /// The columns of a table without --fields.
  static var usual: [Self] { get }
}

extension ResultField {
  static var names: [String] { allCases.map(\.rawValue) }
}
