import BertQACore
import CBertQAHeader

func checkCount(_ count: Int) throws(BertQAError) {
  guard count >= 0, count <= Int(BERTQA_MAX_BATCH) else {
    throw BertQAError(
      .tooLarge, argument: "count",
      "is \(UInt(bitPattern: count)), above the limit of \(BERTQA_MAX_BATCH); split the batch")
  }
}

/// Items of a batch that could be read, and what is wrong with the others.
struct BatchItems<Item> {
  private(set) var items: [Item] = []
  /// Of each of `items`, its index in the batch.
  private(set) var indices: [Int] = []
  private(set) var failures: [(index: Int, error: BertQAError)] = []

  /// - Parameters:
  ///   - collection: the name of the array argument.
  ///   - keepsFailures: false: the first item that cannot be read is thrown.
  init(
    _ count: Int, in collection: String, keepsFailures: Bool,
    _ item: (Int) throws(BertQAError) -> Item
  ) throws(BertQAError) {
    items.reserveCapacity(count)
    for index in 0..<count {
      do throws(BertQAError) {
        items.append(try item(index))
        if keepsFailures { indices.append(index) }
      } catch {
        let error = error.of(item: index, in: collection)
        guard keepsFailures else { throw error }
        failures.append((index, error))
      }
    }
  }
}

/// Where a call on a batch puts what it gives: objects, and statuses if they were asked for.
struct BatchOutput {
  fileprivate let count: Int
  fileprivate let objects: UnsafeMutablePointer<OpaquePointer?>
  fileprivate let statuses: UnsafeMutablePointer<bertqa_status>?

  /// Runs a call. Without statuses it gives all objects or none; with statuses what is wrong with one item is that
  /// item's status.
  /// - Parameters:
  ///   - collection: the name of the array of items.
  ///   - item: reads one of them.
  ///   - all: the objects of all items.
  ///   - each: the object of each item, or why there is none.
  func fill<Item, Object: Handle>(
    from collection: String, _ item: (Int) throws(BertQAError) -> Item,
    all: ([Item]) throws(BertQAError) -> [Object],
    each: ([Item]) throws(BertQAError) -> [Result<Object, BertQAError>]
  ) throws(BertQAError) {
    guard let statuses else {
      let read = try BatchItems(count, in: collection, keepsFailures: false, item)
      for (index, object) in try all(read.items).enumerated() { objects[index] = object.passed() }
      return
    }
    try fillStatuses(count, statuses, from: collection, item, each) { index, object in
      objects[index] = object.passed()
    }
  }
}

/// Runs the body of a call on a batch that gives an object for each item.
/// - Parameter name: that of the array of objects.
func batchStatus(
  _ count: Int, _ objects: UnsafeMutablePointer<OpaquePointer?>?, _ name: StaticString,
  _ statuses: UnsafeMutablePointer<bertqa_status>?, _ body: (BatchOutput) throws(BertQAError) -> Void
) -> bertqa_status {
  status { () throws(BertQAError) in
    try checkCount(count)
    guard count > 0 else { return }
    try settingAll(statuses, count) { () throws(BertQAError) in
      let objects = try required(objects, name)
      objects.update(repeating: nil, count: count)
      try body(BatchOutput(count: count, objects: objects, statuses: statuses))
    }
  }
}

/// Gives every item the status of what ends the whole call.
func settingAll(
  _ statuses: UnsafeMutablePointer<bertqa_status>?, _ count: Int,
  _ body: () throws(BertQAError) -> Void
) throws(BertQAError) {
  do throws(BertQAError) {
    try body()
  } catch {
    statuses?.update(repeating: error.status.rawValue, count: count)
    throw error
  }
}

/// The part of a call with statuses that is the same whatever the items give.
/// - Parameter take: gets what an item gave, with the item's index.
func fillStatuses<Item, Value>(
  _ count: Int, _ statuses: UnsafeMutablePointer<bertqa_status>, from collection: String,
  _ item: (Int) throws(BertQAError) -> Item,
  _ each: ([Item]) throws(BertQAError) -> [Result<Value, BertQAError>],
  take: (Int, Value) -> Void
) throws(BertQAError) {
  let read = try BatchItems(count, in: collection, keepsFailures: true, item)
  var failures = read.failures
  statuses.update(repeating: Status.ok.rawValue, count: count)
  for (index, result) in zip(read.indices, try each(read.items)) {
    switch result {
    case .success(let value): take(index, value)
    case .failure(let error): failures.append((index, error.of(item: index, in: collection)))
    }
  }
  for failure in failures { statuses[failure.index] = failure.error.status.rawValue }
  if let first = failures.min(by: { $0.index < $1.index }) { setLastError(first.error) }
}

/// A text or pair of texts.
func textPair(_ raw: bertqa_text_pair) throws(BertQAError) -> TextPair {
  var pair = TextPair(text: try textArgument(raw.text, raw.length, "text"))
  if raw.second != nil || raw.second_length > 0 {
    pair.second = try textArgument(raw.second, raw.second_length, "second")
  }
  return pair
}
