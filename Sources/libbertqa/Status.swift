import BertQACore
import CBertQA
import CBertQAHeader

@_cdecl("bertqa_status_name")
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

@_cdecl("bertqa_last_error")
public func bertqa_last_error() -> UnsafePointer<CChar>? {
  bq_last_error()
}

@_cdecl("bertqa_last_error_item")
public func bertqa_last_error_item() -> Int {
  bq_last_error_item()
}

@_cdecl("bertqa_last_error_argument")
public func bertqa_last_error_argument() -> UnsafePointer<CChar>? {
  bq_last_error_argument()
}
