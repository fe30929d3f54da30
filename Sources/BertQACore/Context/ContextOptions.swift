/// Options for loading and running a model.
public struct ContextOptions: Sendable {
  /// The maximum number of threads for one call, including the calling one; at most 1024. 0: as many as the
  /// process may run on (CPU affinity and cgroup quota).
  public var threads = 0
  public var precision = Precision.auto
  public var instructionSet = InstructionSet.auto
  /// Loads only the vocabulary and the tokenizer's settings.
  public var tokenizerOnly = false
  /// How the model's files get into memory.
  public var load = ModelLoad.mmap
  /// The task of the default model, used if no directory is given.
  public var defaultModel = ModelTask.answer
  /// Receives one line for each decision made while loading. Called on the calling thread after everything is
  /// loaded.
  public var log: (@Sendable (String) -> Void)?

  /// The call options of loading. While the first model of a kind loads, the hook is called only before and
  /// after: fork() in other threads waits during that time, and a hook might wait for such a thread.
  public var call = CallOptions()

  public init() {}
}
