/// Number format of the arithmetic, in the numbering of `bertqa_precision`.
public enum Precision: Int32, Sendable, CaseIterable {
  /// The fastest whose accuracy contract holds for the model.
  case auto = 0
  case f32 = 1
  case bf16 = 2
  case int8 = 3
}
