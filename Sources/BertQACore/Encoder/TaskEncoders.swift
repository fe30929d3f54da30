import Synchronization

/// The encoders of a model's tasks: its encoder, with the weights that a task's adapters change. Each is made when a
/// call first asks for its task, and takes as much memory as the converted weights of the model.
final class TaskEncoders: Sendable {
  private let model: LoadedModel
  private let precision: Precision
  private let kernels: Kernels
  private let threadLimit: Int
  /// By task.
  private let encoders = Mutex<[String: Encoder]>([:])

  /// nil if the model has no adapters.
  init?(_ model: LoadedModel, _ encoder: Encoder) {
    guard model.configuration.adapters != nil else { return nil }
    self.model = model
    precision = encoder.arithmetic.precision
    kernels = encoder.kernels
    threadLimit = encoder.threadLimit
  }

  /// Returns the encoder of a task; nil if the model has no task of that name.
  func encoder(_ name: String, _ monitor: CallMonitor) throws(BertQAError) -> Encoder? {
    guard let task = model.configuration.adapters?.tasks.firstIndex(of: name) else { return nil }
    if let known = encoders.withLock({ $0[name] }) { return known }
    // Calls that need it at the same time may each make it, without waiting; one is kept.
    let made = try Encoder(
      model: model, precision: precision, kernels: kernels, task: task, threadLimit: threadLimit, monitor)
    return encoders.withLock { encoders in
      if let known = encoders[name] { return known }
      encoders[name] = made
      return made
    }
  }
}

extension TextReader {
  /// Returns a reader for a task, if the name is that of one.
  func asking(
    for name: String?, of tasks: TaskEncoders?, _ call: CallOptions
  ) throws(BertQAError) -> TextReader {
    guard let name, let encoder = try tasks?.encoder(name, CallMonitor(call)) else { return self }
    var reader = self
    reader.reader.model = encoder
    return reader
  }
}
