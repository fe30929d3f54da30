import CTestSupport
import Foundation
import Synchronization
import Testing

@testable import BertQACore

private func bits(_ logits: (start: [Float], end: [Float])) -> [UInt32] {
  (logits.start + logits.end).map(\.bitPattern)
}

@Suite struct EncoderTests {
  @Test(arguments: TinyModel.names, instructionSets)
  func logitsAreThoseOfTransformers(name: String, isa: Int32) throws {
    let tiny = try TinyModel(name)
    let encoder = try #require(try tiny.encoder(isa: isa))
    #expect(!tiny.sets.isEmpty)
    for set in tiny.sets {
      let logits = try encoder.logits(of: WindowBatch(set))
      #expect(logits.start.count == set.reduce(0) { $0 + $1.ids.count })
      #expect(
        distance([logits.start, logits.end], [set.flatMap(\.start), set.flatMap(\.end)]) < 1e-4)
    }
  }

  @Test(arguments: TinyModel.names, instructionSets)
  func companyChangesNoBit(name: String, isa: Int32) throws {
    let tiny = try TinyModel(name)
    let encoder = try #require(try tiny.encoder(isa: isa))
    let windows = tiny.sets.flatMap { $0 }
    let together = try encoder.logits(of: WindowBatch(windows))
    let backwards = try encoder.logits(of: WindowBatch(windows.reversed()))
    var (first, last) = (0, together.start.count)
    for window in windows {
      let alone = bits(try encoder.logits(of: WindowBatch([window])))
      let range = first..<first + window.ids.count
      #expect(bits((Array(together.start[range]), Array(together.end[range]))) == alone)
      let mirrored = last - window.ids.count..<last
      #expect(bits((Array(backwards.start[mirrored]), Array(backwards.end[mirrored]))) == alone)
      first = range.upperBound
      last = mirrored.lowerBound
    }
  }

  @Test(
    arguments: [
      "tiny-bert", "tiny-roberta", "tiny-albert", "tiny-deberta", "tiny-mobilebert", "tiny-longformer",
    ],
    instructionSets)
  func threadsChangeNoBit(name: String, isa: Int32) throws {
    let tiny = try TinyModel(name)
    let one = try #require(try tiny.encoder(threads: 1, isa: isa))
    let longest = tiny.model.configuration.maxPositions
    for lengths in [[128], [17], [33, 33], [90, 128, 1, 7, 128, 55, 31, 128, 128, 128, 99]] {
      let batch = tiny.batch(lengths: lengths.map { min($0, longest) })
      let expected = bits(try one.logits(of: batch))
      for threads in [2, 3, 5, 16, 0] {
        let encoder = try #require(try tiny.encoder(threads: threads, isa: isa))
        for _ in 0..<3 { #expect(bits(try encoder.logits(of: batch)) == expected) }
      }
    }
  }

  @Test func anyLengthInAnyOrder() throws {
    // Every length and every position within a block, one after the other through the same memory.
    let tiny = try TinyModel("tiny-distilbert")
    let encoder = try #require(try tiny.encoder(threads: 2))
    for length in 1...128 {
      let batch = tiny.batch(lengths: [length])
      let alone = try encoder.logits(of: batch)
      let led = tiny.batch(lengths: [length, 128 - length + 1, length])
      let company = try encoder.logits(of: led)
      #expect(bits((Array(company.start[..<length]), Array(company.end[..<length]))) == bits(alone))
    }
  }

  @Test func emptyBatchesAndWindows() throws {
    let tiny = try TinyModel("tiny-bert")
    let encoder = try #require(try tiny.encoder(threads: 2))
    let nothing = try encoder.logits(of: WindowBatch())
    #expect(nothing.start.isEmpty && nothing.end.isEmpty)
    var batch = tiny.batch(lengths: [0, 9, 0])
    batch.ids += [1, 2]
    let logits = try encoder.logits(of: batch)
    #expect(logits.start.count == 11 && logits.start[9...] == [0, 0])
    #expect(logits.start[..<9].allSatisfy { $0 != 0 })
  }

  @Test func badBatchesThrow() throws {
    let tiny = try TinyModel("tiny-bert")
    let encoder = try #require(try tiny.encoder())
    func status(_ change: (inout WindowBatch) -> Void) -> Status? {
      var batch = tiny.batch(lengths: [8, 8])
      change(&batch)
      do {
        _ = try encoder.logits(of: batch)
        return nil
      } catch { return error.status }
    }
    #expect(status { _ in } == nil)
    #expect(status { $0 = tiny.batch(lengths: [129]) } == .invalidArgument)
    #expect(status { $0.ids[3] = Int32(tiny.model.configuration.vocabSize) } == .internal)
    #expect(status { $0.ids[3] = -1 } == .internal)
    #expect(status { $0.windows[1].firstToken = 9 } == .internal)
    #expect(status { $0.windows[1].firstToken = .max } == .internal)
    #expect(status { $0.windows[1].firstToken = -1 } == .internal)
    #expect(status { $0.windows[1].tokenCount = -1 } == .internal)
    #expect(status { $0.windows[1].secondSegment = .max } == nil)
  }

  @Test(arguments: [1, 2, 5])
  func cancelledCallsThrowAndLeaveTheEncoderUsable(threads: Int) throws {
    final class Hook: @unchecked Sendable {
      let thread = pthread_self()
      let calls = Atomic<Int>(0)
      let strangers = Atomic<Int>(0)
    }
    let tiny = try TinyModel("tiny-bert")
    let encoder = try #require(try tiny.encoder(threads: threads))
    let small = tiny.batch(lengths: [20, 128])
    let expected = bits(try encoder.logits(of: small))
    let large = tiny.batch(lengths: [Int](repeating: 128, count: 3000))
    for callsUntilStop in [1, 3] {
      let hook = Hook()
      let cancellation = Cancellation {
        if pthread_equal(pthread_self(), hook.thread) == 0 {
          hook.strangers.add(1, ordering: .relaxed)
        }
        return hook.calls.add(1, ordering: .relaxed).newValue >= callsUntilStop
      }
      #expect { try encoder.logits(of: large, cancellation: cancellation) } throws: {
        ($0 as? BertQAError)?.status == .cancelled
      }
      #expect(hook.calls.load(ordering: .relaxed) == callsUntilStop)
      #expect(hook.strangers.load(ordering: .relaxed) == 0)
      #expect(bits(try encoder.logits(of: small, cancellation: Cancellation { false })) == expected)
    }
  }

  @Test func manyThreadsShareAnEncoder() throws {
    let tiny = try TinyModel("tiny-bert")
    let encoder = try #require(try tiny.encoder(threads: 4))
    let batches = [[128], [5, 60, 33], [16], [100, 128, 128, 128, 128, 9]].map(tiny.batch(lengths:))
    let expected = try batches.map { bits(try encoder.logits(of: $0)) }
    let wrong = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 16) { caller in
      for round in 0..<20 {
        let which = (caller + round) % batches.count
        let logits = try? encoder.logits(of: batches[which])
        if logits.map(bits) != expected[which] { wrong.add(1, ordering: .relaxed) }
      }
    }
    #expect(wrong.load(ordering: .relaxed) == 0)
  }
}
