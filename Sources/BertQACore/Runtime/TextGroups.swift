/// The texts of a call in groups, each of which one thread works through.
final class TextGroups: @unchecked Sendable {
  // Sendable: `stop` belongs to the calling thread; the rest does not change.

  private let monitor: CallMonitor
  /// The bounds of the groups.
  private var bounds: [Int]
  /// The reason why the call ends.
  private var stop: BertQAError?

  /// A group with this many bytes of text is closed.
  private static let groupBytes = 1 << 16

  /// - Parameters:
  ///   - range: the indices of the texts.
  ///   - byteCount: returns the length of a text.
  init(_ range: Range<Int>, byteCount: (Int) -> Int, _ monitor: CallMonitor) {
    self.monitor = monitor
    bounds = [range.lowerBound]
    var bytes = 0
    for index in range {
      // Short texts take time, too.
      bytes += byteCount(index) + 64
      if bytes >= Self.groupBytes || index + 1 == range.upperBound {
        bounds.append(index + 1)
        bytes = 0
      }
    }
  }

  /// Calls `body` once for each text, on several threads. Throws the reason why the call is to stop.
  /// - Parameters:
  ///   - threads: the maximum number of threads.
  ///   - body: an error that it throws ends its group; on the calling thread, also the call.
  func run(
    threads: Int, _ body: @escaping (_ index: Int, _ isCaller: Bool) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    let count = bounds.count - 1
    let team = ThreadPool.Team(maxThreads: max(1, min(threads, count)))
    team.run(count: count, whileWaiting: poll) { [self] group, seat in
      work(group, isCaller: seat == 0, body)
    }
    if let stop { throw stop }
  }

  /// Checks whether to stop. On the calling thread only.
  private func poll() {
    guard stop == nil else { return }
    do throws(BertQAError) {
      try monitor.check()
    } catch {
      stop = error
    }
  }

  private func work(
    _ group: Int, isCaller: Bool, _ body: (_ index: Int, _ isCaller: Bool) throws(BertQAError) -> Void
  ) {
    let poll = CallPoll(monitor, isCaller: isCaller)
    do throws(BertQAError) {
      for index in bounds[group]..<bounds[group + 1] {
        try poll.check()
        try body(index, isCaller)
      }
    } catch {
      if isCaller { stop = stop ?? error }
    }
  }
}
