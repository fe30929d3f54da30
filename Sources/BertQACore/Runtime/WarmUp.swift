import Synchronization

/// The one list of code that must have run once before another thread may fork.
///
/// The Swift runtime builds type metadata on first use, under a lock: see `ForkGuard`. Each task's code therefore
/// runs once per process, on a small input, while fork() waits.
enum WarmUp {
  /// A task whose code runs from input to result in one warm-up.
  enum Key: UInt32, CaseIterable {
    case tokenizer
    case answering
    case classification
    case embedding
    case wordCounts
    case training
    case languageModel
  }

  /// Runs `body` while fork() is held back, unless it has run for `key` in this process. `body` must not call
  /// what users supplied, such as log hooks: they might fork.
  static func once(_ key: Key, _ body: () -> Void) {
    guard done.load(ordering: .acquiring) & bit(key) == 0 else { return }
    ForkGuard.hold {
      // Another thread may have been first while this one waited.
      guard done.load(ordering: .acquiring) & bit(key) == 0 else { return }
      body()
      done.bitwiseOr(bit(key), ordering: .acquiringAndReleasing)
    }
  }

  private static let done = Atomic<UInt32>(0)

  private static func bit(_ key: Key) -> UInt32 { 1 << key.rawValue }
}
