/// The number format of the arithmetic, with the numbers of `bertqa_precision`.
public enum Precision: Int32, Sendable, CaseIterable {
  /// The fastest one that keeps the accuracy contract for the model.
  case auto = 0
  case f32 = 1
  case bf16 = 2
  case int8 = 3
}
