/// Typed access to the members of a JSON object. Errors name the file and the key.
///
/// A null counts as absent, as in Hugging Face's files.
struct ObjectReader: Sendable {
  let file: String
  var object: JSON.Object

  init(file: String, object: JSON.Object) {
    self.file = file
    self.object = object
  }

  /// Reads the top-level object of a JSON file.
  init(_ file: ModelFile, _ monitor: CallMonitor? = nil) throws(BertQAError) {
    guard case .object(let object) = try JSONParser.parse(file, monitor) else {
      throw BertQAError(.invalidModel, "\(file.path): expected a JSON object")
    }
    self.init(file: file.path, object: object)
  }

  func value(_ key: String) -> JSON? {
    let value = object[key]
    return value == .null ? nil : value
  }

  // Out of line, as many generic functions fail with these.

  @inline(never)
  func mismatch(_ key: String, _ value: JSON, expected: String) -> BertQAError {
    BertQAError(
      .invalidModel, "\(file): \(quoted(key)) is \(value.summary), expected \(expected)")
  }

  @inline(never)
  private func missing(_ key: String) -> BertQAError {
    BertQAError(.invalidModel, "\(file): \(quoted(key)) is missing")
  }

  func integer(_ key: String, in range: ClosedRange<Int>) throws(BertQAError) -> Int? {
    guard let value = value(key) else { return nil }
    guard case .number(let number) = value, let integer = number.integer,
      range.contains(Int(integer))
    else {
      throw mismatch(
        key, value, expected: "an integer in \(range.lowerBound)...\(range.upperBound)")
    }
    return Int(integer)
  }

  func number(_ key: String) throws(BertQAError) -> Double? {
    guard let value = value(key) else { return nil }
    guard case .number(let number) = value else {
      throw mismatch(key, value, expected: "a number")
    }
    return number.double
  }

  func number(_ key: String, in range: ClosedRange<Double>) throws(BertQAError) -> Double? {
    guard let value = try number(key) else { return nil }
    guard range.contains(value) else {
      throw BertQAError(
        .invalidModel,
        "\(file): \(quoted(key)) is \(value), expected \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  func bool(_ key: String) throws(BertQAError) -> Bool? {
    guard let value = value(key) else { return nil }
    guard case .bool(let bool) = value else {
      throw mismatch(key, value, expected: "true or false")
    }
    return bool
  }

  func string(_ key: String) throws(BertQAError) -> String? {
    guard let value = value(key) else { return nil }
    guard case .string(let string) = value else {
      throw mismatch(key, value, expected: "a string")
    }
    return string
  }

  func reader(_ key: String) throws(BertQAError) -> ObjectReader? {
    guard let value = value(key) else { return nil }
    guard case .object(let object) = value else {
      throw mismatch(key, value, expected: "an object")
    }
    return ObjectReader(file: file, object: object)
  }

  /// Returns the elements of an array of objects; none if the key is absent.
  func readers(_ key: String) throws(BertQAError) -> [ObjectReader] {
    guard let value = value(key) else { return [] }
    guard case .array(let elements) = value else { throw mismatch(key, value, expected: "an array") }
    var readers: [ObjectReader] = []
    for element in elements {
      guard case .object(let object) = element else {
        throw mismatch(key, element, expected: "an array of objects")
      }
      readers.append(ObjectReader(file: file, object: object))
    }
    return readers
  }

  /// Returns a member, or throws if it is missing.
  /// - Parameter read: returns the member, such as `reader.string`.
  func required<Value>(
    _ key: String, _ read: (String) throws(BertQAError) -> Value?
  ) throws(BertQAError) -> Value {
    if let value = try read(key) { return value }
    throw missing(key)
  }

  @inline(never)
  func requiredInteger(_ key: String, in range: ClosedRange<Int>) throws(BertQAError) -> Int {
    try required(key) { key throws(BertQAError) in try integer(key, in: range) }
  }

  /// Throws if a member is present with another value than the supported one.
  @inline(never)
  func require(_ key: String, _ value: JSON) throws(BertQAError) {
    guard let found = self.value(key), found != value else { return }
    // However a number is written.
    if case .number(let number) = found, case .number(let other) = value, number.double == other.double {
      return
    }
    throw unsupported(key, expected: value.summary)
  }

  /// The error for a member with a value that is not supported.
  @inline(never)
  func unsupported(_ key: String, expected: String) -> BertQAError {
    BertQAError(
      .unsupported,
      "\(file): \(quoted(key)) is \(value(key)?.summary ?? "null"); only \(expected) is supported")
  }
}

// MARK: - Labels

extension ObjectReader {
  /// Far above any published classifier.
  static let labelLimit = 1...(1 << 16)

  /// Returns the names in "id2label" ordered by id; nil if there is no such member.
  /// - Parameter isLoose: takes integers and blanks, as transformers does; a blank gets the name of its id.
  func labels(isLoose: Bool = false) throws(BertQAError) -> [String]? {
    guard let names = try reader("id2label") else { return nil }
    let members = names.object.members
    guard Self.labelLimit.contains(members.count) else {
      throw BertQAError(
        .invalidModel,
        "\(file): \"id2label\" has \(members.count) labels, expected \(Self.labelLimit.lowerBound) to "
          + "\(Self.labelLimit.upperBound)")
    }
    var labels = [String?](repeating: nil, count: members.count)
    for member in members {
      guard let id = Int(member.key), labels.indices.contains(id), labels[id] == nil else {
        throw BertQAError(
          .invalidModel,
          "\(file): \"id2label\" has the id \(quoted(member.key)), expected each of 0 to "
            + "\(members.count - 1) once")
      }
      var label: String
      switch member.value {
      case .string(let name): label = name
      case .number(let number) where isLoose && number.integer != nil: label = "\(number.integer ?? 0)"
      default: throw names.mismatch(member.key, member.value, expected: "a label's name")
      }
      if isLoose, !label.utf8.contains(0), !Self.isLabel(label.utf8) { label = "LABEL_\(id)" }
      guard Self.isLabel(label.utf8) else {
        throw names.mismatch(
          member.key, member.value, expected: "a label's name: neither blank nor with a NUL")
      }
      labels[id] = label
    }
    return labels.compactMap(\.self)
  }

  /// Returns the labels of a classifier.
  func classifierLabels() throws(BertQAError) -> [String] {
    guard let labels = try labels(), labels.count > 1 else {
      throw BertQAError(.invalidModel, "\(file): \"id2label\" has fewer than two labels")
    }
    return labels
  }

  /// True if a label can name something: it is neither empty nor all white space and has no NUL, which would
  /// cut it off in C.
  static func isLabel(_ bytes: some Collection<UInt8>) -> Bool {
    !bytes.contains(0)
      && String(decoding: bytes, as: UTF8.self).unicodeScalars.contains { !$0.properties.isWhitespace }
  }

  /// Throws if one of the labels that a caller passes is none.
  static func checkLabels(_ labels: [String]) throws(BertQAError) {
    for (index, label) in labels.enumerated() where !isLabel(label.utf8) {
      throw BertQAError(
        .invalidArgument, argument: "labels", "has a label that is blank or contains a NUL at \(index)")
    }
  }
}
