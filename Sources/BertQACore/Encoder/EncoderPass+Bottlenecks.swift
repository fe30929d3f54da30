import CBertQA

extension EncoderPass {
  typealias Narrow = NarrowLayer<LinearLayer, Parameters.Norm>

  /// Starts the residual stream inside a layer with some blocks of hidden vectors, if the layer has bottlenecks.
  /// - Parameter input: the packed hidden vectors.
  /// - Returns: the packed vectors from which values are made.
  func enter(
    _ active: ActiveChunk, _ narrow: Narrow, _ input: PackedActivations, _ blocks: Range<Int>,
    _ scratch: Workspace.Scratch
  ) -> PackedActivations {
    guard let step = narrow.input else { return input }
    let inner = active.activations.inner + blocks.lowerBound * layerWidth * Self.lanes
    multiply(step.linear, input, blocks, Kernels.Epilogue.bias, inner)
    normalize(inner, blocks, step.norm)
    return narrow.attention == nil ? pack(inner, blocks, features: layerWidth, scratch) : input
  }

  /// Returns the packed outputs of a bottleneck in scratch memory.
  func narrowed(
    _ step: Narrow.Step, _ input: PackedActivations, _ blocks: Range<Int>, _ scratch: Workspace.Scratch
  ) -> PackedActivations {
    multiply(step.linear, input, blocks, Kernels.Epilogue.bias, scratch.intermediate)
    normalize(scratch.intermediate, blocks, step.norm)
    return pack(scratch.intermediate, blocks, features: layerWidth, scratch)
  }

  /// Adds the stream inside a layer to some blocks of hidden vectors.
  func leave(
    _ active: ActiveChunk, _ step: Narrow.Step, _ blocks: Range<Int>, _ scratch: Workspace.Scratch
  ) {
    let hidden = active.activations.hidden + blocks.lowerBound * hiddenSize * Self.lanes
    let inner = active.activations.inner + blocks.lowerBound * layerWidth * Self.lanes
    multiply(
      step.linear, pack(inner, blocks, features: layerWidth, scratch), blocks, Kernels.Epilogue.residual,
      hidden)
    normalize(hidden, blocks, step.norm, features: hiddenSize)
  }
}

extension Parameters.Norm {
  /// Applies the norm to blocks of activations, [block][features][16].
  func apply(
    _ x: UnsafePointer<Float>, blocks: Int, features: Int, to y: UnsafeMutablePointer<Float>,
    _ kernels: Kernels
  ) {
    if let eps {
      kernels.table.layer_norm_f32(x, blocks, features, gamma, beta, eps, y)
      return
    }
    for block in 0..<blocks {
      for feature in 0..<features {
        let row = (block * features + feature) * Kernels.lanes
        // The compiler does not vectorise a loop over the lanes, because y may overlap anything.
        let values = UnsafeRawPointer(x + row).loadUnaligned(as: SIMD16<Float>.self)
        UnsafeMutableRawPointer(y + row).storeBytes(
          of: gamma[feature] * values + beta[feature], as: SIMD16<Float>.self)
      }
    }
  }
}
