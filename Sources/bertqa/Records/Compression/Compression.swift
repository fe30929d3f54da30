import Glibc

/// A compression format.
enum Compression: CaseIterable {
  case gzip, zstd

  /// The file name extension.
  var suffix: String {
    switch self {
    case .gzip: ".gz"
    case .zstd: ".zst"
    }
  }

  /// The magic number at the start of each member or frame.
  var magic: [UInt8] {
    switch self {
    case .gzip: [0x1F, 0x8B]  // RFC 1952
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]  // RFC 8878
    }
  }

  /// All byte sequences that a compressed file can begin with. A Zstandard file can begin with a skippable
  /// frame, which has no content.
  private var beginnings: [[UInt8]] {
    switch self {
    case .gzip: [magic]
    case .zstd: [magic] + (0x50...0x5F).map { [$0, 0x2A, 0x4D, 0x18] }
    }
  }

  /// The command that decompresses such files.
  var command: String {
    switch self {
    case .gzip: "gzip -dc"
    case .zstd: "zstd -dc"
    }
  }

  /// Chooses the format by the file's name; nil for other names.
  init?(fileName: String) {
    let name = fileName.lowercased()
    guard let found = Self.allCases.first(where: { name.hasSuffix($0.suffix) }) else { return nil }
    self = found
  }

  /// Chooses the format by the first bytes; nil for other contents.
  init?(beginningWith bytes: some Sequence<UInt8>) {
    let found = Self.allCases.first { $0.beginnings.contains { bytes.starts(with: $0) } }
    guard let found else { return nil }
    self = found
  }

  /// True if these bytes are a prefix of the start of a compressed file.
  static func mayBegin(with bytes: some Collection<UInt8>) -> Bool {
    allCases.flatMap(\.beginnings).contains { bytes.count < $0.count && $0.starts(with: bytes) }
  }

  /// Returns the file name without the compression extension.
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

/// A streaming decompressor.
protocol StreamDecoder: AnyObject {
  /// True if the bytes so far form complete members or frames, so that the input may end here.
  var isWhole: Bool { get }

  /// Consumes bytes from the beginning of `input` and writes their decompressed form to the beginning of
  /// `output`.
  func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecoderStep
}

struct DecoderStep {
  var consumed = 0
  var produced = 0
  /// The error after the bytes that were produced.
  var flaw: String?
}

/// A streaming compressor.
protocol StreamEncoder: AnyObject {
  /// Appends the compressed form of `bytes` to `output` and flushes it, so that a reader can decode all of
  /// them.
  /// - Parameter isLast: true if the member or frame ends here and the next bytes begin another one.
  func encode(_ bytes: UnsafeRawBufferPointer, isLast: Bool, to output: inout [UInt8]) throws(ToolError)
}
