import Synchronization

extension ThreadPool {
  /// One item of a phase: the team's context, the item's index, and the seat of the thread that does
  /// it (0 is the caller, helpers have 1 and up; no two threads have the same seat at once).
  typealias Body = @convention(c) (_ context: UnsafeMutableRawPointer, _ item: Int, _ seat: Int) -> Void

  /// A team's place for the phase it is working on. The fields that are not atomic are written
  /// between phases, when no helper has a seat.
  struct Job: ~Copyable {
    /// Bit i < 62: helper seat i is taken or not for this phase. Bit 62: the caller sleeps until the
    /// seats are empty. Bit 63: closed, no helper may join.
    let seats = Atomic<UInt64>(Job.closed)
    /// Items nobody has claimed; negative once threads have found none.
    let remaining = Atomic<Int>(0)
    /// Callers and workers that may be running in the process for a helper to join.
    let limit = Atomic<Int>(0)
    var count = 0
    var context = UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    var body: Body = { _, _, _ in }
    /// Keeps neighbouring jobs off each other's cache lines.
    private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) =
      (0, 0, 0, 0, 0, 0, 0, 0, 0)

    static let maxHelpers = 62
    static let seatMask: UInt64 = 1 << 62 - 1
    static let waiting: UInt64 = 1 << 62
    static let closed: UInt64 = 1 << 63

    /// Takes a free seat; nil when there is none or nothing to do.
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

    /// Gives a seat back. True when the caller sleeps and this was the last helper.
    borrowing func leaveSeat(_ seat: Int) -> Bool {
      let bit: UInt64 = 1 << UInt64(seat)
      let word = seats.bitwiseAnd(~bit, ordering: .acquiringAndReleasing).newValue
      return word == Job.closed | Job.waiting
    }
  }
}
