/// SHA-256 (FIPS 180-4): for the checksums of addresses, and for keyed hashes.
struct SHA256 {
  private var state: [UInt32] = [
    0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
  ]
  /// The bytes after the last whole block.
  private var rest: [UInt8] = []
  private var count = 0
  private var words = [UInt32](repeating: 0, count: 64)

  static let blockSize = 64
  private static let constants = fractions(64) { cubeRootFraction(of: $0) }

  static func hash(_ message: [UInt8]) -> [UInt8] {
    var hash = SHA256()
    message.withUnsafeBufferPointer { hash.update($0) }
    return hash.finish()
  }

  mutating func update(_ bytes: UnsafeBufferPointer<UInt8>) {
    count += bytes.count
    var position = 0
    if !rest.isEmpty {
      position = min(Self.blockSize - rest.count, bytes.count)
      rest += bytes[..<position]
      guard rest.count == Self.blockSize else { return }
      let block = rest
      rest = []
      block.withUnsafeBufferPointer { add($0, at: 0) }
    }
    while position + Self.blockSize <= bytes.count {
      add(bytes, at: position)
      position += Self.blockSize
    }
    rest += bytes[position...]
  }

  /// Returns the digest of all bytes.
  mutating func finish() -> [UInt8] {
    let bits = UInt64(count) << 3
    var end: [UInt8] = [0x80]
    end += [UInt8](repeating: 0, count: (119 - count % Self.blockSize) % Self.blockSize)
    end += (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) }
    end.withUnsafeBufferPointer { update($0) }
    return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) } }
  }

  private mutating func add(_ block: UnsafeBufferPointer<UInt8>, at position: Int) {
    func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }
    for index in 0..<16 {
      let byte = position + 4 * index
      words[index] =
        UInt32(block[byte]) << 24 | UInt32(block[byte + 1]) << 16 | UInt32(block[byte + 2]) << 8
        | UInt32(block[byte + 3])
    }
    for index in 16..<64 {
      let (early, late) = (words[index - 15], words[index - 2])
      let first = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
      let second = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
      words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for index in 0..<64 {
      let sum = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
      let first = h &+ sum &+ (e & f ^ ~e & g) &+ Self.constants[index] &+ words[index]
      let majority = a & b ^ a & c ^ b & c
      let second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ majority
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ second)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
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

/// HMAC (RFC 2104) with SHA-256.
struct HMAC {
  private var inner = SHA256()
  private var outer = SHA256()

  init(key: [UInt8]) {
    var block = key.count > SHA256.blockSize ? SHA256.hash(key) : key
    block += [UInt8](repeating: 0, count: SHA256.blockSize - block.count)
    block.map { $0 ^ 0x36 }.withUnsafeBufferPointer { inner.update($0) }
    block.map { $0 ^ 0x5C }.withUnsafeBufferPointer { outer.update($0) }
  }

  mutating func update(_ bytes: UnsafeBufferPointer<UInt8>) { inner.update(bytes) }

  /// Returns the 32 bytes of the code.
  mutating func finish() -> [UInt8] {
    inner.finish().withUnsafeBufferPointer { outer.update($0) }
    return outer.finish()
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
