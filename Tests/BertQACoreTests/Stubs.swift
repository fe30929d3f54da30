@testable import BertQACore

// Stand-ins for the branches `kernels` and `qa`.
struct TestRandom: RandomNumberGenerator {
  var state: UInt64

  init(_ seed: Int) { state = UInt64(truncatingIfNeeded: seed) &* 0x2545_F491_4F6C_DD1D }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func floats(_ count: Int, _ range: ClosedRange<Float> = -1...1) -> [Float] {
    (0..<count).map { _ in Float.random(in: range, using: &self) }
  }
}

func failure(_ body: () throws -> Void) -> BertQAError? {
  do {
    try body()
    return nil
  } catch {
    return error as? BertQAError
  }
}
