/// A weight tensor where it lies in a mapped file.
///
/// Does not own its memory: the `LoadedModel` it belongs to does. A class, because a layer has some twenty of them, and
/// hosts load models on small stacks.
final class TensorView: @unchecked Sendable {
  // Sendable: a read-only view of memory that nobody writes.

  /// The name the tensor has in a checkpoint of its architecture, prefix included.
  let name: String
  let file: String
  let dataType: DataType
  let shape: [Int]
  /// Row-major elements, little-endian, at any alignment.
  let bytes: UnsafeRawBufferPointer
  /// For `i8`: one scale per row, that is per output channel or embedding row.
  let rowScales: UnsafeBufferPointer<Float>?
  /// For `i8` matrices whose file has them: the sum of each row's elements, Σ q.
  let rowSums: UnsafeBufferPointer<Int32>?
  /// Elements of one row: the product of all dimensions but the first.
  let rowWidth: Int

  /// `bytes` must hold exactly the elements of `shape`, and an `i8` tensor must come with
  /// `rowScales` of `shape[0]` elements: the loader checks both.
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

  /// Some of its rows.
  func rows(_ range: Range<Int>) -> TensorView {
    let rowSize = rowWidth * dataType.size
    return TensorView(
      name: name, file: file, dataType: dataType, shape: [range.count] + shape.dropFirst(),
      bytes: UnsafeRawBufferPointer(
        rebasing: bytes[range.lowerBound * rowSize..<range.upperBound * rowSize]),
      rowScales: rowScales.map { UnsafeBufferPointer(rebasing: $0[range]) },
      rowSums: rowSums.map { UnsafeBufferPointer(rebasing: $0[range]) })
  }

  /// Rows; a vector's elements are rows of width 1.
  var rowCount: Int { shape.first ?? 1 }
}
