import BertQACore
import CBertQAHeader

@c @implementation
public func bertqa_abi_version() -> UInt32 {
  UInt32(BERTQA_ABI_VERSION)
}

@c @implementation
public func bertqa_version() -> UnsafePointer<CChar>? {
  staticCString(libraryVersion)
}

@c @implementation
public func bertqa_status_name(_ status: bertqa_status) -> UnsafePointer<CChar>? {
  let name: StaticString =
    switch Status(rawValue: status) {
    case .ok: "BERTQA_OK"
    case .invalidArgument: "BERTQA_ERROR_INVALID_ARGUMENT"
    case .io: "BERTQA_ERROR_IO"
    case .invalidModel: "BERTQA_ERROR_INVALID_MODEL"
    case .unsupported: "BERTQA_ERROR_UNSUPPORTED"
    case .wrongModel: "BERTQA_ERROR_WRONG_MODEL"
    case .outOfMemory: "BERTQA_ERROR_OUT_OF_MEMORY"
    case .cancelled: "BERTQA_ERROR_CANCELLED"
    case .tooLarge: "BERTQA_ERROR_TOO_LARGE"
    case .internal: "BERTQA_ERROR_INTERNAL"
    case .deadlineExceeded: "BERTQA_ERROR_DEADLINE_EXCEEDED"
    case nil: "unknown status"
    }
  return staticCString(name)
}

@c @implementation
public func bertqa_last_error() -> UnsafePointer<CChar>? {
  LastError.message
}

private func staticCString(_ string: StaticString) -> UnsafePointer<CChar> {
  UnsafeRawPointer(string.utf8Start).assumingMemoryBound(to: CChar.self)
}
