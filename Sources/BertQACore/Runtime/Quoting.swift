/// Returns text from a file for an error message: in quotes, with control characters escaped, cut after 100
/// scalars.
func quoted(_ text: String) -> String {
  var result = "\""
  for (index, scalar) in text.unicodeScalars.enumerated() {
    guard index < 100 else { return result + "…\"" }
    result += scalar.escaped(asASCII: false)
  }
  return result + "\""
}

/// Returns a tensor's dimensions for an error message, cut after 8.
func described(shape: [Int]) -> String {
  let shown = shape.prefix(8).map { "\($0)" }.joined(separator: ", ")
  return shape.count > 8 ? "[\(shown), …]" : "[\(shown)]"
}
