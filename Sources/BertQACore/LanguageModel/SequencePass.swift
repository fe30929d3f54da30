import CBertQA

/// A step of some sequences through the layers, or from their states to logits: the work that threads share.
///
/// Threads divide the outputs of each product among themselves. The order of an output's sum depends neither
/// on the thread nor on the number of sequences computed together, so the results do not either.
struct SequencePass {
  let model: SequenceModel
  let workspace: SequenceWorkspace
  /// The number of sequences, at most `SequenceModel.chunkSequences`.
  let count: Int
  private var layer = 0
  private var tasks = 1
  private var logits: UnsafeMutablePointer<Float>?

  /// The multiplications that justify another thread: about 100 µs.
  private static let costPerThread = 4 << 20
  /// The minimum number of outputs in a task.
  private static let outputsPerTask = 32
  /// The multiplications at which dividing a phase pays.
  private static let costPerPhase = 1 << 20

  init(_ model: SequenceModel, _ workspace: SequenceWorkspace, count: Int) {
    self.model = model
    self.workspace = workspace
    self.count = count
  }

  /// The number of threads that `cost` multiplications justify.
  static func threads(_ model: SequenceModel, cost: Int) -> Int {
    let limit = model.threadLimit > 0 ? model.threadLimit : ThreadPool.shared.size
    return max(1, min(limit, cost / costPerThread))
  }

  /// Reads the word `ids[s]` after the state `workspace.sources[s]` and writes the next state to
  /// `workspace.targets[s]`, which must be other memory.
  mutating func advance(ids: UnsafePointer<Int32>, team: borrowing ThreadPool.Team) {
    let width = model.configuration.embeddingSize
    for sequence in 0..<count {
      let row = Int(ids[sequence])
      model.embedding.copyFloats(rows: row..<row + 1, to: workspace.input.base + sequence * width)
    }
    for index in model.layers.indices {
      layer = index
      if index > 0 { gather(from: workspace.targets.base, layer: index - 1, to: workspace.input.base) }
      gather(from: workspace.sources.base, layer: index, to: workspace.hidden.base)
      let inputs = model.layers[index].input.ins + hiddenSize
      divide(outputs: hiddenSize, cost: inputs * model.configuration.cell.gateCount, among: team)
      withUnsafeMutablePointer(to: &self) { pass in
        team.run(count: pass.pointee.tasks, context: pass) { context, task, _ in
          Self.at(context).pointee.computeUnits(task: task)
        }
      }
    }
  }

  /// Computes the logits of the words after the states `workspace.targets[s]`; [sequence][vocabulary].
  mutating func decode(to logits: UnsafeMutablePointer<Float>, team: borrowing ThreadPool.Team) {
    gather(from: workspace.targets.base, layer: model.layers.count - 1, to: workspace.hidden.base)
    self.logits = logits
    divide(outputs: model.decoder.outs, cost: hiddenSize, among: team)
    withUnsafeMutablePointer(to: &self) { pass in
      team.run(count: pass.pointee.tasks, context: pass) { context, task, _ in
        Self.at(context).pointee.computeLogits(task: task)
      }
    }
  }
}

extension SequencePass {
  private var hiddenSize: Int { model.configuration.hiddenSize }

  private static func at(_ context: UnsafeMutableRawPointer) -> UnsafeMutablePointer<SequencePass> {
    context.assumingMemoryBound(to: SequencePass.self)
  }

  /// Copies a layer's h of all sequences to one array; [sequence][hidden].
  private func gather(
    from states: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, layer: Int,
    to vectors: UnsafeMutablePointer<Float>
  ) {
    for sequence in 0..<count {
      (vectors + sequence * hiddenSize).update(
        from: states[sequence] + layer * hiddenSize, count: hiddenSize)
    }
  }

  /// Sets `tasks` to a few per thread, so that the threads finish at about the same time.
  /// - Parameter cost: the multiplications of one output of one sequence.
  private mutating func divide(outputs: Int, cost: Int, among team: borrowing ThreadPool.Team) {
    guard team.threadCount > 1, count * outputs * cost >= Self.costPerPhase else {
      tasks = 1
      return
    }
    tasks = max(1, min(4 * team.threadCount, outputs / Self.outputsPerTask))
  }

  private func share(of task: Int, in outputs: Int) -> Range<Int> {
    outputs * task / tasks..<outputs * (task + 1) / tasks
  }

  /// Computes a task's units of the layer: all their gates, then the cells.
  private func computeUnits(task: Int) {
    let units = share(of: task, in: hiddenSize)
    let parameters = model.layers[layer]
    let gates = model.configuration.cell.gateCount
    for gate in 0..<gates {
      let first = gate * hiddenSize + units.lowerBound
      let rows = first..<first + units.count
      multiply(
        parameters.input, rows, workspace.input.base, to: workspace.inputGates.base + first,
        stride: gates * hiddenSize)
      multiply(
        parameters.state, rows, workspace.hidden.base, to: workspace.stateGates.base + first,
        stride: gates * hiddenSize)
    }
    for sequence in 0..<count {
      let first = sequence * gates * hiddenSize + units.lowerBound
      let input = UnsafePointer(workspace.inputGates.base + first)
      let state = UnsafePointer(workspace.stateGates.base + first)
      let h = layer * hiddenSize + units.lowerBound
      let source = UnsafePointer(workspace.sources.base[sequence])
      let target = workspace.targets.base[sequence]
      switch model.configuration.cell {
      case .lstm:
        let c = h + model.layers.count * hiddenSize
        model.kernels.table.lstm_cell(
          input, state, hiddenSize, units.count, source + c, target + c, target + h)
      case .gru:
        model.kernels.table.gru_cell(input, state, hiddenSize, units.count, source + h, target + h)
      }
    }
  }

  private func computeLogits(task: Int) {
    guard let logits else { return }
    let rows = share(of: task, in: model.decoder.outs)
    multiply(
      model.decoder, rows, workspace.hidden.base, to: logits + rows.lowerBound,
      stride: model.decoder.outs)
  }

  /// Multiplies `rows` of a matrix with each sequence's vector.
  private func multiply(
    _ matrix: SequenceModel.Matrix, _ rows: Range<Int>, _ vectors: UnsafePointer<Float>,
    to outputs: UnsafeMutablePointer<Float>, stride: Int
  ) {
    model.kernels.table.multiply_rows(
      matrix.elements + rows.lowerBound * matrix.rowSize, matrix.format, matrix.bias + rows.lowerBound,
      vectors, matrix.ins, count, matrix.ins, rows.count, outputs, stride)
  }
}
