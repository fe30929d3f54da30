/// A function applied to a linear layer's outputs, element by element.
enum Activation: Sendable {
  case identity
  case tanh
  case relu
  /// x · Φ(x) with the error function; Hendrycks and Gimpel 2016, https://arxiv.org/abs/1606.08415.
  case gelu
  /// The approximation of `gelu` by a tanh, from the same paper.
  case geluTanh
  /// x · σ(x), also called swish.
  case silu

  /// Finds an activation by the name that `hidden_act` has in transformers (`activations.py`). Some have
  /// several names, for the same function in another order of operations. nil if it is not supported.
  init?(named name: String) {
    guard let known = Self.names.first(where: { $0.name == name }) else { return nil }
    self = known.activation
  }

  /// The supported names, for messages.
  static var supportedNames: String { names.map { quoted($0.name) }.joined(separator: ", ") }

  private static let names: [(name: String, activation: Activation)] = [
    ("gelu", .gelu), ("gelu_accurate", .geluTanh), ("gelu_fast", .geluTanh), ("gelu_new", .geluTanh),
    ("gelu_python", .gelu), ("gelu_python_tanh", .geluTanh), ("gelu_pytorch_tanh", .geluTanh),
    ("relu", .relu), ("silu", .silu), ("swish", .silu), ("tanh", .tanh),
  ]
}
