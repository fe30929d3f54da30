/// A caller's wish to stop. Polled on the calling thread only, many times a second while a call works.
public struct Cancellation: Sendable {
  public let isCancelled: @Sendable () -> Bool

  public init(isCancelled: @escaping @Sendable () -> Bool) {
    self.isCancelled = isCancelled
  }
}
