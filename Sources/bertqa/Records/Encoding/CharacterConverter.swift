import CCodecs
import Glibc

/// A conversion of the C library from one encoding to another, piece by piece.
final class CharacterConverter {
  private let handle: iconv_t

  private static let room = 1 << 14

  /// nil if the C library does not know it.
  init?(from: String, to: String) {
    guard let handle = iconv_open(to, from), Int(bitPattern: handle) != -1 else { return nil }
    self.handle = handle
  }

  deinit { iconv_close(handle) }

  /// Appends what `input` is in the other encoding. Returns how many of its bytes that was: all but the beginning
  /// of a character at the end.
  /// - Parameter invalid: called where the rest of the input begins with what is not valid, or has no form in the
  ///   other encoding; returns how many bytes to leave out, at least 1.
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
        let wrong = UnsafeBufferPointer(rebasing: input[taken...])
        taken += min(wrong.count, max(1, invalid(wrong, &output)))
      }
    }
    return taken
  }

  /// Appends what returns to the state of a text's beginning, for encodings that have states.
  func finish(_ output: inout [UInt8]) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { room in
      var (start, count) = (room.baseAddress, room.count)
      _ = iconv(handle, nil, nil, &start, &count)
      output += UnsafeRawBufferPointer(room).prefix(room.count - count)
    }
  }

  /// Bytes consumed, and errno, or 0.
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
