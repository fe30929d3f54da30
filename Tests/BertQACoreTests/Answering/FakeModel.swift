import Synchronization

@testable import BertQACore

/// Logits by a function of a window's ids and the position in it. Counts its calls and windows.
final class FakeModel: WindowModel {
  typealias Rule = @Sendable (_ ids: ArraySlice<Int32>, _ position: Int) -> (start: Float, end: Float)

  let rule: Rule
  let windowsPerCall = Mutex<[Int]>([])

  init(_ rule: @escaping Rule) { self.rule = rule }

  func outputs(
    of batch: WindowBatch, giving input: HeadInput?, _ monitor: CallMonitor?
  ) throws(BertQAError) -> HeadOutputs {
    windowsPerCall.withLock { $0.append(batch.windows.count) }
    var result: (start: [Float], end: [Float]) = ([], [])
    for window in batch.windows {
      try monitor?.check()
      let ids = batch.ids[window.firstToken..<(window.firstToken + window.tokenCount)]
      for position in 0..<window.tokenCount {
        let (start, end) = rule(ids, position)
        result.start.append(start)
        result.end.append(end)
      }
    }
    return HeadOutputs(input: .tokens, columns: 2, values: result.start + result.end)
  }
}

extension FakeModel {
  /// Logits that look random, but are a function of the whole window and the position in it. Multiples of
  /// `quantum`, so that there are ties, if it is not 0.
  static func random(seed: UInt64, spread: Float = 4, quantum: Float = 0) -> FakeModel {
    FakeModel { ids, position in
      var hash = seed
      for id in ids { hash = mix(hash ^ UInt64(UInt32(bitPattern: id))) }
      hash = mix(hash &+ UInt64(position))
      func logit(_ bits: UInt64) -> Float {
        let value = (Float(bits & 0xFFFF) / 32768 - 1) * spread
        return quantum > 0 ? (value / quantum).rounded() * quantum : value
      }
      return (logit(hash), logit(hash >> 16))
    }
  }

  /// Logits that depend on the token alone: 5 for `start` and `end`, 0 for [CLS], -5 for others.
  static func marking(start: Int32, end: Int32) -> FakeModel {
    FakeModel { ids, position in
      let id = ids[ids.startIndex + position]
      return id == 0 ? (0, 0) : (id == start ? 5 : -5, id == end ? 5 : -5)
    }
  }
}

private func mix(_ value: UInt64) -> UInt64 { SplitMix64.mixed(value &+ SplitMix64.increment) }
