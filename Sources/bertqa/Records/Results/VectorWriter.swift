import BertQACore

/// Writes a sequence of vectors.
struct VectorWriter {
  enum Format {
    case json
    /// NumPy's file format, version 1.0, with float32 values in C order.
    case npy
    /// The values of a .npy file without its header: little-endian float32.
    case raw
  }

  static let formats: KeyValuePairs<String, Format> = ["json": .json, "npy": .npy, "raw": .raw]

  private let format: Format
  private let length: Int
  private let output: Output
  private var json = JSONWriter()

  init(_ format: Format, length: Int, _ output: Output) {
    self.format = format
    self.length = length
    self.output = output
  }

  /// Writes the header for `count` vectors.
  func begin(count: Int) {
    guard format == .npy else { return }
    var header = "{'descr': '<f4', 'fortran_order': False, 'shape': (\(count), \(length)), }"
    // Magic, version and length take 10 bytes; the header's total size is a multiple of 64.
    let size = (10 + header.utf8.count + 1 + 63) / 64 * 64 - 10
    header += String(repeating: " ", count: size - header.utf8.count - 1) + "\n"
    output.write([0x93] + Array("NUMPY".utf8) + [1, 0, UInt8(size & 0xFF), UInt8(size >> 8)])
    output.write(header)
  }

  mutating func write(_ vector: ArraySlice<Float>, of source: TextSource) {
    guard format == .json else {
      for value in vector {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { output.write($0) }
      }
      return
    }
    json.object { json in
      source.writeMembers(to: &json)
      json.array("embedding") { json in
        for value in vector { json.number(value) }
      }
    }
    output.write(json.takeLine())
  }

  /// Writes the tokens' spelling and their vectors, or the weights of pieces.
  mutating func write(_ vectors: TokenVectors, of source: TextSource, _ context: Context) {
    json.object { json in
      source.writeMembers(to: &json)
      json.key("tokens")
      json.pieces(vectors.ids, of: context)
      json.array(vectors.isOfPieces ? "weights" : "embeddings") { json in
        for row in vectors.ids.indices {
          if vectors.isOfPieces {
            json.number(vectors.values[row])
          } else {
            json.array { json in
              for value in vectors.values[row * vectors.width..<(row + 1) * vectors.width] {
                json.number(value)
              }
            }
          }
        }
      }
    }
    output.write(json.takeLine())
  }
}
