import CBertQA

/// y = x · weightᵀ + bias, as the kernels take it.
struct LinearLayer {
  enum Weights {
    /// [outs][ins]
    case f32(UnsafePointer<Float>)
    /// [outs][ins]
    case bf16(UnsafePointer<UInt16>)
    case int8(Int8Weights)
  }

  /// Element = scale[out] · q; sums[out] = scale[out] · Σ q of the row.
  struct Int8Weights {
    /// [outs][ins]
    var elements: UnsafePointer<Int8>
    /// [outs]
    var scale: UnsafePointer<Float>
    /// [outs]
    var sums: UnsafePointer<Float>
    /// The result of the instruction set's find_large_s8, if it has that function.
    var large: UnsafePointer<UInt64>?
  }

  var weights: Weights
  /// [outs]
  var bias: UnsafePointer<Float>
  var ins: Int
  var outs: Int

  /// The layer of some outputs.
  func rows(_ rows: Range<Int>) -> LinearLayer {
    let first = rows.lowerBound
    let part: Weights =
      switch weights {
      case .f32(let elements): .f32(elements + first * ins)
      case .bf16(let elements): .bf16(elements + first * ins)
      case .int8(let all):
        .int8(
          Int8Weights(
            elements: all.elements + first * ins, scale: all.scale + first, sums: all.sums + first,
            large: all.large.map { $0 + first * bq_large_words(ins) }))
      }
    return LinearLayer(weights: part, bias: bias + first, ins: ins, outs: rows.count)
  }
}

/// The activations of some blocks as a linear layer takes them (kernels.h).
enum PackedActivations {
  /// [block][feature][16]
  case f32(UnsafePointer<Float>)
  /// [block][feature/2][16][2]
  case bf16(UnsafePointer<UInt16>)
  /// [block][feature/4][16][4], with scales and offsets [block][16]
  case int8(UnsafePointer<UInt8>, scale: UnsafePointer<Float>, offset: UnsafePointer<Float>)

  /// The activations of the blocks after the first `blocks`.
  func dropping(blocks: Int, features: Int) -> PackedActivations {
    let (tokens, elements) = (blocks * Kernels.lanes, blocks * Kernels.lanes * features)
    switch self {
    case .f32(let x): return .f32(x + elements)
    case .bf16(let x): return .bf16(x + elements)
    case .int8(let x, let scale, let offset):
      return .int8(x + elements, scale: scale + tokens, offset: offset + tokens)
    }
  }
}
