import BertQACore
import CBertQAHeader

func checkCount(_ count: Int, _ name: StaticString = "count") throws(BertQAError) {
  guard count >= 0, count <= Int(BERTQA_MAX_BATCH) else {
    throw BertQAError(
      .tooLarge, argument: "\(name)",
      "is \(UInt(bitPattern: count)), above the limit of \(BERTQA_MAX_BATCH): pass fewer at once")
  }
}

/// The number of items between two polls, which also check the memory for the items' small objects.
private let itemsPerCheck = 1024

/// The approximate size in bytes of the small objects of one result: the handle and its short arrays.
private let smallObjectBytes = 512

/// Polls at item `index` of a batch.
func check(item index: Int, _ monitor: CallMonitor) throws(BertQAError) {
  guard index % itemsPerCheck == itemsPerCheck - 1 else { return }
  try monitor.check()
  try Memory.requireReserve()
}

/// Reads the items of a batch. Throws the first failure.
/// - Parameter name: the name of the array argument.
func readItems<Raw, Item>(
  _ array: UnsafePointer<Raw>?, _ count: Int, _ name: StaticString, _ call: CallOptions,
  _ item: (Raw) throws(BertQAError) -> Item
) throws(BertQAError) -> [Item] {
  try readItems(array, count, name, CallMonitor(call), item) { error, index throws(BertQAError) in
    throw error.of(item: index, in: "\(name)")
  }
}

/// Reads the items of a batch.
/// - Parameter failed: takes the failure and the index of an item, and returns the item to take instead, if any.
func readItems<Raw, Item>(
  _ array: UnsafePointer<Raw>?, _ count: Int, _ name: StaticString, _ monitor: CallMonitor,
  _ item: (Raw) throws(BertQAError) -> Item,
  failed: (BertQAError, Int) throws(BertQAError) -> Item?
) throws(BertQAError) -> [Item] {
  let array = try elements(array, count, name)
  var items = try [Item](resultCapacity: count, monitor)
  for (index, raw) in array.enumerated() {
    try check(item: index, monitor)
    do throws(BertQAError) {
      items.append(try item(raw))
    } catch {
      if let other = try failed(error, index) { items.append(other) }
    }
  }
  return items
}

/// Runs a call on some items of a collection. A failure names the item by its index in the collection.
/// - Parameter indices: the index of each item of the call.
func naming<Results>(
  _ indices: [Int], in collection: String, _ body: () throws(BertQAError) -> Results
) throws(BertQAError) -> Results {
  do throws(BertQAError) {
    return try body()
  } catch {
    guard let item = error.item, indices.indices.contains(item) else { throw error }
    throw error.of(item: indices[item], in: collection)
  }
}

/// The caller's arrays for the objects of a batch and, if it wants them, the statuses.
struct BatchOutput {
  fileprivate let objects: UnsafeMutableBufferPointer<OpaquePointer?>
  fileprivate let statuses: UnsafeMutablePointer<bertqa_status>?

  /// Runs a call and stores an object for each result. If the call fails, it stores none.
  /// - Parameters:
  ///   - array: of as many items as objects.
  ///   - name: the name of the array argument.
  ///   - make: makes the object of a result.
  ///   - item: reads an item.
  ///   - each: runs the call and returns a result for each item.
  func fill<Options: BatchOptions, Raw, Item, Value, Object: Handle>(
    from array: UnsafePointer<Raw>?, _ name: StaticString, _ options: Options,
    _ make: (Value, CallMonitor) throws(BertQAError) -> Object,
    _ item: (Raw) throws(BertQAError) -> Item,
    each: ([Item], Options) throws(BertQAError) -> [Result<Value, BertQAError>]
  ) throws(BertQAError) {
    let (count, collection) = (objects.count, "\(name)")
    var options = options
    var failures = BatchFailures(statuses, count, of: collection, &options.call)
    let monitor = CallMonitor(options.marshallingCall)
    let items = try readItems(array, count, name, monitor, item) { error, index throws(BertQAError) in
      try failures.add(error, of: index)
      return nil
    }
    var indices = try [Int](resultCapacity: items.count, monitor)
    for index in 0..<count where !failures.contains(index) { indices.append(index) }
    let results = try naming(indices, in: collection) { () throws(BertQAError) in try each(items, options) }
    try store(indices, &failures, monitor) { number throws(BertQAError) in
      switch results[number] {
      case .success(let value): .success(try make(value, monitor))
      case .failure(let error): .failure(error)
      }
    }
  }

  /// Stores the objects of the items with these indices, which `result` makes. If one cannot be made, stores none.
  private func store(
    _ indices: [Int], _ failures: inout BatchFailures, _ monitor: CallMonitor,
    _ result: (Int) throws(BertQAError) -> Result<any Handle, BertQAError>
  ) throws(BertQAError) {
    try monitor.holdResult(indices.count * smallObjectBytes, of: UInt8.self)
    var made = try [(index: Int, object: any Handle)](resultCapacity: indices.count, monitor)
    for (number, index) in indices.enumerated() {
      try check(item: number, monitor)
      switch try result(number) {
      case .success(let object): made.append((index, object))
      case .failure(let error): try failures.add(error, of: index)
      }
    }
    for (index, object) in made { objects[index] = object.passed() }
    failures.setLastErrorToFirst()
  }
}

/// The failures of a batch's items. A failure becomes its item's status; without an array of statuses the first failure
/// ends the call.
struct BatchFailures {
  private let statuses: UnsafeMutablePointer<bertqa_status>?
  /// The name of the array of items.
  private let collection: String
  private var first: (index: Int, error: BertQAError)?

  /// Sets all statuses to OK.
  /// - Parameter call: made to stop at the first failure if there is no array of statuses.
  init(
    _ statuses: UnsafeMutablePointer<bertqa_status>?, _ count: Int, of collection: String,
    _ call: inout CallOptions
  ) {
    self.statuses = statuses
    self.collection = collection
    statuses?.update(repeating: Status.ok.rawValue, count: count)
    call.stopsAtFailure = statuses == nil
  }

  mutating func add(_ error: BertQAError, of index: Int) throws(BertQAError) {
    guard let statuses else { throw error.of(item: index, in: collection) }
    statuses[index] = error.status.rawValue
    if first.map({ index < $0.index }) ?? true { first = (index, error) }
  }

  func contains(_ index: Int) -> Bool { statuses.map { $0[index] != Status.ok.rawValue } ?? false }

  /// Makes the failure of the first failed item, if any, this thread's last error.
  func setLastErrorToFirst() {
    if let first { setLastError(first.error.of(item: first.index, in: collection)) }
  }
}

/// Runs the body of a batch call that returns an object for each item. A batch of no items checks its other arguments.
/// - Parameter name: the name of the array of objects.
func batchStatus(
  _ count: Int, _ objects: UnsafeMutablePointer<OpaquePointer?>?, _ name: StaticString,
  _ statuses: UnsafeMutablePointer<bertqa_status>?, _ body: (BatchOutput) throws(BertQAError) -> Void
) -> bertqa_status {
  status { () throws(BertQAError) in
    try checkCount(count)
    try settingAll(statuses, count) { () throws(BertQAError) in
      let objects = UnsafeMutableBufferPointer(
        start: count > 0 ? try required(objects, name) : nil, count: count)
      objects.update(repeating: nil)
      try body(BatchOutput(objects: objects, statuses: statuses))
    }
  }
}

/// Sets the status of every item to that of a failure that ends the whole call.
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

/// Returns a text or a pair of texts.
func textPair(_ raw: bertqa_text_pair) throws(BertQAError) -> TextPair {
  var pair = TextPair(text: try textArgument(raw.text, raw.length, "text"))
  if raw.second != nil || raw.second_length > 0 {
    pair.second = try textArgument(raw.second, raw.second_length, "second")
  }
  return pair
}
