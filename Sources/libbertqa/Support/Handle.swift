import BertQACore
import CBertQAHeader

/// An object that a C caller owns through an opaque pointer.
protocol Handle: AnyObject {}

extension Handle {
  /// Hands the object to the caller, who passes it to `release` later.
  func passed() -> OpaquePointer {
    OpaquePointer(Unmanaged.passRetained(self).toOpaque())
  }

  static func borrowed(_ pointer: OpaquePointer?) -> Self? {
    pointer.map { Unmanaged<Self>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
  }

  static func borrowed(_ pointer: OpaquePointer?, _ name: StaticString) throws(BertQAError) -> Self {
    try required(borrowed(pointer), name)
  }

  @inline(__always)
  static func release(_ pointer: OpaquePointer?) {
    guard let pointer else { return }
    insideGate { Unmanaged<Self>.fromOpaque(UnsafeRawPointer(pointer)).release() }
  }
}

/// Passes the object that `body` makes to the caller, or NULL if it fails.
func created<Object: Handle>(
  _ pointer: UnsafeMutablePointer<OpaquePointer?>?, _ name: StaticString,
  by body: () throws(BertQAError) -> Object
) -> bertqa_status {
  status { () throws(BertQAError) in
    let out = try required(pointer, name)
    out.pointee = nil
    out.pointee = try body().passed()
  }
}
