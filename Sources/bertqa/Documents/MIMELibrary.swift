import Glibc

/// GMime, which decodes mail: multipart messages, transfer encodings, character sets, encoded words of headers.
struct MIMELibrary {
  /// A GObject of GMime or GLib.
  typealias Object = UnsafeMutableRawPointer

  enum Kind {
    case message
    case attachedMessage
    /// - Parameter isAlternative: true if its parts are forms of the same text, the plainest first.
    case multipart(isAlternative: Bool)
    case plain
    case html
    /// Any other kind of text but style sheets, which is read as plain text (RFC 2046, 4.1.4).
    case text
    /// Data whose kind is not known (RFC 2046, 4.5.1).
    case unknown
    case other
  }

  private typealias TypeOf = @convention(c) () -> UInt
  private typealias Get = @convention(c) (Object?) -> Object?
  private typealias GetBool = @convention(c) (Object?) -> Int32
  private typealias GetString = @convention(c) (Object?) -> UnsafePointer<CChar>?
  private typealias Release = @convention(c) (UnsafeMutableRawPointer?) -> Void
  private typealias FormatDate =
    @convention(c) (Object?, UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>?
  private typealias FormatAddresses =
    @convention(c) (Object?, Object?, Int32) -> UnsafeMutablePointer<CChar>?

  private let newStream: @convention(c) (Int32, Int64, Int64) -> Object?
  private let newParser: Get
  private let construct: @convention(c) (Object?, Object?) -> Object?
  private let unref: Release
  private let freeMemory: Release
  private let isInstance: @convention(c) (Object?, UInt) -> Int32
  private let types: (message: UInt, messagePart: UInt, multipart: UInt, textPart: UInt)
  private let getSubject: GetString
  private let getMessageID: GetString
  private let getFrom: Get
  private let getTo: Get
  private let getDate: Get
  private let addressString: FormatAddresses
  private let dateString: FormatDate
  private let mimePart: Get
  private let partMessage: Get
  private let partCount: GetBool
  private let getPrologue: GetString
  private let partAt: @convention(c) (Object?, Int32) -> Object?
  private let contentType: Get
  private let isType: @convention(c) (Object?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Int32
  private let getHeader: @convention(c) (Object?, UnsafePointer<CChar>?) -> UnsafePointer<CChar>?
  private let getCharset: GetString
  private let iconvName: @convention(c) (UnsafePointer<CChar>?) -> UnsafePointer<CChar>?
  private let getContent: Get
  private let newMemoryStream: @convention(c) () -> Object?
  private let writeContent: @convention(c) (Object?, Object?) -> Int
  private let bytesOfStream: Get

  /// GLib's GByteArray.
  private struct ByteArray {
    var data: UnsafePointer<UInt8>?
    var count: UInt32
  }

  init() throws(ToolError) {
    let gmime = try SharedLibrary(
      "libgmime-3.0.so.0", for: "mail", library: "the library GMime", package: "libgmime-3.0-0")
    // Those of GLib are found by way of GMime, which needs it.
    newStream = try gmime.function("g_mime_stream_fs_new_with_bounds")
    newParser = try gmime.function("g_mime_parser_new_with_stream")
    construct = try gmime.function("g_mime_parser_construct_message")
    unref = try gmime.function("g_object_unref")
    freeMemory = try gmime.function("g_free")
    isInstance = try gmime.function("g_type_check_instance_is_a")
    getSubject = try gmime.function("g_mime_message_get_subject")
    getMessageID = try gmime.function("g_mime_message_get_message_id")
    getFrom = try gmime.function("g_mime_message_get_from")
    getTo = try gmime.function("g_mime_message_get_to")
    getDate = try gmime.function("g_mime_message_get_date")
    addressString = try gmime.function("internet_address_list_to_string")
    dateString = try gmime.function("g_date_time_format")
    mimePart = try gmime.function("g_mime_message_get_mime_part")
    partMessage = try gmime.function("g_mime_message_part_get_message")
    partCount = try gmime.function("g_mime_multipart_get_count")
    getPrologue = try gmime.function("g_mime_multipart_get_prologue")
    partAt = try gmime.function("g_mime_multipart_get_part")
    contentType = try gmime.function("g_mime_object_get_content_type")
    isType = try gmime.function("g_mime_content_type_is_type")
    getHeader = try gmime.function("g_mime_object_get_header")
    getCharset = try gmime.function("g_mime_text_part_get_charset")
    iconvName = try gmime.function("g_mime_charset_iconv_name")
    getContent = try gmime.function("g_mime_part_get_content")
    newMemoryStream = try gmime.function("g_mime_stream_mem_new")
    writeContent = try gmime.function("g_mime_data_wrapper_write_to_stream")
    bytesOfStream = try gmime.function("g_mime_stream_mem_get_byte_array")
    // GMime counts the calls.
    try gmime.function("g_mime_init", as: (@convention(c) () -> Void).self)()
    types = (
      try gmime.function("g_mime_message_get_type", as: TypeOf.self)(),
      try gmime.function("g_mime_message_part_get_type", as: TypeOf.self)(),
      try gmime.function("g_mime_multipart_get_type", as: TypeOf.self)(),
      try gmime.function("g_mime_text_part_get_type", as: TypeOf.self)()
    )
  }

  func release(_ object: Object) { unref(object) }

  // MARK: - Parsing

  /// Returns the message of a part of a file; nil for what is not a message. The caller releases the message.
  /// - Parameters:
  ///   - descriptor: of a file that can be read at any place; the message closes it.
  ///   - end: nil: the end of the file.
  func message(_ descriptor: Int32, from start: Int, to end: Int?) throws(ToolError) -> Object? {
    guard let stream = newStream(descriptor, Int64(start), end.map(Int64.init) ?? -1),
      let parser = newParser(stream)
    else { throw ToolError(.resources, "out of memory") }
    defer {
      // The message keeps what it needs of both.
      unref(parser)
      unref(stream)
    }
    return construct(parser, nil)
  }

  // MARK: - Headers

  func subject(_ message: Object) -> String? { getSubject(message).map { String(cString: $0) } }

  /// Sender, recipients, date (ISO 8601) and id of a message, those that it has.
  func fields(_ message: Object) -> [(key: String, value: String)] {
    let lists = [("from", "From", getFrom(message)), ("to", "To", getTo(message))]
    let addresses = lists.map { key, header, list in
      // What is no address, such as "ann at example.org" in archives of mailing lists, stays as it is.
      let known = list.flatMap { taken(addressString($0, nil, 0)) }.flatMap { $0.isEmpty ? nil : $0 }
      return (key, known ?? getHeader(message, header).flatMap { PlainText.line(String(cString: $0)) })
    }
    let date = getDate(message).flatMap { taken(dateString($0, "%Y-%m-%dT%H:%M:%S%:z")) }
    let id = getMessageID(message).map { String(cString: $0) }
    return (addresses + [("date", date), ("message_id", id)]).compactMap { key, value in
      value.flatMap { $0.isEmpty ? nil : (key, $0) }
    }
  }

  // MARK: - Parts

  func kind(_ object: Object) -> Kind {
    if isInstance(object, types.message) != 0 { return .message }
    if isInstance(object, types.messagePart) != 0 { return .attachedMessage }
    let type = contentType(object)
    if isInstance(object, types.multipart) != 0 {
      return .multipart(isAlternative: isType(type, "multipart", "alternative") != 0)
    }
    guard isInstance(object, types.textPart) != 0 else {
      let names: [String] = ["octet-stream", "json", "xml"]
      return names.contains { isType(type, "application", $0) != 0 } ? .unknown : .other
    }
    if isType(type, "text", "plain") != 0 { return .plain }
    if isType(type, "text", "css") != 0 { return .other }
    return isType(type, "text", "html") != 0 ? .html : .text
  }

  func body(_ message: Object) -> Object? { mimePart(message) }
  func attachedMessage(_ part: Object) -> Object? { partMessage(part) }

  func parts(_ multipart: Object) -> [Object] {
    (0..<max(0, partCount(multipart))).compactMap { partAt(multipart, $0) }
  }

  /// Returns the bytes before the first part: all of a multipart whose boundary is missing or wrong.
  func prologue(_ multipart: Object) -> [UInt8] {
    guard let prologue = getPrologue(multipart) else { return [] }
    return Array(UnsafeRawBufferPointer(start: prologue, count: strlen(prologue)))
  }

  /// Returns the bytes of a part without its transfer encoding.
  func content(_ part: Object) -> [UInt8] {
    guard let content = getContent(part), let stream = newMemoryStream() else { return [] }
    defer { unref(stream) }
    _ = writeContent(content, stream)
    guard let bytes = bytesOfStream(stream)?.load(as: ByteArray.self) else { return [] }
    return Array(UnsafeBufferPointer(start: bytes.data, count: Int(bytes.count)))
  }

  /// Returns the encoding that a part of text names; nil if it names none, an unknown one, or US-ASCII, which programs
  /// name whatever they write.
  func encoding(_ part: Object) -> TextEncoding? {
    guard let charset = getCharset(part), let known = iconvName(charset) else { return nil }
    let label = String(cString: charset).lowercased()
    if label == "us-ascii" || label == "ascii" { return nil }
    return TextEncoding(label: label) ?? TextEncoding(String(cString: known))
  }

  private func taken(_ string: UnsafeMutablePointer<CChar>?) -> String? {
    guard let string else { return nil }
    defer { freeMemory(string) }
    return String(cString: string)
  }
}
