/// SHA-256 (FIPS 180-4), for the checksums of addresses.
struct SHA256 {
  private var state: [UInt32] = [
    0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
  ]

  private static let constants = fractions(64) { cubeRootFraction(of: $0) }

  static func hash(_ message: [UInt8]) -> [UInt8] {
    var padded = message + [0x80]
    padded += [UInt8](repeating: 0, count: (119 - message.count % 64) % 64)
    let bits = UInt64(message.count) << 3
    padded += (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) }
    var hash = SHA256()
    for block in stride(from: 0, to: padded.count, by: 64) { hash.add(padded[block..<block + 64]) }
    return hash.state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) }
    }
  }

  private mutating func add(_ block: ArraySlice<UInt8>) {
    var words = (0..<16).map { word in
      (0..<4).reduce(0 as UInt32) { $0 << 8 | UInt32(block[block.startIndex + 4 * word + $1]) }
    }
    func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }
    for index in 16..<64 {
      let (early, late) = (words[index - 15], words[index - 2])
      let first = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
      let second = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
      words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
    }
    var s = state
    for index in 0..<64 {
      let choice = s[4] & s[5] ^ ~s[4] & s[6]
      let sum = rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25)
      let first = s[7] &+ sum &+ choice &+ Self.constants[index] &+ words[index]
      let majority = s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2]
      let second = (rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22)) &+ majority
      s = [first &+ second, s[0], s[1], s[2], s[3] &+ first, s[4], s[5], s[6]]
    }
    for index in 0..<8 { state[index] &+= s[index] }
  }

  /// Returns a number for each of the first primes.
  private static func fractions(_ count: Int, _ fraction: (UInt64) -> UInt32) -> [UInt32] {
    var primes: [UInt64] = []
    var candidate: UInt64 = 2
    while primes.count < count {
      if primes.allSatisfy({ candidate % $0 != 0 }) { primes.append(candidate) }
      candidate += 1
    }
    return primes.map(fraction)
  }

  /// The first 32 bits of the fraction of a cube root: the largest r with r * r * r <= prime << 96, whose low 32 bits.
  private static func cubeRootFraction(of prime: UInt64) -> UInt32 {
    var root: UInt64 = 0
    for bit in stride(from: UInt64(35), through: 0, by: -1) {
      let next = root | 1 << bit
      // next < 2^36: its square has 72 bits.
      let square = next.multipliedFullWidth(by: next)
      let low = square.low.multipliedFullWidth(by: next)
      let high = square.high * next + low.high
      if high < prime << 32 || high == prime << 32 && low.low == 0 { root = next }
    }
    return UInt32(truncatingIfNeeded: root)
  }
}

/// Keccak-256 as Ethereum uses it: SHA-3's sponge with the padding of the first submission.
enum Keccak256 {
  private static let rate = 136

  static func hash(_ message: [UInt8]) -> [UInt8] {
    var padded = message + [UInt8](repeating: 0, count: rate - message.count % rate)
    padded[message.count] |= 0x01
    padded[padded.count - 1] |= 0x80
    var lanes = [UInt64](repeating: 0, count: 25)
    for block in stride(from: 0, to: padded.count, by: rate) {
      for index in 0..<rate { lanes[index / 8] ^= UInt64(padded[block + index]) << UInt64(8 * (index % 8)) }
      permute(&lanes)
    }
    return (0..<32).map { UInt8(truncatingIfNeeded: lanes[$0 / 8] >> UInt64(8 * ($0 % 8))) }
  }

  private static func permute(_ lanes: inout [UInt64]) {
    func rotated(_ lane: UInt64, _ count: UInt64) -> UInt64 {
      count == 0 ? lane : lane << count | lane >> (64 - count)
    }
    // The round constants' bits come from a shift register.
    var register: UInt8 = 1
    for _ in 0..<24 {
      let columns = (0..<5).map { x in (0..<5).reduce(0 as UInt64) { $0 ^ lanes[x + 5 * $1] } }
      for x in 0..<5 {
        let mixed = columns[(x + 4) % 5] ^ rotated(columns[(x + 1) % 5], 1)
        for y in 0..<5 { lanes[x + 5 * y] ^= mixed }
      }
      var (x, y, lane) = (1, 0, lanes[1])
      for step in 0..<24 {
        (x, y) = (y, (2 * x + 3 * y) % 5)
        let next = lanes[x + 5 * y]
        lanes[x + 5 * y] = rotated(lane, UInt64((step + 1) * (step + 2) / 2 % 64))
        lane = next
      }
      for y in 0..<5 {
        let row = (0..<5).map { lanes[$0 + 5 * y] }
        for x in 0..<5 { lanes[x + 5 * y] = row[x] ^ ~row[(x + 1) % 5] & row[(x + 2) % 5] }
      }
      for bit in 0..<7 {
        if register & 1 == 1 { lanes[0] ^= 1 << UInt64((1 << bit) - 1) }
        register = register & 0x80 != 0 ? register << 1 ^ 0x71 : register << 1
      }
    }
  }
}
