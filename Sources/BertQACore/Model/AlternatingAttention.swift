/// Alternating attention: which layers of an encoder read the whole window and which only a token's
/// neighbours, and the rotary positions of both kinds.
struct AlternatingAttention: Sendable, Equatable {
  /// True for each layer that reads only neighbours.
  var isLocal: [Bool]
  /// The maximum distance, on either side, from a token to the tokens that it attends to in a local layer.
  var reach: Int
  /// The base of the geometric series of the positions' wavelengths, in global and in local layers.
  var globalTheta: Double
  var localTheta: Double
}

// MARK: - Reading

extension AlternatingAttention {
  /// Reads `config.json` as transformers 5 writes it ("layer_types" and "rope_parameters") or as earlier
  /// versions did ("global_attn_every_n_layers", "global_rope_theta" and "local_rope_theta").
  init(_ reader: ObjectReader, layerCount: Int) throws(BertQAError) {
    // The key has the whole width, both sides together.
    reach = try (reader.integer("local_attention", in: 2...(1 << 20)) ?? 128) / 2
    let every = try reader.integer("global_attn_every_n_layers", in: 1...1024) ?? 3
    isLocal = try Self.layerTypes(reader, count: layerCount) ?? (0..<layerCount).map { $0 % every != 0 }
    if let scaling = try reader.reader("rope_scaling") { try RotaryPositions.checkIsPlain(scaling) }
    globalTheta = try Self.theta(reader, "full_attention", older: "global_rope_theta") ?? 160_000
    // In older files null means the global value.
    let isNull = reader.object["local_rope_theta"] == .null
    localTheta =
      try Self.theta(reader, "sliding_attention", older: "local_rope_theta")
      ?? (isNull ? globalTheta : 10_000)
  }

  private static func layerTypes(_ reader: ObjectReader, count: Int) throws(BertQAError) -> [Bool]? {
    guard let value = reader.value("layer_types") else { return nil }
    guard case .array(let elements) = value, elements.count == count else {
      throw reader.mismatch("layer_types", value, expected: "a list of \(count) names")
    }
    var isLocal: [Bool] = []
    for element in elements {
      switch element {
      case .string("sliding_attention"): isLocal.append(true)
      case .string("full_attention"): isLocal.append(false)
      default:
        throw BertQAError(
          .unsupported,
          "\(reader.file): \"layer_types\" has \(element.summary); only \"full_attention\" and "
            + "\"sliding_attention\" are supported")
      }
    }
    return isLocal
  }

  private static func theta(
    _ reader: ObjectReader, _ kind: String, older: String
  ) throws(BertQAError) -> Double? {
    if let rope = try reader.reader("rope_parameters")?.reader(kind) {
      try RotaryPositions.checkIsPlain(rope)
      if let theta = try RotaryPositions.theta(rope, "rope_theta") { return theta }
    }
    return try RotaryPositions.theta(reader, older)
  }
}
