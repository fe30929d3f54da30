/// Attention by distance in encoders of the DeBERTa family.
///
/// score(i, j) = (q_i·k_j + q_i·r(i - j) + k_j·s(i - j)) · scale. r and s are the projections, as keys and as
/// queries, of the vector for the bucket of the distance i - j.
struct DisentangledAttention: Sendable, Equatable {
  /// The number of distance vectors in either direction. The table has twice as many rows.
  var span = 0
  /// The number of distance buckets in either direction; nil: every distance has its own.
  var bucketCount: Int?
  /// Greater distances use the last bucket or the last vector.
  var maxDistance = 0
  /// True if the table's rows pass through a LayerNorm first.
  var isNormalized = false
  /// True if the layers' own query and key weights project the vectors.
  var sharesProjections = false
  /// True if scores contain the products of queries with r, or of keys with s.
  var hasQueryProducts = false
  var hasKeyProducts = false
  /// The number of products in a score; the scale is 1 / √(head size · this).
  var productCount = 1

  var hasTable: Bool { span > 0 }
  var distanceProductCount: Int { (hasQueryProducts ? 1 : 0) + (hasKeyProducts ? 1 : 0) }
  var rowCount: Int { 2 * span }
}

// MARK: - Reading

extension DisentangledAttention {
  /// The tables for longer windows would take gigabytes.
  static let maxPositions = 1 << 14

  /// - Parameter maxPositions: "max_position_embeddings".
  init(_ reader: ObjectReader, maxPositions: Int) throws(BertQAError) {
    let kinds = try Self.kinds(reader)
    productCount = 1 + kinds.count
    guard try reader.bool("relative_attention") ?? false else { return }
    hasQueryProducts = kinds.contains("c2p")
    hasKeyProducts = kinds.contains("p2c")
    sharesProjections = try reader.bool("share_att_key") ?? false
    maxDistance = maxPositions
    if let value = try reader.integer("max_relative_positions", in: -1...(1 << 20)), value > 0 {
      maxDistance = value
    }
    if let value = try reader.integer("position_buckets", in: -1...(1 << 20)), value > 0 {
      guard value >= 4, value < maxDistance * 2 - 2 else {
        throw BertQAError(
          .invalidModel,
          "\(reader.file): \"position_buckets\" is \(value), expected 4 to "
            + "\(2 * maxDistance - 3), as distances reach \(maxDistance)")
      }
      bucketCount = value
    }
    span = bucketCount ?? maxDistance
    let norms = try reader.string("norm_rel_ebd") ?? "none"
    isNormalized = norms.lowercased().split(separator: "|").contains { $0.trimmed == "layer_norm" }
    guard maxPositions <= Self.maxPositions else {
      throw BertQAError(
        .unsupported,
        "\(reader.file): \"max_position_embeddings\" is \(maxPositions); with relative attention at most "
          + "\(Self.maxPositions) is supported")
    }
  }

  /// Reads a list of names, or one string of names separated by bars.
  private static func kinds(_ reader: ObjectReader) throws(BertQAError) -> Set<String> {
    var names: [String] = []
    switch reader.value("pos_att_type") {
    case nil: break
    case .string(let text): names = text.lowercased().split(separator: "|").map { $0.trimmed }
    case .array(let elements):
      for case .string(let name) in elements { names.append(name) }
    case .some(let value):
      throw reader.mismatch("pos_att_type", value, expected: "a list of names")
    }
    for name in names where !["c2p", "p2c", ""].contains(name) {
      throw BertQAError(
        .unsupported,
        "\(reader.file): \"pos_att_type\" has \(quoted(name)); only \"c2p\" and \"p2c\" are supported")
    }
    return Set(names).intersection(["c2p", "p2c"])
  }
}
