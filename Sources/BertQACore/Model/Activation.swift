/// What is done to a linear layer's outputs, element by element.
enum Activation: Sendable, Equatable {
  case identity
  case tanh
  case relu
  /// x · Φ(x) by the error function; Hendrycks and Gimpel 2016, https://arxiv.org/abs/1606.08415.
  case gelu
  /// Its approximation by a tanh, from the same paper.
  case geluTanh
  /// x · σ(x), also called swish.
  case silu

  /// By the name that `hidden_act` has in transformers (`activations.py`), where some have several: the same
  /// function in another order of operations. nil for those that are not supported.
  init?(named name: String) {
    guard let activation = Self.names[name] else { return nil }
    self = activation
  }

  /// The names that a message gives as supported.
  static var supportedNames: String { names.keys.sorted().map(quoted).joined(separator: ", ") }

  private static let names: [String: Activation] = [
    "gelu": .gelu, "gelu_python": .gelu,
    "gelu_new": .geluTanh, "gelu_pytorch_tanh": .geluTanh, "gelu_fast": .geluTanh,
    "gelu_python_tanh": .geluTanh, "gelu_accurate": .geluTanh,
    "silu": .silu, "swish": .silu,
    "relu": .relu, "tanh": .tanh,
  ]
}
