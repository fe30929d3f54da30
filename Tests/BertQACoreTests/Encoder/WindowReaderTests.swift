import Testing

@testable import BertQACore

@Suite struct WindowReaderTests {
  /// A window, or the failure of an item: nil.
  private struct Event: Equatable {
    var item: Int
    var window: Int?
  }

  private static let refusal = BertQAError(.invalidArgument, "refused")
  private static let count = 60

  /// A third of the items cannot be prepared; the last window but one of some others is refused.
  private static func cannotBePrepared(_ item: Int) -> Bool { item % 3 == 2 }
  private static func windowCount(_ item: Int) -> Int { item % 7 }
  private static func isRefused(_ item: Int, _ window: Int) -> Bool {
    item % 4 == 1 && window == windowCount(item) - 2
  }

  private static var expected: [Event] {
    var events: [Event] = []
    for item in 0..<count {
      if cannotBePrepared(item) {
        events.append(Event(item: item, window: nil))
        continue
      }
      for window in 0..<windowCount(item) {
        events.append(Event(item: item, window: isRefused(item, window) ? nil : window))
        if isRefused(item, window) { break }
      }
    }
    return events
  }

  /// An item's windows and failures come after those of the items before it, however the windows are divided into
  /// slices: callers add up the windows of one item at a time.
  @Test(arguments: [1, 10, 25, 100, 10_000], [1, 2, 5, 10_000])
  func eventsComeInTheOrderOfTheItems(sliceTokens: Int, sliceWindows: Int) throws {
    var reader = WindowReader(
      tokenizer: SpanSearchTests.tokenizer, model: FakeModel.random(seed: 3), maxPositions: 16)
    (reader.sliceTokens, reader.sliceWindows) = (sliceTokens, sliceWindows)
    var events: [Event] = []
    let monitor = CallMonitor(CallOptions())
    try reader.read(count: Self.count, called: "texts", monitor) { item throws(BertQAError) in
      if Self.cannotBePrepared(item) { throw Self.refusal }
      let window = WindowLayout.Parts(first: 0..<3)
      return WindowReader.Item(
        first: [3, 4, 5], second: nil, windows: Array(repeating: window, count: Self.windowCount(item)))
    } failed: { item, _ throws(BertQAError) in
      events.append(Event(item: item, window: nil))
    } deliver: { output throws(BertQAError) in
      if Self.isRefused(output.item, output.window) { throw Self.refusal }
      events.append(Event(item: output.item, window: output.window))
    }
    #expect(events == Self.expected)
  }
}
