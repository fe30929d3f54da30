/// Replaces `withUnsafeBufferPointer` and `withUnsafeMutableBufferPointer`, which lose the type of an error
/// in Swift 6.0.
extension Array {
  @inline(__always)
  package func withElements<Result, Failure>(
    _ body: (UnsafeBufferPointer<Element>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeBufferPointer { elements in
      Swift.Result { () throws(Failure) in try body(elements) }
    }.get()
  }

  @inline(__always)
  package mutating func withMutableElements<Result, Failure>(
    _ body: (UnsafeMutableBufferPointer<Element>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeMutableBufferPointer { elements in
      Swift.Result { () throws(Failure) in try body(elements) }
    }.get()
  }
}
