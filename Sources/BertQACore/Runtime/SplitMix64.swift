/// Pseudo-random numbers from a seed, the same on every machine (Steele, Lea & Flood 2014, *Fast Splittable
/// Pseudorandom Number Generators*).
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= Self.increment
    return Self.mixed(state)
  }

  /// 2⁶⁴ divided by the golden ratio, odd.
  static var increment: UInt64 { 0x9E37_79B9_7F4A_7C15 }

  /// The finaliser: a bijection in which each bit of the result depends on all bits of `value`.
  static func mixed(_ value: UInt64) -> UInt64 {
    var mixed = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// Returns a multiple of 2⁻⁵³ in 0 ..< 1.
  mutating func nextUnit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Shuffles by the method of Fisher and Yates.
  mutating func shuffle(_ elements: inout [Int]) {
    for last in stride(from: elements.count - 1, to: 0, by: -1) {
      elements.swapAt(last, Int(next() % UInt64(last + 1)))
    }
  }
}
