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
  }
}
