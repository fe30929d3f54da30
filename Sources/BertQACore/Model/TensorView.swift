/// A weight tensor in a mapped file.
///
/// It does not own its memory; its `LoadedModel` does. It is a class because a layer has about twenty of
/// them, and hosts load models on small stacks.
final class TensorView: @unchecked Sendable {
  // Sendable: a read-only view of memory that never changes.

  /// The tensor's name in a checkpoint of its architecture, including the prefix.
  let name: String
  let file: String
  let dataType: DataType
  let shape: [Int]
  /// Row-major elements, little-endian, at any alignment.
  let bytes: UnsafeRawBufferPointer
  /// For `i8`: one scale per row, that is, per output channel or embedding row.
  let rowScales: UnsafeBufferPointer<Float>?
  /// For `i8` matrices whose file has them: the sum Σ q of each row's elements.
  let rowSums: UnsafeBufferPointer<Int32>?
  /// The number of elements in a row: the product of all dimensions but the first.
  let rowWidth: Int

  /// `bytes` must have exactly the elements of `shape`, and an `i8` tensor must have `shape[0]` elements of
  /// `rowScales`: the loader checks both.
  init(
    name: String, file: String, dataType: DataType, shape: [Int], bytes: UnsafeRawBufferPointer,
    rowScales: UnsafeBufferPointer<Float>? = nil, rowSums: UnsafeBufferPointer<Int32>? = nil
  ) {
    self.name = name
    self.file = file
    self.dataType = dataType
    self.shape = shape
    self.bytes = bytes
    self.rowScales = rowScales
    self.rowSums = rowSums
    rowWidth = shape.dropFirst().reduce(1, *)
  }

  /// Returns the tensor under another name.
  func named(_ name: String) -> TensorView {
    TensorView(
      name: name, file: file, dataType: dataType, shape: shape, bytes: bytes, rowScales: rowScales,
      rowSums: rowSums)
  }

  /// Returns some of its rows.
  func rows(_ range: Range<Int>) -> TensorView {
    let rowSize = rowWidth * dataType.size
    return TensorView(
      name: name, file: file, dataType: dataType, shape: [range.count] + shape.dropFirst(),
      bytes: UnsafeRawBufferPointer(
        rebasing: bytes[range.lowerBound * rowSize..<range.upperBound * rowSize]),
      rowScales: rowScales.map { UnsafeBufferPointer(rebasing: $0[range]) },
      rowSums: rowSums.map { UnsafeBufferPointer(rebasing: $0[range]) })
  }

  /// The number of rows; a vector's elements are rows of width 1.
  var rowCount: Int { shape.first ?? 1 }
}
