import BertQACore
import CBertQA
import CBertQAHeader

/// Runs the body of an ABI function. A thrown error becomes its status and this thread's last error.
func status(of body: () throws(BertQAError) -> Void) -> bertqa_status {
  insideGate {
    do throws(BertQAError) {
      try body()
      return Status.ok.rawValue
    } catch {
      return setLastError(error)
    }
  }
}

/// Keeps a failure for `bertqa_last_error`, `bertqa_last_error_item` and `bertqa_last_error_argument` on this thread.
/// - Returns: the failure's status.
@discardableResult
func setLastError(_ error: BertQAError) -> bertqa_status {
  let message = oneLine(error.message)
  let argument = Array((error.argument ?? "").utf8)
  message.withUnsafeBytes { message in
    argument.withUnsafeBytes { argument in
      bq_set_last_error(
        message.bindMemory(to: CChar.self).baseAddress, message.count,
        argument.bindMemory(to: CChar.self).baseAddress, argument.count, error.item ?? -1)
    }
  }
  return error.status.rawValue
}

/// Returns a message as UTF-8, truncated to the limit. Escapes characters that break a line or control a terminal.
private func oneLine(_ message: String) -> [UInt8] {
  let limit = Int(BQ_ERROR_SIZE) - 1
  let ellipsis = Array("...".utf8)
  var bytes: [UInt8] = []
  /// The position of the ellipsis if the rest does not fit.
  var cut = 0
  for scalar in message.unicodeScalars {
    let next = isPrintable(scalar) ? Array(String(scalar).utf8) : escape(scalar)
    guard bytes.count + next.count <= limit else { return bytes[..<cut] + ellipsis }
    bytes += next
    if bytes.count <= limit - ellipsis.count { cut = bytes.count }
  }
  return bytes
}

/// False for control characters, line and paragraph separators, and bidirectional controls.
private func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case ..<0x20, 0x7F...0x9F, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: false
  default: true
  }
}

private func escape(_ scalar: Unicode.Scalar) -> [UInt8] {
  switch scalar {
  case "\n": Array("\\n".utf8)
  case "\r": Array("\\r".utf8)
  case "\t": Array("\\t".utf8)
  default: Array("\\u{\(String(scalar.value, radix: 16, uppercase: true))}".utf8)
  }
}
