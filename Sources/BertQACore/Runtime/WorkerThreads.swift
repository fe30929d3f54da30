/// Controls the threads that all contexts of the process share.
public enum WorkerThreads {
  public static let maximumCount = 1024

  /// Sets the maximum number of threads that work at once in this process, callers included; 0: as many as
  /// the process may run on. Contexts loaded later with 0 threads use it; running calls keep what they have.
  public static func setCount(_ count: Int) throws(BertQAError) {
    try BertQAError.check("threads", count, 0...maximumCount)
    ThreadPool.setSize(count)
  }

  /// Starts the threads now instead of in the first call that has work for them.
  public static func start() throws(BertQAError) {
    guard ThreadPool.shared.start(ThreadPool.shared.size - 1) else {
      throw BertQAError(
        .outOfMemory,
        "not all of \(ThreadPool.shared.size - 1) threads could be started; check the limits of "
          + "threads and memory")
    }
  }

  /// Ends the threads and returns when they are gone. Running calls continue alone. The next call that has
  /// work for threads starts them again.
  public static func shutDown() { ThreadPool.shared.stop() }
}
