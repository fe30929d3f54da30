import CCodecs
import Glibc

/// The zlib functions for gzip files. zlib's state points back at its stream, so the stream must not move.
private struct Zlib {
  typealias Stream = UnsafeMutablePointer<codecs_z_stream>
  typealias OnStream = @convention(c) (Stream) -> Int32
  typealias Step = @convention(c) (Stream, Int32) -> Int32

  static let ok: Int32 = 0  // Z_OK
  static let streamEnd: Int32 = 1  // Z_STREAM_END
  static let bufferError: Int32 = -5  // Z_BUF_ERROR: no progress was possible
  static let outOfMemory: Int32 = -4  // Z_MEM_ERROR
  /// The window bits for both directions: the largest window (15) in gzip format (16).
  static let gzipWindow: Int32 = 15 + 16
  /// The version of zlib's header that these declarations follow; zlib checks only the major version.
  static let version = "1.2.11"

  static func makeStream() -> Stream {
    let stream = Stream.allocate(capacity: 1)
    stream.initialize(to: codecs_z_stream())
    return stream
  }

  static func check(_ code: Int32) throws(ToolError) {
    guard code == ok else { throw ToolError(.resources, "zlib cannot begin: code \(code)") }
  }
}

/// Decodes a sequence of gzip members (RFC 1952). Zero bytes after a member are padding.
final class GzipDecoder: StreamDecoder {
  private let stream = Zlib.makeStream()
  private let inflate: Zlib.Step
  private let inflateReset: Zlib.OnStream
  private let inflateEnd: Zlib.OnStream
  /// True if the next byte begins a member or is padding after one.
  private var isBetween = false

  init(_ zlib: SharedLibrary) throws(ToolError) {
    inflate = try zlib.function("inflate")
    inflateReset = try zlib.function("inflateReset")
    inflateEnd = try zlib.function("inflateEnd")
    let begin = try zlib.function(
      "inflateInit2_",
      as: (@convention(c) (Zlib.Stream, Int32, UnsafePointer<CChar>, Int32) -> Int32).self)
    try Zlib.check(
      begin(stream, Zlib.gzipWindow, Zlib.version, Int32(MemoryLayout<codecs_z_stream>.size)))
  }

  deinit {
    _ = inflateEnd(stream)
    stream.deallocate()
  }

  var isWhole: Bool { isBetween }

  func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecoderStep {
    var step = DecoderStep()
    if isBetween {
      while step.consumed < input.count, input[step.consumed] == 0 { step.consumed += 1 }
      guard step.consumed < input.count else { return step }
      guard input[step.consumed] == Compression.gzip.magic[0] else {
        step.flaw = "what follows its last member is not gzip data"
        return step
      }
      isBetween = false
      _ = inflateReset(stream)
    }
    let rest = UnsafeRawBufferPointer(rebasing: input.dropFirst(step.consumed))
    stream.pointee.next_in = rest.bindMemory(to: UInt8.self).baseAddress
    stream.pointee.avail_in = UInt32(clamping: rest.count)
    stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
    stream.pointee.avail_out = UInt32(clamping: output.count)
    let code = inflate(stream, 0)  // Z_NO_FLUSH
    step.consumed += rest.count - Int(stream.pointee.avail_in)
    step.produced = output.count - Int(stream.pointee.avail_out)
    switch code {
    case Zlib.ok, Zlib.bufferError: break
    case Zlib.streamEnd: isBetween = true
    case Zlib.outOfMemory: step.flaw = "there is not enough memory"
    default: step.flaw = stream.pointee.msg.map { String(cString: $0) } ?? "code \(code)"
    }
    return step
  }
}

/// Writes gzip members without time or name, so that the same bytes give the same output.
final class GzipEncoder: StreamEncoder {
  private let stream = Zlib.makeStream()
  private let deflate: Zlib.Step
  private let deflateReset: Zlib.OnStream
  private let deflateEnd: Zlib.OnStream

  private static let chunk = 1 << 16
  private static let syncFlush: Int32 = 2  // Z_SYNC_FLUSH
  private static let finish: Int32 = 4  // Z_FINISH

  init(_ zlib: SharedLibrary) throws(ToolError) {
    deflate = try zlib.function("deflate")
    deflateReset = try zlib.function("deflateReset")
    deflateEnd = try zlib.function("deflateEnd")
    let begin = try zlib.function(
      "deflateInit2_",
      as: (@convention(c) (
        Zlib.Stream, Int32, Int32, Int32, Int32, Int32, UnsafePointer<CChar>, Int32
      ) -> Int32).self)
    // Level 6, method "deflated" (8), default memory level (8), default strategy (0).
    try Zlib.check(
      begin(
        stream, 6, 8, Zlib.gzipWindow, 8, 0, Zlib.version, Int32(MemoryLayout<codecs_z_stream>.size)))
  }

  deinit {
    _ = deflateEnd(stream)
    stream.deallocate()
  }

  func encode(_ bytes: UnsafeRawBufferPointer, isLast: Bool, to output: inout [UInt8]) throws(ToolError) {
    stream.pointee.next_in = bytes.bindMemory(to: UInt8.self).baseAddress
    stream.pointee.avail_in = UInt32(clamping: bytes.count)
    let flush = isLast ? Self.finish : Self.syncFlush
    var code = Zlib.ok
    repeat {
      code = withUnsafeTemporaryAllocation(byteCount: Self.chunk, alignment: 8) { room in
        stream.pointee.next_out = room.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(room.count)
        let code = deflate(stream, flush)
        output += room.prefix(room.count - Int(stream.pointee.avail_out))
        return code
      }
      guard code == Zlib.ok || code == Zlib.streamEnd || code == Zlib.bufferError else {
        throw ToolError(.resources, "zlib cannot compress: code \(code)")
      }
    } while stream.pointee.avail_out == 0 && code != Zlib.streamEnd
    if isLast { _ = deflateReset(stream) }
  }
}
