import BertQACore
import CBertQAHeader

func checkCount(_ count: Int) throws(BertQAError) {
  guard count >= 0, count <= Int(BERTQA_MAX_BATCH) else {
    throw BertQAError(
      .tooLarge, argument: "count",
      "is \(UInt(bitPattern: count)), above the limit of \(BERTQA_MAX_BATCH); split the batch")
  }
}

/// The items of a batch; the first that cannot be read is thrown.
/// - Parameter collection: the name of the array argument.
func readItems<Item>(
  _ count: Int, in collection: String, _ item: (Int) throws(BertQAError) -> Item
) throws(BertQAError) -> [Item] {
  var items = try [Item](checkedCapacity: count)
  for index in 0..<count {
    do throws(BertQAError) {
      items.append(try item(index))
    } catch {
      throw error.of(item: index, in: collection)
    }
  }
  return items
}

/// The objects for results of a batch, while there is memory for them.
func objects<Result, Object>(
  of results: [Result], _ make: (Result) -> Object
) throws(BertQAError) -> [Object] {
  var objects = try [Object](checkedCapacity: results.count)
  for (index, result) in results.enumerated() {
    if index % 1024 == 1023 { try Memory.requireReserve() }
    objects.append(make(result))
  }
  return objects
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
      let items = try readItems(count, in: collection, item)
      for (index, object) in try all(items).enumerated() { objects[index] = object.passed() }
      return
    }
    var failures: [Int: BertQAError] = [:]
    var items = try [Item](checkedCapacity: count)
    var indices = try [Int](checkedCapacity: count)
    for index in 0..<count {
      do throws(BertQAError) {
        items.append(try item(index))
        indices.append(index)
      } catch {
        failures[index] = error
      }
    }
    for (index, result) in zip(indices, try each(items)) {
      switch result {
      case .success(let object): objects[index] = object.passed()
      case .failure(let error): failures[index] = error
      }
    }
    tell(failures, of: collection, statuses, count)
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

/// Sets the status of each item, and this thread's last error to the first failure.
func tell(
  _ failures: [Int: BertQAError], of collection: String, _ statuses: UnsafeMutablePointer<bertqa_status>,
  _ count: Int
) {
  statuses.update(repeating: Status.ok.rawValue, count: count)
  for (index, error) in failures { statuses[index] = error.status.rawValue }
  if let first = failures.min(by: { $0.key < $1.key }) {
    setLastError(first.value.of(item: first.key, in: collection))
  }
}

/// A text or pair of texts.
func textPair(_ raw: bertqa_text_pair) throws(BertQAError) -> TextPair {
  var pair = TextPair(text: try textArgument(raw.text, raw.length, "text"))
  if raw.second != nil || raw.second_length > 0 {
    pair.second = try textArgument(raw.second, raw.second_length, "second")
  }
  return pair
}
