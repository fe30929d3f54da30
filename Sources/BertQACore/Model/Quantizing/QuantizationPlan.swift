/// Which tensors of a model become int8, and the contents and order of the new file.
struct QuantizationPlan {
  private(set) var quantized: [(tensor: TensorView, hasSums: Bool)] = []
  private(set) var kept: [TensorView] = []
  /// Query, key and value are adjacent, with each kind of tensor in its own place, so that one kernel call
  /// can take the three as one matrix.
  private(set) var tensors: [SafetensorsLayout.Tensor] = []
  /// The names of `kept`.
  private var names: Set<String> = []

  init(_ model: LoadedModel) {
    let encoder = model.encoder
    quantize([encoder.wordEmbeddings], hasSums: false)
    if let positions = encoder.positionEmbeddings { quantize([positions], hasSums: false) }
    if let types = encoder.tokenTypeEmbeddings { quantize([types], hasSums: false) }
    for adapters in [encoder.wordAdapters, encoder.tokenTypeAdapters].compactMap(\.self) { keep(adapters) }
    if let tasks = encoder.taskEmbeddings { quantize([tasks], hasSums: false) }
    keep(encoder.embeddingNorm)
    // They are small, and every score depends on them.
    if let distances = encoder.distances { keep([distances]) }
    if let norm = encoder.distanceNorm { keep(norm) }
    // It is small, and everything later depends on it.
    if let projection = encoder.embeddingProjection { keep(projection) }
    for layer in encoder.layers {
      quantize(layer.projections)
      keep(layer.headBiases)
      for linear in [layer.distanceKey, layer.distanceQuery].compactMap(\.self) { quantize([linear]) }
      quantize([layer.attentionOutput])
      if let norm = layer.attentionNorm { keep(norm) }
      quantize(layer.feedForwardInputs)
      quantize([layer.output])
      keep(layer.outputNorm)
      if let narrow = layer.narrow {
        quantize(narrow.feedForwards.map(\.intermediate))
        quantize(narrow.steps.map(\.linear))
        for step in narrow.steps { keep(step.norm) }
      }
    }
    if let norm = encoder.finalNorm { keep(norm) }
    for layer in model.head.layers {
      keep(layer.linear)
      if let residual = layer.residual { keep(residual) }
      if let norm = layer.norm { keep(norm) }
    }
    if let bias = model.head.vocabularyBias { keep([bias]) }
    if let prompted = model.prompted { keep(prompted) }
  }

  private mutating func keep(_ prompted: PromptedWeights) {
    for direction in prompted.recurrent.joined() {
      keep(direction.input)
      keep(direction.state)
    }
    let layers =
      switch prompted.spans {
      case .markers(let own):
        [own.start, own.end, own.span, own.label].flatMap { [$0.first, $0.second] }
      case .tokens(let own): [own.token, own.label, own.both.first, own.both.second]
      }
    for layer in layers { keep(layer) }
  }

  private mutating func quantize(_ linears: [LinearWeights]) {
    quantize(linears.map(\.weight), hasSums: true)
    keep(linears.compactMap(\.bias))
    for adapters in linears.compactMap(\.adapters) { keep(adapters) }
  }

  /// They are small, and are added to weights before these are quantized.
  private mutating func keep(_ adapters: AdapterWeights) { keep([adapters.left, adapters.right]) }

  private mutating func quantize(_ group: [TensorView], hasSums: Bool) {
    quantized += group.map { ($0, hasSums) }
    add(group.map { ($0.name, SafetensorsType(.i8), $0.shape) })
    add(group.map { ("\($0.name)_scale", SafetensorsType(.f32), [$0.rowCount]) })
    if hasSums { add(group.map { ("\($0.name)_sum", SafetensorsType.i32, [$0.rowCount]) }) }
  }

  private mutating func keep(_ linear: LinearWeights) {
    keep([linear.weight] + [linear.bias].compactMap(\.self))
  }

  private mutating func keep(_ norm: NormWeights) { keep([norm.weight] + [norm.bias].compactMap(\.self)) }

  private mutating func keep(_ group: [TensorView]) {
    // Modules of sentence-transformers in the same folder have the same tensors.
    let new = group.filter { names.insert($0.name).inserted }
    kept += new
    add(new.map { ($0.name, SafetensorsType(.f32), $0.shape) })
  }

  private mutating func add(_ group: [(name: String, type: SafetensorsType, shape: [Int])]) {
    tensors += group.map { SafetensorsLayout.Tensor(name: $0.name, type: $0.type, shape: $0.shape) }
  }
}
