import Dispatch
import Synchronization
import Testing

@testable import BertQACore

@Suite struct CallMonitorTests {
  @Test func stopsForTheHookAndForTheDeadline() {
    #expect(failure { try CallMonitor(CallOptions()).check() } == nil)
    var options = CallOptions()
    options.cancellation = Cancellation { true }
    #expect(failure { try CallMonitor(options).check() }?.status == .cancelled)
    options.cancellation = Cancellation { false }
    #expect(failure { try CallMonitor(options).check() } == nil)
    options.deadline = 1
    #expect(failure { try CallMonitor(options).check() }?.status == .deadlineExceeded)
    options.deadline = .max
    #expect(failure { try CallMonitor(options).check() } == nil)
  }

  @Test func helpersStopOnceTheCallerHas() {
    var options = CallOptions()
    options.deadline = 1
    let monitor = CallMonitor(options)
    let helper = CallPoll(monitor, isCaller: false)
    #expect(failure { try helper.check() } == nil)
    #expect(failure { try CallPoll(monitor).check() }?.status == .deadlineExceeded)
    #expect(failure { try helper.check() }?.status == .cancelled)
  }

  @Test func limitsMemory() {
    var options = CallOptions()
    options.maxBytes = 100
    let monitor = CallMonitor(options)
    #expect(failure { try monitor.hold(100) } == nil)
    let error = failure { try monitor.hold(1) }
    #expect(error?.status == .tooLarge && error?.argument == "max_bytes")
    monitor.release(50)
    #expect(failure { try monitor.hold(49) } == nil)
    #expect(monitor.heldBytes == 99 && monitor.room == 1)
  }

  /// Memory that a thread may take is not refused because another thread asks for too much at the same time.
  @Test func refusedMemoryRefusesNoOther() {
    let ledger = MemoryLedger(limit: 100)
    final class Refusals: Sendable { let count = Atomic<Int>(0) }
    let refusals = Refusals()
    DispatchQueue.concurrentPerform(iterations: 2) { task in
      for _ in 0..<200_000 {
        let isRefused = failure { try ledger.hold(task == 0 ? 101 : 1) } != nil
        if task == 0 { continue }
        if isRefused { refusals.count.add(1, ordering: .relaxed) } else { ledger.release(1) }
      }
    }
    #expect(refusals.count.load(ordering: .relaxed) == 0 && ledger.heldBytes == 0)
  }

  @Test func arraysAreCountedAsTheyGrow() throws {
    let monitor = CallMonitor(CallOptions())
    var numbers: [Int32] = []
    for number in 0..<100_000 {
      try numbers.makeRoom(for: 1, monitor)
      numbers.append(Int32(number))
      #expect(monitor.heldBytes == numbers.capacity * 4)
    }
    #expect(numbers.last == 99_999)
    var options = CallOptions()
    options.maxBytes = 1000
    let limited = CallMonitor(options)
    var few: [Int32] = []
    #expect(
      failure {
        for number in 0..<1000 {
          try few.makeRoom(for: 1, limited)
          few.append(Int32(number))
        }
      }?.argument == "max_bytes")
    #expect(few.capacity * 4 == limited.heldBytes && few.count < 250)
  }

  @Test func memoryOfAPartGoesWithIt() throws {
    var options = CallOptions()
    options.maxBytes = 1000
    let monitor = CallMonitor(options)
    do {
      let part = MemoryLedger(partOf: monitor.ledger)
      try part.hold(600)
      let buffer = try GrowableBuffer<UInt8>(repeating: 0, count: 300, part)
      #expect(monitor.heldBytes == 900 && buffer.byteCount == 300)
      #expect(failure { try part.hold(101) }?.status == .tooLarge)
      #expect(monitor.heldBytes == 900 && part.room == 100)
    }
    #expect(monitor.heldBytes == 0)
    #expect(
      failure {
        try monitor.undoing { () throws(BertQAError) in
          try monitor.hold(500)
          try monitor.hold(501)
        }
      } != nil)
    #expect(monitor.heldBytes == 0)
    try monitor.temporarily { () throws(BertQAError) in try monitor.hold(1000) }
    #expect(monitor.heldBytes == 0)
    // The first results are free, however they come.
    for _ in 0..<64 { try monitor.ledger.holdResult(1 << 10) }
    #expect(monitor.heldBytes == 0)
    try monitor.ledger.holdResult(10)
    #expect(monitor.heldBytes == 10)
  }
}

@Test func errorDescribesItself() {
  #expect(BertQAError(.io, "config.json: not found").description == "config.json: not found")
}
