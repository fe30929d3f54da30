import Glibc

enum Thread {
  /// Runs `body` on a new thread, which ends with `body` or with the process.
  static func start(_ body: @escaping @Sendable () -> Void) throws(ToolError) {
    let box = Unmanaged.passRetained(Box(body))
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
        return nil
      }, box.toOpaque())
    guard result == 0 else {
      box.release()
      throw ToolError.system("cannot start a thread", result)
    }
    pthread_detach(thread)
  }

  private final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
