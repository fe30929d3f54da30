import Synchronization

extension ThreadPool {
  /// Performs one item of a phase. Takes the team's context, the item's index, and the seat of the thread.
  /// The caller has seat 0, helpers have 1 and up; no two threads have the same seat at once.
  typealias Body = @convention(c) (_ context: UnsafeMutableRawPointer, _ item: Int, _ seat: Int) -> Void

  /// The state of a team's current phase. Fields that are not atomic are written between phases, when no
  /// helper has a seat.
  struct Job: ~Copyable {
    /// Bit i < 62: helper seat i is taken, or not available in this phase. Bit 62: the caller sleeps until
    /// the seats are empty. Bit 63: closed, no helper may join.
    let seats = Atomic<UInt64>(Job.closed)
    /// The number of unclaimed items; negative once threads have found none.
    let remaining = Atomic<Int>(0)
    /// The number of callers and workers that may run in the process for a helper to join.
    let limit = Atomic<Int>(0)
    var count = 0
    var context = UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    var body: Body = { _, _, _ in }
    /// Puts neighbouring jobs on different cache lines.
    private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) =
      (0, 0, 0, 0, 0, 0, 0, 0, 0)

    static let maxHelpers = 62
    static let seatMask: UInt64 = 1 << 62 - 1
    static let waiting: UInt64 = 1 << 62
    static let closed: UInt64 = 1 << 63

    /// Takes a free seat; returns nil if there is none or no work.
    borrowing func takeSeat() -> Int? {
      var word = seats.load(ordering: .relaxed)
      while word & Job.closed == 0, remaining.load(ordering: .relaxed) > 0 {
        let free = ~word & Job.seatMask
        guard free != 0 else { return nil }
        let (taken, now) = seats.weakCompareExchange(
          expected: word, desired: word | (free & (0 &- free)), ordering: .acquiring)
        if taken { return free.trailingZeroBitCount }
        word = now
      }
      return nil
    }

    /// Frees a seat. Returns true if the caller sleeps and this was the last helper.
    borrowing func leaveSeat(_ seat: Int) -> Bool {
      let bit: UInt64 = 1 << UInt64(seat)
      let word = seats.bitwiseAnd(~bit, ordering: .acquiringAndReleasing).newValue
      return word == Job.closed | Job.waiting
    }
  }
}
