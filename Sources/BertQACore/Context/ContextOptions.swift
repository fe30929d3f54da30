/// How a model is loaded and run.
public struct ContextOptions: Sendable {
  /// Threads that one call may use, the calling one included. 0: as many as the process may run on
  /// (CPU affinity and cgroup quota). At most 1024.
  public var threads = 0
  public var precision = Precision.auto
  public var instructionSet = InstructionSet.auto
  /// Load the vocabulary and tokenizer settings only.
  public var tokenizerOnly = false
  /// How the model's files come into memory.
  public var load = ModelLoad.mmap
  /// Which default model, where no directory is given.
  public var defaultModel = ModelTask.answer
  /// Receives one line for each decision taken while loading; called on the calling thread, when all is loaded.
  public var log: (@Sendable (String) -> Void)?

  /// Of the loading. While the first model of a kind is loaded the hook is asked before and after only: fork() in
  /// other threads waits then, and a hook might wait for such a thread.
  public var call = CallOptions()

  public init() {}
}
