import CBertQA

/// Where attention by distance keeps what it computes for one head, in floats behind the attention's own scratch.
struct DistanceScratch {
  /// Queries whose bias is made at once: enough to read the keys seldom, few enough that the bias of a window of 512
  /// tokens stays in the second-level cache.
  static let queriesAtOnce = 128

  /// Products of the keys with the vectors for distances: [key][distance]
  let byKey: Int
  /// Products of one block's queries with the vectors: [row][16]
  let byQuery: Int
  /// [query block][key][16]
  let bias: Int
  /// One head's keys and one block's queries in bf16, where attention takes f32.
  let packed: Int

  init(tokens: Int, rowCount: Int, headSize: Int) {
    let blocks = Self.queriesAtOnce / Kernels.lanes
    byKey = tokens * (blocks + 1) * Kernels.lanes
    byQuery = rowCount * Kernels.lanes
    bias = blocks * tokens * Kernels.lanes
    packed = (Kernels.blocks(tokens: tokens) + 2) * headSize * Kernels.lanes / 2
  }

  /// Floats of all scratch; `own`: the attention's.
  func count(after own: Int) -> Int { Self.aligned(own) + byKey + byQuery + bias + packed }

  static func aligned(_ floats: Int) -> Int { (floats + 15) & ~15 }
}

extension EncoderPass {
  /// One head's attention with products of queries and keys with vectors for distances.
  /// - Parameter call: the attention without a bias.
  func attend(
    _ call: bq_attention, head: Int, _ x: HeadProjections, _ distances: Distances, _ vectors: DistanceVectors,
    _ scratch: Workspace.Scratch, _ output: UnsafeMutablePointer<Float>
  ) {
    var call = call
    let tokens = call.key_end - call.key_begin
    let memory = DistanceScratch(
      tokens: tokens, rowCount: distances.attention.rowCount, headSize: call.head_dim)
    let own =
      encoder.attendsInInt8 ? bq_attention_s8_scratch(tokens, call.head_dim) : bq_attention_scratch(tokens)
    let byKey = scratch.attention + DistanceScratch.aligned(own)
    let byQuery = byKey + memory.byKey
    let bias = byQuery + memory.byQuery
    let products = DistanceProducts(
      distances: distances, vectors: vectors, head: head, encoder: encoder, projections: x,
      packed: bias + memory.bias, call)
    let end = call.query_end
    while call.query_begin < end {
      // Whole blocks, so that each is computed once.
      let firstBlock = call.query_begin / Self.lanes
      call.query_end = min(end, firstBlock * Self.lanes + DistanceScratch.queriesAtOnce)
      if vectors.forKeys != nil { products.ofKeys(call, byKey) }
      for block in firstBlock..<Kernels.blocks(tokens: call.query_end) {
        let firstRow = products.ofQueries(call, block: block, byQuery)
        encoder.kernels.table.relative_bias(
          &call, block, distances.rows, firstRow, vectors.forQueries == nil ? nil : byQuery,
          vectors.forKeys == nil ? nil : byKey, bias + (block - firstBlock) * tokens * Self.lanes)
      }
      call.bias = UnsafePointer(bias)
      (call.bias_stride, call.bias_step) = (tokens * Self.lanes, Self.lanes)
      attend(&call, x, output)
      call.query_begin = call.query_end
    }
  }
}

/// Products of one head's queries and keys with vectors for distances.
private struct DistanceProducts {
  let distances: Distances
  let vectors: DistanceVectors
  let head: Int
  let table: bq_kernels
  let hiddenSize: Int
  let headSize: Int
  /// Whether the products are of bfloat16.
  let isBF16: Bool
  /// At the head's feature in block 0 of the chunk; pairs where `isBF16`.
  private let keys: UnsafeRawPointer
  /// Elements from one block of `keys` to the next.
  private let keyStride: Int
  private let queries: UnsafeRawPointer
  private let queryStride: Int
  /// Where queries become bf16; nil where they are.
  private let packedQueries: UnsafeMutablePointer<UInt16>?

  init(
    distances: Distances, vectors: DistanceVectors, head: Int, encoder: Encoder,
    projections: EncoderPass.HeadProjections, packed: UnsafeMutablePointer<Float>, _ call: bq_attention
  ) {
    self.distances = distances
    self.vectors = vectors
    self.head = head
    table = encoder.kernels.table
    hiddenSize = encoder.configuration.hiddenSize
    headSize = call.head_dim
    isBF16 = encoder.attendsInBF16 || encoder.attendsInInt8
    queries = UnsafeRawPointer(projections.query)
    queryStride = call.stride
    guard encoder.attendsInInt8 else {
      keys = UnsafeRawPointer(projections.key)
      keyStride = call.stride
      packedQueries = nil
      return
    }
    // f32 keys, as pairs of bf16 for all queries.
    keyStride = headSize * Kernels.lanes
    let pairs = UnsafeMutableRawPointer(packed).assumingMemoryBound(to: UInt16.self)
    packedQueries = pairs
    let firstBlock = call.key_begin / Kernels.lanes
    let first = pairs + keyStride
    let floats = projections.key.assumingMemoryBound(to: Float.self)
    if vectors.forKeys != nil {
      for block in firstBlock..<Kernels.blocks(tokens: call.key_end) {
        table.pack_bf16(floats + block * call.stride, 1, headSize, first + (block - firstBlock) * keyStride)
      }
    }
    keys = UnsafeRawPointer(first - firstBlock * keyStride)
  }

  /// Those of the keys, [key][distance].
  func ofKeys(_ call: bq_attention, _ y: UnsafeMutablePointer<Float>) {
    guard let positions = vectors.forKeys else { return }
    var call = call
    call.stride = keyStride
    let stride = hiddenSize * Kernels.lanes
    let feature = head * headSize * Kernels.lanes
    if isBF16 {
      table.relative_keys_bf16(
        &call, keys.assumingMemoryBound(to: UInt16.self),
        positions.assumingMemoryBound(to: UInt16.self) + feature, stride, y)
    } else {
      table.relative_keys_f32(
        &call, keys.assumingMemoryBound(to: Float.self),
        positions.assumingMemoryBound(to: Float.self) + feature, stride, y)
    }
  }

  /// Those of one block's queries with the rows that the keys' distances have, [row][16].
  /// - Returns: the first row.
  func ofQueries(_ call: bq_attention, block: Int, _ y: UnsafeMutablePointer<Float>) -> Int {
    let lane = block * Kernels.lanes
    // As relative_bias reads them: with 15 more keys behind the last.
    let last = lane + Kernels.lanes - 1
    let first = Int(distances.rows[lane - (call.key_end - 1) - (Kernels.lanes - 1)])
    let count = Int(distances.rows[last - call.key_begin]) - first + 1
    guard let weights = vectors.forQueries else { return first }
    let row = (head * distances.attention.rowCount + first) * headSize
    let from = block * queryStride
    guard isBF16 else {
      table.linear_f32(
        weights.assumingMemoryBound(to: Float.self) + row, distances.zeros,
        queries.assumingMemoryBound(to: Float.self) + from, 1, headSize, count, Kernels.Epilogue.bias, y,
        count * Kernels.lanes)
      return first
    }
    var pairs = queries.assumingMemoryBound(to: UInt16.self) + from
    if let packedQueries {
      table.pack_bf16(queries.assumingMemoryBound(to: Float.self) + from, 1, headSize, packedQueries)
      pairs = UnsafePointer(packedQueries)
    }
    table.linear_bf16(
      weights.assumingMemoryBound(to: UInt16.self) + row, distances.zeros, pairs, 1, headSize, count,
      Kernels.Epilogue.bias, y, count * Kernels.lanes)
    return first
  }
}
