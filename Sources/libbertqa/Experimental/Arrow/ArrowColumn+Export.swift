import BertQACore
import CBertQAHeader
import Glibc

/// The caller's structs for a column. Both are marked as released at once, so that a failed call leaves nothing to
/// release.
struct ArrowOutput {
  private let array: UnsafeMutablePointer<ArrowArray>
  private let schema: UnsafeMutablePointer<ArrowSchema>

  init(
    _ array: UnsafeMutablePointer<ArrowArray>?, _ name: StaticString,
    _ schema: UnsafeMutablePointer<ArrowSchema>?
  ) throws(BertQAError) {
    array?.pointee = ArrowArray()
    schema?.pointee = ArrowSchema()
    self.array = try required(array, name)
    self.schema = try required(schema, "schema")
  }

  /// Makes a column of copies of the buffers, and moves the children into it.
  /// - Parameter children: with their schemas, as many.
  func take(
    format: UnsafePointer<CChar>, name: UnsafePointer<CChar>, length: Int64, nullCount: Int64,
    buffers: UnsafeBufferPointer<bertqa_text>, children: UnsafeMutableBufferPointer<ArrowArray>,
    childSchemas: UnsafeMutableBufferPointer<ArrowSchema>, _ monitor: CallMonitor
  ) throws(BertQAError) {
    do throws(BertQAError) {
      try begin(format, name, length: length, nullCount: nullCount, bufferCount: buffers.count)
      for buffer in buffers { try addBuffer(buffer.text, buffer.length, monitor) }
      try makeChildren(children.count)
    } catch {
      schema.pointee.release?(schema)
      array.pointee.release?(array)
      throw error
    }
    for index in children.indices {
      array.pointee.children[index]?.pointee = children[index]
      schema.pointee.children[index]?.pointee = childSchemas[index]
      children[index].release = nil
      childSchemas[index].release = nil
    }
  }

  /// Hands a column over. The structs own all memory they point to until their release callbacks are called.
  func take(_ column: ArrowColumn, _ monitor: CallMonitor) throws(BertQAError) {
    do throws(BertQAError) {
      try fill(column, monitor)
    } catch {
      schema.pointee.release?(schema)
      array.pointee.release?(array)
      throw error
    }
  }

  private func fill(_ column: ArrowColumn, _ monitor: CallMonitor) throws(BertQAError) {
    let buffers: [[UInt8]?] = [column.validity] + column.buffers
    try begin(
      column.format, column.name, length: Int64(column.length), nullCount: Int64(column.nullCount),
      bufferCount: buffers.count)
    for buffer in buffers { try addBuffer(buffer, buffer?.count ?? 0, monitor) }
    try makeChildren(column.children.count)
    for (index, child) in column.children.enumerated() {
      try ArrowOutput(array.pointee.children[index], "array", schema.pointee.children[index]).fill(
        child, monitor)
    }
  }

  /// Sets the release callbacks first, so that they can free structs that were filled in part.
  private func begin(
    _ format: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>, length: Int64, nullCount: Int64,
    bufferCount: Int
  ) throws(BertQAError) {
    schema.pointee.release = releaseSchema
    schema.pointee.format = UnsafePointer(try allocated(strdup(format)))
    schema.pointee.name = UnsafePointer(try allocated(strdup(name)))
    schema.pointee.flags = Int64(ARROW_FLAG_NULLABLE)
    array.pointee.release = releaseArray
    array.pointee.length = length
    array.pointee.null_count = nullCount
    array.pointee.buffers = try zeroed(bufferCount)
  }

  /// Adds a copy of a buffer, at a multiple of 64 bytes, as Arrow recommends.
  /// - Parameter bytes: nil for a buffer that the column lacks.
  private func addBuffer(
    _ bytes: UnsafeRawPointer?, _ count: Int, _ monitor: CallMonitor
  ) throws(BertQAError) {
    let index = Int(array.pointee.n_buffers)
    array.pointee.n_buffers += 1
    guard let bytes else { return }
    try monitor.hold(count)
    let copy = try allocated(aligned_alloc(64, (max(1, count) + 63) / 64 * 64))
    copy.copyMemory(from: bytes, byteCount: count)
    array.pointee.buffers[index] = UnsafeRawPointer(copy)
  }

  /// Makes children that count as released.
  private func makeChildren(_ count: Int) throws(BertQAError) {
    if count == 0 { return }
    array.pointee.children = try zeroed(count)
    schema.pointee.children = try zeroed(count)
    for index in 0..<count {
      array.pointee.children[index] = try zeroed(1)
      array.pointee.n_children += 1
      schema.pointee.children[index] = try zeroed(1)
      schema.pointee.n_children += 1
    }
  }
}

private func allocated<T>(_ pointer: T?) throws(BertQAError) -> T {
  guard let pointer else { throw BertQAError(.outOfMemory, "cannot allocate memory for an Arrow column") }
  return pointer
}

private func zeroed<T>(_ count: Int) throws(BertQAError) -> UnsafeMutablePointer<T> {
  try allocated(calloc(count, MemoryLayout<T>.stride)).assumingMemoryBound(to: T.self)
}

private let releaseSchema: @convention(c) (UnsafeMutablePointer<ArrowSchema>?) -> Void = { schema in
  insideGate {
    guard let schema else { return }
    free(UnsafeMutablePointer(mutating: schema.pointee.format))
    free(UnsafeMutablePointer(mutating: schema.pointee.name))
    for index in 0..<Int(schema.pointee.n_children) {
      // The consumer sets `release` of a child to NULL when it moves the child out.
      guard let child = schema.pointee.children[index] else { continue }
      child.pointee.release?(child)
      free(child)
    }
    free(schema.pointee.children)
    schema.pointee.release = nil
  }
}

private let releaseArray: @convention(c) (UnsafeMutablePointer<ArrowArray>?) -> Void = { array in
  insideGate {
    guard let array else { return }
    for index in 0..<Int(array.pointee.n_buffers) {
      free(UnsafeMutableRawPointer(mutating: array.pointee.buffers[index]))
    }
    free(array.pointee.buffers)
    for index in 0..<Int(array.pointee.n_children) {
      guard let child = array.pointee.children[index] else { continue }
      child.pointee.release?(child)
      free(child)
    }
    free(array.pointee.children)
    array.pointee.release = nil
  }
}
