import Glibc

extension BertQAError {
  /// A failed system call on a file: `errno` must still be that of the call.
  static func system(_ action: String, _ path: String) -> BertQAError {
    let code = errno
    let status: Status = code == ENOMEM ? .outOfMemory : .io
    return BertQAError(status, "\(path): cannot \(action): \(errorText(code))")
  }
}

/// The system's text for an error number. `strerror` may not be called from several threads.
private func errorText(_ code: Int32) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
    guard let base = buffer.baseAddress, strerror_r(code, base, buffer.count) == 0 else {
      return "error \(code)"
    }
    return String(cString: base)
  }
}
