/// Attention to neighbours and to a window's global tokens (Beltagy et al. 2020, https://arxiv.org/abs/2004.05150). A
/// global token attends to all tokens, by projections of its own, and all tokens attend to it.
struct LocalAttention: Sendable, Equatable {
  /// A window's global tokens. They are its first ones.
  enum GlobalTokens: Sendable, Equatable {
    case none
    case first
    /// Those before this token's first occurrence: a question and what precedes it.
    case before(Int32)
  }

  /// For each layer, the maximum distance, on either side, from a token to its neighbours.
  var reaches: [Int]
  var globalTokens: GlobalTokens
}

extension LocalAttention {
  /// As transformers does, the head determines which tokens are global.
  init(_ reader: ObjectReader, layerCount: Int, _ head: HeadKind) throws(BertQAError) {
    let key = "attention_window"
    var widths = [JSON](repeating: reader.value(key) ?? .number(512), count: layerCount)
    if case .array(let own)? = reader.value(key) { widths = own }
    reaches = []
    for width in widths {
      // A width has both sides together.
      guard case .number(let number) = width, let width = number.integer, width > 0, width % 2 == 0,
        width <= 1 << 20
      else { break }
      reaches.append(Int(width) / 2)
    }
    guard reaches.count == layerCount, widths.count == layerCount else {
      throw reader.mismatch(
        key, reader.value(key) ?? .null,
        expected: "an even number above 0, or a list of \(layerCount) of them")
    }
    switch head {
    case .spans:
      globalTokens = .before(Int32(try reader.integer("sep_token_id", in: 0...(1 << 24)) ?? 2))
    case .labels: globalTokens = .first
    case .tokenLabels, .vectors: globalTokens = .none
    }
  }
}

/// The projections of a layer by which global tokens attend. As a checkpoint has them, or as the kernels take them.
/// Immutable. It is a class because layers are copied, and those of most families have none.
final class GlobalProjections<Linear> {
  /// Of global tokens.
  let query: Linear
  /// Of all tokens.
  let key: Linear
  let value: Linear

  init(query: Linear, key: Linear, value: Linear) {
    self.query = query
    self.key = key
    self.value = value
  }
}

extension GlobalProjections: Sendable where Linear: Sendable {}
