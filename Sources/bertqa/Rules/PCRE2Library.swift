import Glibc

/// PCRE2's functions for UTF-8 texts. The library is opened when a rule asks for it, so that the tool runs without it.
struct PCRE2Library {
  typealias Handle = OpaquePointer
  typealias Bytes = UnsafePointer<UInt8>

  typealias Compile =
    @convention(c) (
      Bytes?, Int, UInt32, UnsafeMutablePointer<Int32>?, UnsafeMutablePointer<Int>?, Handle?
    ) -> Handle?
  typealias Match =
    @convention(c) (Handle?, Bytes?, Int, Int, UInt32, Handle?, Handle?) -> Int32
  typealias Message = @convention(c) (Int32, UnsafeMutablePointer<UInt8>?, Int) -> Int32
  typealias Make = @convention(c) (Handle?) -> Handle?
  typealias MakeFrom = @convention(c) (Handle?, Handle?) -> Handle?
  typealias Free = @convention(c) (Handle?) -> Void
  typealias Limit = @convention(c) (Handle?, UInt32) -> Int32
  typealias OffsetLimit = @convention(c) (Handle?, Int) -> Int32
  typealias Offsets = @convention(c) (Handle?) -> UnsafeMutablePointer<Int>?

  // Names and values of pcre2.h.
  static let caseless: UInt32 = 0x8
  static let ucp: UInt32 = 0x2_0000
  static let utf: UInt32 = 0x8_0000
  static let neverBackslashC: UInt32 = 0x10_0000
  static let useOffsetLimit: UInt32 = 0x80_0000
  static let noUTFCheck: UInt32 = 0x4000_0000
  static let notEmpty: UInt32 = 0x4
  static let noMatch: Int32 = -1

  let compile: Compile
  let match: Match
  let message: Message
  let makeMatchData: MakeFrom
  let makeMatchContext: Make
  let freeCode: Free
  let freeMatchData: Free
  let freeMatchContext: Free
  let setMatchLimit: Limit
  let setDepthLimit: Limit
  let setHeapLimit: Limit
  let setOffsetLimit: OffsetLimit
  let offsets: Offsets

  init() throws(ToolError) {
    let pcre2 = try SharedLibrary(
      "libpcre2-8.so.0", for: Option.rules.spelling, library: "PCRE2's library, libpcre2-8.so.0",
      package: "libpcre2-8-0")
    compile = try pcre2.function("pcre2_compile_8")
    match = try pcre2.function("pcre2_match_8")
    message = try pcre2.function("pcre2_get_error_message_8")
    makeMatchData = try pcre2.function("pcre2_match_data_create_from_pattern_8")
    makeMatchContext = try pcre2.function("pcre2_match_context_create_8")
    freeCode = try pcre2.function("pcre2_code_free_8")
    freeMatchData = try pcre2.function("pcre2_match_data_free_8")
    freeMatchContext = try pcre2.function("pcre2_match_context_free_8")
    setMatchLimit = try pcre2.function("pcre2_set_match_limit_8")
    setDepthLimit = try pcre2.function("pcre2_set_depth_limit_8")
    setHeapLimit = try pcre2.function("pcre2_set_heap_limit_8")
    setOffsetLimit = try pcre2.function("pcre2_set_offset_limit_8")
    offsets = try pcre2.function("pcre2_get_ovector_pointer_8")
  }

  /// Returns PCRE2's description of an error.
  func text(_ code: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 256)
    _ = message(code, &bytes, bytes.count)
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}
