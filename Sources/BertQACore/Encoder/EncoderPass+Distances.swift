import CBertQA

/// The layout of what attention by distance computes for one head, in floats after attention's own scratch
/// memory.
struct DistanceScratch {
  /// The number of queries whose bias is computed at once: enough to read the keys rarely, and few enough
  /// that the bias of a window of 512 tokens stays in the second-level cache.
  static let queriesAtOnce = 128
  /// The number of query blocks that are multiplied with the same rows at once: the size of the kernels'
  /// tiles.
  static let blocksAtOnce = 2

  /// Products of the keys with the distance vectors: [key][distance]
  let byKey: Int
  /// Products of the queries of some blocks with the distance vectors: [block][row][16]
  let byQuery: Int
  /// [query block][key][16]
  let bias: Int
  /// The queries of one head in some blocks, side by side.
  let queries: Int
  /// The keys of one head in bf16, if attention takes f32.
  let keys: Int

  init(tokens: Int, rowCount: Int, headSize: Int) {
    let blocks = Self.queriesAtOnce / Kernels.lanes
    byKey = tokens * (blocks + 1) * Kernels.lanes
    byQuery = Self.blocksAtOnce * rowCount * Kernels.lanes
    bias = blocks * tokens * Kernels.lanes
    queries = Self.blocksAtOnce * headSize * Kernels.lanes
    keys = (Kernels.blocks(tokens: tokens) + 1) * headSize * Kernels.lanes / 2
  }

  /// The floats of all scratch memory, including the `own` floats of attention.
  func count(after own: Int) -> Int { Self.aligned(own) + byKey + byQuery + bias + queries + keys }

  static func aligned(_ floats: Int) -> Int { (floats + 15) & ~15 }
}

extension EncoderPass {
  /// Computes one head's attention with a bias: the products of queries and keys with distance vectors.
  /// - Parameter call: the attention without a bias.
  func attendByDistance(
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
      gathered: bias + memory.bias, packedKeys: bias + memory.bias + memory.queries, call)
    let end = call.query_end
    while call.query_begin < end {
      // Whole blocks, so that each is computed once.
      let firstBlock = call.query_begin / Self.lanes
      call.query_end = min(end, firstBlock * Self.lanes + DistanceScratch.queriesAtOnce)
      if vectors.forKeys != nil { products.ofKeys(call, byKey) }
      let lastBlock = Kernels.blocks(tokens: call.query_end)
      for first in stride(from: firstBlock, to: lastBlock, by: DistanceScratch.blocksAtOnce) {
        let blocks = first..<min(lastBlock, first + DistanceScratch.blocksAtOnce)
        let rows = products.ofQueries(call, blocks, byQuery)
        for block in blocks {
          encoder.kernels.table.relative_bias(
            &call, block, distances.rows, rows.lowerBound,
            vectors.forQueries == nil ? nil : byQuery + (block - first) * rows.count * Self.lanes,
            vectors.forKeys == nil ? nil : byKey, bias + (block - firstBlock) * tokens * Self.lanes)
        }
      }
      call.bias = UnsafePointer(bias)
      (call.bias_stride, call.bias_step) = (tokens * Self.lanes, Self.lanes)
      callAttentionKernel(&call, x, output)
      call.query_begin = call.query_end
    }
  }
}

/// Products of one head's queries and keys with distance vectors.
private struct DistanceProducts {
  let distances: Distances
  let vectors: DistanceVectors
  let head: Int
  let table: bq_kernels
  let hiddenSize: Int
  let headSize: Int
  /// True if the products are in bfloat16.
  let isBF16: Bool
  /// Points at the head's feature in block 0 of the chunk; in pairs if `isBF16`.
  private let keys: UnsafeRawPointer
  /// The number of elements from one block of `keys` to the next.
  private let keyStride: Int
  private let queries: UnsafeRawPointer
  private let queryStride: Int
  /// Receives blocks of queries side by side, in bf16 if `isBF16`.
  private let gathered: UnsafeMutableRawPointer
  /// True if queries and keys are f32 and must be converted to bf16.
  private let packs: Bool

  init(
    distances: Distances, vectors: DistanceVectors, head: Int, encoder: Encoder,
    projections: EncoderPass.HeadProjections, gathered: UnsafeMutablePointer<Float>,
    packedKeys: UnsafeMutablePointer<Float>, _ call: bq_attention
  ) {
    self.distances = distances
    self.vectors = vectors
    self.head = head
    table = encoder.kernels.table
    hiddenSize = encoder.configuration.hiddenSize
    headSize = call.head_dim
    isBF16 = encoder.arithmetic.meetsDistancesInBF16(encoder.configuration, encoder.kernels)
    queries = UnsafeRawPointer(projections.query)
    queryStride = call.stride
    self.gathered = UnsafeMutableRawPointer(gathered)
    packs = isBF16 && encoder.attendsInInt8
    guard packs else {
      keys = UnsafeRawPointer(projections.key)
      keyStride = call.stride
      return
    }
    // The f32 keys as pairs of bf16, for all queries.
    keyStride = headSize * Kernels.lanes
    let first = UnsafeMutableRawPointer(packedKeys).assumingMemoryBound(to: UInt16.self)
    let firstBlock = call.key_begin / Kernels.lanes
    let floats = projections.key.assumingMemoryBound(to: Float.self)
    if vectors.forKeys != nil {
      for block in firstBlock..<Kernels.blocks(tokens: call.key_end) {
        table.pack_bf16(floats + block * call.stride, 1, headSize, first + (block - firstBlock) * keyStride)
      }
    }
    keys = UnsafeRawPointer(first - firstBlock * keyStride)
  }

  /// Computes the products of the keys, [key][distance].
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

  /// Computes the products of the queries of some blocks with the rows of the keys' distances,
  /// [block][row][16].
  /// - Returns: the rows.
  func ofQueries(
    _ call: bq_attention, _ blocks: Range<Int>, _ y: UnsafeMutablePointer<Float>
  ) -> Range<Int> {
    // As relative_bias reads them: with 15 more keys after the last.
    let first = blocks.lowerBound * Kernels.lanes - (call.key_end - 1) - (Kernels.lanes - 1)
    let last = blocks.upperBound * Kernels.lanes - 1 - call.key_begin
    // AMX has an order of its own for sums in whole tiles of 16 rows. So that each row has the same bits in every call,
    // tiles begin at the same rows.
    let (lower, upper) = (Int(distances.rows[first]) & ~15, (Int(distances.rows[last]) + 16) & ~15)
    let range = lower..<min(upper, distances.attention.rowCount)
    guard let weights = vectors.forQueries else { return range }
    gather(blocks)
    let row = (head * distances.attention.rowCount + range.lowerBound) * headSize
    if isBF16 {
      table.linear_bf16(
        weights.assumingMemoryBound(to: UInt16.self) + row, distances.zeros,
        gathered.assumingMemoryBound(to: UInt16.self), blocks.count, headSize, range.count,
        Kernels.Epilogue.bias, y, range.count * Kernels.lanes)
    } else {
      table.linear_f32(
        weights.assumingMemoryBound(to: Float.self) + row, distances.zeros,
        gathered.assumingMemoryBound(to: Float.self), blocks.count, headSize, range.count,
        Kernels.Epilogue.bias, y, range.count * Kernels.lanes)
    }
    return range
  }

  /// Copies the head's queries of some blocks side by side, as linear layers take them.
  private func gather(_ blocks: Range<Int>) {
    let count = headSize * Kernels.lanes
    let size = isBF16 && !packs ? MemoryLayout<UInt16>.stride : MemoryLayout<Float>.stride
    for (index, block) in blocks.enumerated() {
      let from = queries + block * queryStride * size
      if packs {
        table.pack_bf16(
          from.assumingMemoryBound(to: Float.self), 1, headSize,
          gathered.assumingMemoryBound(to: UInt16.self) + index * count)
      } else {
        (gathered + index * count * size).copyMemory(from: from, byteCount: count * size)
      }
    }
  }
}
