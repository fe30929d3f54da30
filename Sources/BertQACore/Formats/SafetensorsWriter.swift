/// Writes a safetensors file. Tensors may be written in any order and in parts.
struct SafetensorsWriter {
  let layout: SafetensorsLayout
  private let file: OutputFile
  /// The position of the next part of each tensor.
  private var positions: [String: Int]

  init(_ file: OutputFile, _ tensors: [SafetensorsLayout.Tensor]) throws(BertQAError) {
    layout = SafetensorsLayout(tensors)
    self.file = file
    positions = layout.ranges.mapValues(\.lowerBound)
    try layout.header.withElements { bytes throws(BertQAError) in
      try file.write(UnsafeRawBufferPointer(bytes), at: 0)
    }
  }

  /// Appends to the tensor `name`.
  mutating func append<Element: BitwiseCopyable>(
    _ elements: UnsafeBufferPointer<Element>, to name: String
  ) throws(BertQAError) {
    let bytes = UnsafeRawBufferPointer(elements)
    guard let position = positions[name], let range = layout.ranges[name],
      position + bytes.count <= range.upperBound
    else {
      throw BertQAError(.internal, "\(file.path): tensor \(quoted(name)) has no room left")
    }
    try file.write(bytes, at: position)
    positions[name] = position + bytes.count
  }

  /// Makes the file durable. Every tensor must be complete.
  func finish() throws(BertQAError) {
    for (name, range) in layout.ranges where positions[name] != range.upperBound {
      throw BertQAError(.internal, "\(file.path): tensor \(quoted(name)) is not complete")
    }
    try file.finish()
  }
}
