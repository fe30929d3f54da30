import Glibc

extension BertQAError {
  /// The error for a failed system call on a file.
  /// - Parameter code: the error number; by default `errno`, which must still be that of the call.
  static func system(_ action: String, _ path: String, _ code: Int32 = errno) -> BertQAError {
    let status: Status = code == ENOMEM ? .outOfMemory : .io
    return BertQAError(status, "\(path): cannot \(action): \(errorText(code))")
  }
}

/// Returns the system's text for an error number. `strerror` is not thread-safe.
private func errorText(_ code: Int32) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
    guard let base = buffer.baseAddress, strerror_r(code, base, buffer.count) == 0 else {
      return "error \(code)"
    }
    return String(cString: base)
  }
}
