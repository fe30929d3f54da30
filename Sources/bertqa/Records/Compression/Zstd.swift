import CCodecs

/// Decodes a sequence of Zstandard frames (RFC 8878). A frame may require a window of up to 128 MiB.
final class ZstdDecoder: StreamDecoder {
  private typealias Step =
    @convention(c) (
      OpaquePointer, UnsafeMutablePointer<codecs_zstd_out>, UnsafeMutablePointer<codecs_zstd_in>
    ) -> Int

  private let stream: OpaquePointer
  private let decompress: Step
  private let errors: ZstdErrors
  private let release: @convention(c) (OpaquePointer?) -> Int
  /// True after a frame's end: the last step returned 0.
  private var isBehindFrame = false

  init(_ zstd: SharedLibrary) throws(ToolError) {
    decompress = try zstd.function("ZSTD_decompressStream")
    release = try zstd.function("ZSTD_freeDStream")
    errors = try ZstdErrors(zstd)
    let make = try zstd.function("ZSTD_createDStream", as: (@convention(c) () -> OpaquePointer?).self)
    guard let stream = make() else { throw ToolError(.resources, "not enough memory for zstd") }
    self.stream = stream
  }

  deinit { _ = release(stream) }

  var isWhole: Bool { isBehindFrame }

  func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecoderStep {
    var source = codecs_zstd_in(src: input.baseAddress, size: input.count, pos: 0)
    var target = codecs_zstd_out(dst: output.baseAddress, size: output.count, pos: 0)
    // A call after a frame without more input would report that the next frame is incomplete.
    if isBehindFrame, input.isEmpty { return DecoderStep() }
    let result = decompress(stream, &target, &source)
    isBehindFrame = result == 0
    return DecoderStep(consumed: source.pos, produced: target.pos, flaw: errors.message(of: result))
  }
}

/// Writes Zstandard frames with checksums.
final class ZstdEncoder: StreamEncoder {
  private typealias Step =
    @convention(c) (
      OpaquePointer, UnsafeMutablePointer<codecs_zstd_out>, UnsafeMutablePointer<codecs_zstd_in>, Int32
    ) -> Int

  private let stream: OpaquePointer
  private let compress: Step
  private let errors: ZstdErrors
  private let release: @convention(c) (OpaquePointer?) -> Int

  private static let chunk = 1 << 16
  private static let flush: Int32 = 1  // ZSTD_e_flush
  private static let end: Int32 = 2  // ZSTD_e_end
  private static let checksumFlag: Int32 = 201  // ZSTD_c_checksumFlag

  init(_ zstd: SharedLibrary) throws(ToolError) {
    compress = try zstd.function("ZSTD_compressStream2")
    release = try zstd.function("ZSTD_freeCStream")
    errors = try ZstdErrors(zstd)
    let make = try zstd.function("ZSTD_createCStream", as: (@convention(c) () -> OpaquePointer?).self)
    let set = try zstd.function(
      "ZSTD_CCtx_setParameter", as: (@convention(c) (OpaquePointer, Int32, Int32) -> Int).self)
    guard let stream = make() else { throw ToolError(.resources, "not enough memory for zstd") }
    self.stream = stream
    _ = set(stream, Self.checksumFlag, 1)
  }

  deinit { _ = release(stream) }

  func encode(_ bytes: UnsafeRawBufferPointer, isLast: Bool, to output: inout [UInt8]) throws(ToolError) {
    var source = codecs_zstd_in(src: bytes.baseAddress, size: bytes.count, pos: 0)
    // The number of bytes that remain to be flushed, or an error code.
    var rest = 0
    repeat {
      rest = withUnsafeTemporaryAllocation(byteCount: Self.chunk, alignment: 8) { room in
        var target = codecs_zstd_out(dst: room.baseAddress, size: room.count, pos: 0)
        let rest = compress(stream, &target, &source, isLast ? Self.end : Self.flush)
        output += room.prefix(target.pos)
        return rest
      }
      if let message = errors.message(of: rest) {
        throw ToolError(.resources, "zstd cannot compress: \(message)")
      }
    } while rest != 0
  }
}

/// Interprets the return values of libzstd.
private struct ZstdErrors {
  private let isError: @convention(c) (Int) -> UInt32
  private let code: @convention(c) (Int) -> Int32
  private let name: @convention(c) (Int) -> UnsafePointer<CChar>

  private static let windowTooLarge: Int32 = 16  // ZSTD_error_frameParameter_windowTooLarge

  init(_ zstd: SharedLibrary) throws(ToolError) {
    isError = try zstd.function("ZSTD_isError")
    code = try zstd.function("ZSTD_getErrorCode")
    name = try zstd.function("ZSTD_getErrorName")
  }

  /// Returns the error message; nil if `result` is not an error code.
  func message(of result: Int) -> String? {
    guard isError(result) != 0 else { return nil }
    let message = String(cString: name(result))
    return code(result) == Self.windowTooLarge ? "\(message); use zstd -dc --long=31" : message
  }
}
