import BertQACore
import CBertQAHeader

func checkCount(_ count: Int) throws(BertQAError) {
  guard count >= 0, count <= Int(BERTQA_MAX_BATCH) else {
    throw BertQAError(
      .tooLarge, argument: "count",
      "is \(UInt(bitPattern: count)), above the limit of \(BERTQA_MAX_BATCH); split the batch")
  }
}

/// Items between two looks whether there is memory for the small objects that go with them, and whether to go on.
private let itemsPerCheck = 1024

/// Bytes that the small objects of one result take, about: the handle and its arrays of few elements.
private let smallObjectBytes = 512

/// Looks whether to go on with item `index` of a batch.
func check(item index: Int, _ monitor: CallMonitor) throws(BertQAError) {
  guard index % itemsPerCheck == itemsPerCheck - 1 else { return }
  try monitor.check()
  try Memory.requireReserve()
}

/// The items of a batch; the first that cannot be read is thrown.
/// - Parameter collection: the name of the array argument.
func readItems<Item>(
  _ count: Int, in collection: String, _ call: CallOptions, _ item: (Int) throws(BertQAError) -> Item
) throws(BertQAError) -> [Item] {
  let monitor = CallMonitor(call)
  var items = try [Item](resultCapacity: count, monitor)
  for index in 0..<count {
    try check(item: index, monitor)
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
  of results: [Result], _ call: CallOptions, _ make: (Result, CallMonitor) throws(BertQAError) -> Object
) throws(BertQAError) -> [Object] {
  let monitor = CallMonitor(call)
  try monitor.holdResult(results.count * smallObjectBytes, of: UInt8.self)
  var objects = try [Object](resultCapacity: results.count, monitor)
  for (index, result) in results.enumerated() {
    try check(item: index, monitor)
    objects.append(try make(result, monitor))
  }
  return objects
}

/// The same of results some of which may be failures.
func objects<Value, Object>(
  ofEach results: [Result<Value, BertQAError>], _ call: CallOptions,
  _ make: (Value, CallMonitor) throws(BertQAError) -> Object
) throws(BertQAError) -> [Result<Object, BertQAError>] {
  try objects(of: results, call) { result, monitor throws(BertQAError) in
    switch result {
    case .success(let value): .success(try make(value, monitor))
    case .failure(let error): .failure(error)
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
    from collection: String, _ call: CallOptions, _ item: (Int) throws(BertQAError) -> Item,
    all: ([Item]) throws(BertQAError) -> [Object],
    each: ([Item]) throws(BertQAError) -> [Result<Object, BertQAError>]
  ) throws(BertQAError) {
    guard let statuses else {
      let items = try readItems(count, in: collection, call, item)
      for (index, object) in try all(items).enumerated() { objects[index] = object.passed() }
      return
    }
    var batch = BatchStatuses(statuses, count, of: collection)
    let monitor = CallMonitor(call)
    var items = try [Item](resultCapacity: count, monitor)
    var indices = try [Int](resultCapacity: count, monitor)
    for index in 0..<count {
      try check(item: index, monitor)
      do throws(BertQAError) {
        items.append(try item(index))
        indices.append(index)
      } catch {
        batch.fail(index, error)
      }
    }
    // Nothing is thrown behind `each`: a call that fails gives no objects.
    for (index, result) in zip(indices, try each(items)) {
      switch result {
      case .success(let object): objects[index] = object.passed()
      case .failure(let error): batch.fail(index, error)
      }
    }
    batch.setLastErrorToFirst()
  }
}

/// The statuses of a batch's items, which the caller gave the room for, and the first failure.
struct BatchStatuses {
  private let statuses: UnsafeMutablePointer<bertqa_status>
  /// The name of the array of items.
  private let collection: String
  private var first: (index: Int, error: BertQAError)?

  /// Every item is well until it fails.
  init(_ statuses: UnsafeMutablePointer<bertqa_status>, _ count: Int, of collection: String) {
    self.statuses = statuses
    self.collection = collection
    statuses.update(repeating: Status.ok.rawValue, count: count)
  }

  mutating func fail(_ index: Int, _ error: BertQAError) {
    statuses[index] = error.status.rawValue
    if first.map({ index < $0.index }) ?? true { first = (index, error) }
  }

  func hasFailed(_ index: Int) -> Bool { statuses[index] != Status.ok.rawValue }

  /// This thread's last error becomes the first failure of an item, if there is one.
  func setLastErrorToFirst() {
    if let first { setLastError(first.error.of(item: first.index, in: collection)) }
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

/// A text or pair of texts.
func textPair(_ raw: bertqa_text_pair) throws(BertQAError) -> TextPair {
  var pair = TextPair(text: try textArgument(raw.text, raw.length, "text"))
  if raw.second != nil || raw.second_length > 0 {
    pair.second = try textArgument(raw.second, raw.second_length, "second")
  }
  return pair
}
