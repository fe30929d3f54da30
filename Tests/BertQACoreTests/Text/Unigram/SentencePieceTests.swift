import Testing

@testable import BertQACore

@Suite struct SentencePieceTests {
  /// A field of a protocol buffer.
  private static func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
    [number << 3 | 2, UInt8(bytes.count & 127) | 128, UInt8(bytes.count >> 7)] + bytes
  }

  private static func piece(_ text: String, _ score: Float, _ kind: UInt8 = 1) -> [UInt8] {
    let bits = withUnsafeBytes(of: score.bitPattern.littleEndian) { Array($0) }
    return field(1, field(1, Array(text.utf8)) + [0x15] + bits + [0x18, kind])
  }

  private static let pieces =
    piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3) + piece("▁a", -1) + piece("b", -2)
    + piece("<u>", 0, 4)

  private static func load(
    _ files: [String: [UInt8]], _ settings: String? = nil
  ) throws -> any Tokenizer {
    var files = files
    if let settings { files["tokenizer_config.json"] = Array(settings.utf8) }
    return try TokenizerFiles(ModelDirectory(files: files)).makeTokenizer()
  }

  private static func ids(_ tokenizer: any Tokenizer, _ text: String) throws -> [Int32] {
    try Array(text.utf8).withUnsafeBufferPointer { try tokenizer.tokens(of: $0, nil).ids }
  }

  @Test func numbersOfFairseq() throws {
    let tokenizer = try Self.load(["sentencepiece.bpe.model": Self.pieces])
    #expect(tokenizer.template == Template(prefix: [0], separator: [2, 2], suffix: [2]))
    // Pieces from the fourth on keep their ids by one more: <s>, <pad>, </s> and <unk> are before them.
    #expect(tokenizer.vocabularySize == 8)
    #expect(try Self.ids(tokenizer, "ab") == [4, 5])
    #expect(try Self.ids(tokenizer, "ab <u>") == [4, 5, 6])
    let camembert = try Self.load(
      ["sentencepiece.bpe.model": Self.pieces], #"{"tokenizer_class": "CamembertTokenizer"}"#)
    #expect(try Self.ids(camembert, "ab") == [7, 8])
    #expect(camembert.template == Template(prefix: [5], separator: [6, 6], suffix: [6]))
  }

  @Test func refusesByName() {
    let name = "spm.model"
    let cases: [([UInt8], String?, Status, String)] = [
      ([], nil, .invalidModel, "no pieces"),
      (Self.pieces + [0x0A, 0x05, 0x00], nil, .invalidModel, "spm.model: malformed at byte"),
      (Self.pieces + [0x0B], nil, .invalidModel, "wire type 3"),
      (
        Self.pieces + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], nil, .invalidModel,
        "ten bytes"
      ),
      (Self.pieces + Self.field(2, [0x18, 2]), nil, .unsupported, "BPE"),
      (Self.pieces + Self.field(3, Self.field(2, [1])), nil, .invalidModel, "precompiled_charsmap"),
      (Self.pieces + Self.piece("c", .nan), nil, .invalidModel, "score"),
      (Self.pieces, #"{"tokenizer_class": "T5Tokenizer"}"#, .unsupported, "T5Tokenizer"),
      (Self.pieces, #"{"add_eos_token": true}"#, .unsupported, "add_eos_token"),
    ]
    for (bytes, settings, status, message) in cases {
      let error = failure { _ = try Self.load([name: bytes], settings) }
      #expect(error?.status == status, "\(message): \(error?.message ?? "no failure")")
      #expect(error?.message.contains(message) == true, "\(message): \(error?.message ?? "")")
    }
  }

  @Test func readsEveryWireType() throws {
    let bytes: [UInt8] = [0x08, 0x96, 0x01, 0x11, 1, 0, 0, 0, 0, 0, 0, 0, 0x1D, 2, 0, 0, 0, 0x22, 1, 7]
    try bytes.withUnsafeBytes { bytes in
      var reader = ProtobufReader(bytes, name: "test")
      var numbers: [Int] = []
      while let field = try reader.next() {
        switch field.value {
        case .integer(let value): #expect(value == 150)
        case .fixed64(let value): #expect(value == 1)
        case .fixed32(let value): #expect(value == 2)
        case .bytes(let value): #expect(value.elementsEqual([7]))
        }
        numbers.append(field.number)
      }
      #expect(numbers == [1, 2, 3, 4])
      for count in 1..<bytes.count where ![3, 12, 17].contains(count) {
        var cut = ProtobufReader(UnsafeRawBufferPointer(rebasing: bytes[..<count]), name: "test")
        #expect(failure { while try cut.next() != nil {} }?.status == .invalidModel)
      }
    }
  }
}
