/// How the last layer's vectors of a window's tokens become one.
enum WindowVector: String, Sendable {
  /// That of the first token.
  case first = "cls"
  /// Their mean, summed in an order that depends on the number of tokens only.
  case mean
}
