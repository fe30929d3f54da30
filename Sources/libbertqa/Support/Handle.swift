import BertQACore

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
