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
    case entities
    case patterns
    case wordCountList
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

  /// Loads something: while fork() waits where nothing of this kind has been loaded in the process, and without any
  /// lock afterwards, however long the files take to read.
  /// - Parameters:
  ///   - kind: names the code that runs: whatever makes other code run must be part of it.
  ///   - body: of what users supplied it must only call the hook of a `CallMonitor`. A failure counts as not loaded.
  static func load<Loaded>(
    _ kind: String, _ body: () throws(BertQAError) -> Loaded
  ) throws(BertQAError) -> Loaded {
    let first: Loaded? = try ForkGuard.hold { () throws(BertQAError) in
      if loadedKinds.contains(kind) { return nil }
      let loaded = try body()
      if loadedKinds.count == maximumKinds { loadedKinds.removeAll() }
      loadedKinds.insert(kind)
      return loaded
    }
    if let first { return first }
    return try body()
  }

  /// Used while fork() waits only.
  nonisolated(unsafe) private static var loadedKinds: Set<String> = []
  /// There are fewer by far; bounds the memory if there are not.
  private static let maximumKinds = 1024

  private static let done = Atomic<UInt32>(0)

  private static func bit(_ key: Key) -> UInt32 { 1 << key.rawValue }
}
