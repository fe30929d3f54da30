/// The contents of a SentencePiece model file: a protocol buffer, `ModelProto` of `sentencepiece_model.proto`.
struct SentencePieceModel: Sendable {
  enum PieceKind: UInt64, Sendable {
    case normal = 1
    case unknown = 2
    case control = 3
    case userDefined = 4
    case unused = 5
    case byte = 6
  }

  /// By id.
  private(set) var pieces: [[UInt8]] = []
  private(set) var scores: [Double] = []
  private(set) var kinds: [PieceKind] = []
  private(set) var unkID = 0
  /// The compiled rules of normalisation; nil if there are none.
  private(set) var characterMap: CharacterMap?

  /// The kinds of model by their numbers.
  private static let modelTypes: [UInt64: String] = [1: "UNIGRAM", 2: "BPE", 3: "WORD", 4: "CHAR"]

  init(_ file: ModelFile, _ monitor: CallMonitor? = nil) throws(BertQAError) {
    var modelType: UInt64 = 1
    var reader = ProtobufReader(file.bytes, name: file.path)
    var fields = 0
    while let field = try reader.next() {
      if fields % Pipeline.checkInterval == 0 { try monitor?.check() }
      fields += 1
      guard case .bytes(let message) = field.value else { continue }
      switch field.number {
      case 1: try readPiece(message, file)
      case 2: try readTrainerSettings(message, file, &modelType)
      case 3: try readNormalizerSettings(message, file)
      default: break
      }
    }
    guard modelType == 1 else {
      throw BertQAError(
        .unsupported,
        "\(file.path): \"model_type\" is \(Self.modelTypes[modelType] ?? "\(modelType)"); supported: UNIGRAM")
    }
    guard !pieces.isEmpty else {
      throw BertQAError(.invalidModel, "\(file.path): has no pieces, so it is not a SentencePiece model")
    }
  }

  private mutating func readPiece(_ message: UnsafeRawBufferPointer, _ file: ModelFile) throws(BertQAError) {
    var reader = ProtobufReader(message, name: "\(file.path): piece \(pieces.count)")
    var piece: [UInt8] = []
    var score: Float = 0
    var kind = PieceKind.normal
    while let field = try reader.next() {
      switch (field.number, field.value) {
      case (1, .bytes(let bytes)): piece = Array(bytes)
      case (2, .fixed32(let bits)): score = Float(bitPattern: bits)
      case (3, .integer(let number)): kind = PieceKind(rawValue: number) ?? kind
      default: break
      }
    }
    guard score.isFinite else {
      throw BertQAError(.invalidModel, "\(file.path): piece \(pieces.count) has the score \(score)")
    }
    if pieces.count % CallPoll.elementInterval == 0 { try Memory.require(96 * CallPoll.elementInterval) }
    pieces.append(piece)
    scores.append(Double(score))
    kinds.append(kind)
  }

  private mutating func readTrainerSettings(
    _ message: UnsafeRawBufferPointer, _ file: ModelFile, _ modelType: inout UInt64
  ) throws(BertQAError) {
    var reader = ProtobufReader(message, name: "\(file.path): trainer_spec")
    while let field = try reader.next() {
      switch (field.number, field.value) {
      case (3, .integer(let number)): modelType = number
      case (40, .integer(let number)): unkID = Int(Int32(truncatingIfNeeded: number))
      default: break
      }
    }
  }

  private mutating func readNormalizerSettings(
    _ message: UnsafeRawBufferPointer, _ file: ModelFile
  ) throws(BertQAError) {
    var reader = ProtobufReader(message, name: "\(file.path): normalizer_spec")
    while let field = try reader.next() {
      guard field.number == 2, case .bytes(let rules) = field.value else { continue }
      characterMap =
        rules.isEmpty
        ? nil : try BertQAError.naming(file.path) { () throws(BertQAError) in try CharacterMap(rules) }
    }
  }
}
