/// What `Quantizer` did.
package struct QuantizationReport: Sendable {
  /// Tensors written, scales and sums included.
  package var tensorCount = 0
  /// Weights rounded to int8.
  package var quantizedCount = 0
  /// Bytes of the tensors read.
  package var bytesRead = 0
  /// Bytes of the new model.safetensors.
  package var bytesWritten = 0
  /// Root mean square of the quantized weights.
  package var rmsWeight = 0.0
  /// Root mean square of their change.
  package var rmsError = 0.0
  /// What `rmsError` would be with each row's scale from its largest magnitude.
  package var rmsErrorOfLargest = 0.0
}
