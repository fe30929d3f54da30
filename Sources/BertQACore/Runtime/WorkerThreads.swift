/// The threads that all contexts of the process share, for hosts that want a say.
public enum WorkerThreads {
  public static let maximumCount = 1024

  /// How many threads work at once in this process at most, callers included; 0: as many as the process may run on.
  /// Contexts that are loaded afterwards with 0 threads take it; calls that are running keep what they have.
  public static func setCount(_ count: Int) throws(BertQAError) {
    guard (0...maximumCount).contains(count) else {
      throw BertQAError(
        .invalidArgument, argument: "threads", "is \(count), but must be 0 to \(maximumCount)")
    }
    ThreadPool.setSize(count)
  }

  /// Starts the threads now instead of with the first call that has work for them.
  public static func start() throws(BertQAError) {
    guard ThreadPool.shared.start(ThreadPool.shared.size - 1) else {
      throw BertQAError(
        .outOfMemory,
        "not all of \(ThreadPool.shared.size - 1) threads could be started; check the limits of "
          + "threads and memory")
    }
  }

  /// Ends the threads and returns when they are gone. Calls that are running go on alone; the next one that has
  /// work for threads starts them again.
  public static func shutDown() { ThreadPool.shared.stop() }
}
