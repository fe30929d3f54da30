/// Text from a file as an error message may carry it: in quotes, control characters escaped, and cut
/// after 100 scalars.
func quoted(_ text: String) -> String {
  var result = "\""
  for (index, scalar) in text.unicodeScalars.enumerated() {
    guard index < 100 else { return result + "…\"" }
    result += scalar.escaped(asASCII: false)
  }
  return result + "\""
}

/// A tensor's dimensions as an error message shows them, cut after 8.
func described(shape: [Int]) -> String {
  let shown = shape.prefix(8).map { "\($0)" }.joined(separator: ", ")
  return shape.count > 8 ? "[\(shown), …]" : "[\(shown)]"
}
