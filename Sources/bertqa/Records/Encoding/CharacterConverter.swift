import CCodecs
import Glibc

/// A streaming conversion between two character encodings by the C library's iconv.
final class CharacterConverter {
  private let handle: iconv_t
  private let from: String
  private let to: String
  /// True if a letter is held back until what follows shows that it is no mark on the letter: encodings of Vietnamese.
  private lazy var holdsBack: Bool = {
    var output: [UInt8] = []
    let taken = [UInt8(ascii: "A")].withUnsafeBufferPointer { letter in
      CharacterConverter(from: from, to: to)?.step(letter, &output).0
    }
    return taken == 1 && output.isEmpty
  }()

  private static let room = 1 << 14

  /// Returns nil if the C library does not support the conversion.
  init?(from: String, to: String) {
    guard let handle = iconv_open(to, from), Int(bitPattern: handle) != -1 else { return nil }
    (self.handle, self.from, self.to) = (handle, from, to)
  }

  deinit { iconv_close(handle) }

  /// Appends `input` in the target encoding. Returns the number of bytes consumed: all but an incomplete
  /// character at the end.
  /// - Parameter invalid: called if the rest of the input begins with bytes that are invalid or that the
  ///   target encoding cannot represent. Returns the number of bytes to skip, at least 1.
  func convert(
    _ input: UnsafeBufferPointer<UInt8>, to output: inout [UInt8],
    invalid: (UnsafeBufferPointer<UInt8>, inout [UInt8]) -> Int
  ) -> Int {
    var taken = 0
    while taken < input.count {
      let rest = UnsafeBufferPointer(rebasing: input[taken...])
      let (consumed, problem) = step(rest, &output)
      taken += consumed
      switch problem {
      case 0, E2BIG: break
      case EINVAL: return taken
      default:
        // It comes before the invalid bytes.
        if holdsBack { finish(&output) }
        let wrong = UnsafeBufferPointer(rebasing: input[taken...])
        taken += min(wrong.count, max(1, invalid(wrong, &output)))
      }
    }
    return taken
  }

  /// Appends the bytes that return a stateful encoding to its initial state, and a character that was held back because
  /// marks could have followed it.
  func finish(_ output: inout [UInt8]) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { room in
      var (start, count) = (room.baseAddress, room.count)
      _ = iconv(handle, nil, nil, &start, &count)
      output += UnsafeRawBufferPointer(room).prefix(room.count - count)
    }
  }

  /// Converts once. Returns the number of bytes consumed, and errno or 0.
  private func step(_ input: UnsafeBufferPointer<UInt8>, _ output: inout [UInt8]) -> (Int, Int32) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Self.room) { room in
      var source = UnsafeMutablePointer<CChar>(
        mutating: UnsafeRawPointer(input.baseAddress)?.assumingMemoryBound(to: CChar.self))
      var (sourceCount, target, targetCount) = (input.count, room.baseAddress, room.count)
      let result = iconv(handle, &source, &sourceCount, &target, &targetCount)
      let problem = result == -1 ? errno : 0
      output += UnsafeRawBufferPointer(room).prefix(room.count - targetCount)
      return (input.count - sourceCount, problem)
    }
  }
}
