import Glibc

/// How a file's bytes are compressed.
enum Compression: CaseIterable {
  case gzip, zstd

  /// How names of such files end.
  var suffix: String {
    switch self {
    case .gzip: ".gz"
    case .zstd: ".zst"
    }
  }

  /// What members of such files begin with.
  var magic: [UInt8] {
    switch self {
    case .gzip: [0x1F, 0x8B]  // RFC 1952
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]  // RFC 8878
    }
  }

  /// All that such files may begin with. What a skippable frame of Zstandard has is no content.
  private var beginnings: [[UInt8]] {
    switch self {
    case .gzip: [magic]
    case .zstd: [magic] + (0x50...0x5F).map { [$0, 0x2A, 0x4D, 0x18] }
    }
  }

  /// The command that undoes it.
  var command: String {
    switch self {
    case .gzip: "gzip -dc"
    case .zstd: "zstd -dc"
    }
  }

  /// By the file's name; nil for others.
  init?(fileName: String) {
    let name = fileName.lowercased()
    guard let found = Self.allCases.first(where: { name.hasSuffix($0.suffix) }) else { return nil }
    self = found
  }

  /// By the first bytes; nil for others.
  init?(beginningWith bytes: some Sequence<UInt8>) {
    let found = Self.allCases.first { $0.beginnings.contains { bytes.starts(with: $0) } }
    guard let found else { return nil }
    self = found
  }

  /// Whether more bytes may make of these the beginning of such a file.
  static func mayBegin(with bytes: some Collection<UInt8>) -> Bool {
    allCases.flatMap(\.beginnings).contains { bytes.count < $0.count && $0.starts(with: bytes) }
  }

  /// The name of what is inside.
  static func inner(_ fileName: String) -> String {
    guard let compression = Compression(fileName: fileName) else { return fileName }
    return String(fileName.dropLast(compression.suffix.utf8.count))
  }

  func makeDecoder(for shown: String) throws(ToolError) -> any StreamDecoder {
    switch self {
    case .gzip: try GzipDecoder(try library(for: shown))
    case .zstd: try ZstdDecoder(try library(for: shown))
    }
  }

  func makeEncoder(for shown: String) throws(ToolError) -> any StreamEncoder {
    switch self {
    case .gzip: try GzipEncoder(try library(for: shown))
    case .zstd: try ZstdEncoder(try library(for: shown))
    }
  }

  private func library(for shown: String) throws(ToolError) -> SharedLibrary {
    let (name, package) = self == .gzip ? ("libz.so.1", "zlib1g") : ("libzstd.so.1", "libzstd1")
    do throws(SharedLibrary.Missing) {
      return try SharedLibrary(name)
    } catch {
      throw ToolError(
        .input,
        "\(shown): needs \(name), of Debian's package \(package), which cannot be used here: \(error.reason); "
          + "without it: \(command) FILE | bertqa …")
    }
  }
}

/// Turns compressed bytes into what they were.
protocol StreamDecoder: AnyObject {
  /// Whether the bytes so far are whole: the input may end here.
  var isWhole: Bool { get }

  /// Takes bytes from the beginning of `input` and puts what they give at the beginning of `output`.
  func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecoderStep
}

struct DecoderStep {
  var consumed = 0
  var produced = 0
  /// What is wrong behind what was produced.
  var flaw: String?
}

/// Compresses what comes in pieces.
protocol StreamEncoder: AnyObject {
  /// Appends the compressed form of `bytes` to `output`, so that a reader can have all of them.
  /// - Parameter isLast: whether the member or frame ends here; the next bytes begin another.
  func encode(_ bytes: UnsafeRawBufferPointer, isLast: Bool, to output: inout [UInt8]) throws(ToolError)
}

/// A shared library that is there at run time, or is not.
struct SharedLibrary {
  struct Missing: Error {
    let reason: String
  }

  private let name: String
  private let handle: UnsafeMutableRawPointer

  /// It stays open as long as the process.
  init(_ name: String) throws(Missing) {
    guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
      throw Missing(reason: dlerror().map { String(cString: $0) } ?? "it cannot be loaded")
    }
    self.name = name
    self.handle = handle
  }

  /// - Parameter type: of a C function pointer, as its header declares it.
  func function<Function>(_ symbol: String, as type: Function.Type) throws(ToolError) -> Function {
    guard let address = dlsym(handle, symbol) else {
      throw ToolError(.input, "\(name) on this machine is too old: it has no \(symbol)")
    }
    return unsafeBitCast(address, to: type)
  }
}
