import CBertQA

/// A recurrent model's memory of a sequence. Immutable: a step makes a new one, so a state can be kept,
/// branched from and used by any number of threads. It may outlive its context.
public final class SequenceState: @unchecked Sendable {
  // Sendable: nothing changes after the step that made it.

  /// The number of floats.
  public let count: Int
  /// The model's fingerprint; see `SequenceModel.fingerprint`.
  let fingerprint: UInt64
  private let memory: AlignedBuffer<Float>

  /// Makes a state to be filled in.
  init(count: Int, fingerprint: UInt64) throws(BertQAError) {
    self.count = count
    self.fingerprint = fingerprint
    memory = try AlignedBuffer(uninitializedCount: count)
  }

  /// Writable only until the state is finished. Valid while this object lives.
  var base: UnsafeMutablePointer<Float> { memory.base }

  /// True if no number is infinite or NaN.
  var isFinite: Bool {
    // Of integers, so that the compiler can compare several at once.
    var largest: UInt32 = 0
    for index in 0..<count { largest = max(largest, base[index].bitPattern & Float.infinity.bitPattern) }
    return largest < Float.infinity.bitPattern
  }

  /// h [hidden] for each layer; then, for LSTM, c [hidden] for each layer.
  public var values: [Float] {
    defer { withExtendedLifetime(self) {} }
    return Array(UnsafeBufferPointer(start: UnsafePointer(base), count: count))
  }
}

/// A state as bytes, all numbers little-endian:
///
///     0   8  "BQSTATE", NUL
///     8   4  version: 1
///     12  4  floats
///     16  8  the model's fingerprint
///     24  8  bq_fingerprint of bytes 0..<24 and of the floats
///     32     the floats
extension SequenceState {
  private static let magic: [UInt8] = Array("BQSTATE\0".utf8)
  private static let version: UInt32 = 1
  private static let headerSize = 32
  private static let checkedHeaderSize = 24

  /// The size of the serialized form in bytes.
  public var serializedCount: Int { Self.headerSize + 4 * count }

  /// The state and its model's fingerprint as bytes, for storage or for another process.
  public var serialized: [UInt8] {
    var bytes = Self.magic
    bytes.reserveCapacity(serializedCount)
    bytes += Self.bytes(of: Self.version)
    bytes += Self.bytes(of: UInt32(truncatingIfNeeded: count))
    bytes += Self.bytes(of: fingerprint)
    var floats: [UInt8] = []
    floats.reserveCapacity(4 * count)
    for value in values { floats += Self.bytes(of: value.bitPattern) }
    let checksum = bytes.withUnsafeBytes { header in
      floats.withUnsafeBytes { Self.checksum(header, $0) }
    }
    return bytes + Self.bytes(of: checksum) + floats
  }

  /// Reads the bytes of `serialized`. Throws `.invalidArgument` for bytes that are not a state, `.wrongModel`
  /// for another model's state.
  convenience init(_ bytes: UnsafeRawBufferPointer, of model: SequenceModel) throws(BertQAError) {
    guard bytes.count >= Self.headerSize, bytes.prefix(Self.magic.count).elementsEqual(Self.magic) else {
      throw BertQAError(
        .invalidArgument, argument: "state", "has \(bytes.count) bytes that are not a sequence's state")
    }
    let version = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    guard version == Self.version else {
      throw BertQAError(
        .invalidArgument, argument: "state",
        "has version \(version); this library reads version \(Self.version)")
    }
    let count = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
    guard bytes.count - Self.headerSize == 4 * Int(count) else {
      throw BertQAError(
        .invalidArgument, argument: "state",
        "has \(bytes.count) bytes, but its header says \(count) floats: it was truncated or extended")
    }
    let header = UnsafeRawBufferPointer(rebasing: bytes[..<Self.checkedHeaderSize])
    let floats = UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...])
    let checksum = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
    guard checksum == Self.checksum(header, floats) else {
      throw BertQAError(
        .invalidArgument, argument: "state", "has a wrong checksum: its bytes were changed")
    }
    let fingerprint = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
    guard fingerprint == model.fingerprint, Int(count) == model.configuration.stateLength else {
      throw model.foreignState()
    }
    let values = (0..<Int(count)).map { index in
      Float(
        bitPattern: UInt32(littleEndian: floats.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)))
    }
    try self.init(values: values, of: model)
  }

  /// Takes the numbers of `values`. Throws `.invalidArgument` if their count is not that of the model's
  /// states or if they are not finite.
  convenience init(values: [Float], of model: SequenceModel) throws(BertQAError) {
    guard values.count == model.configuration.stateLength else {
      throw BertQAError(
        .invalidArgument, argument: "length",
        "is \(values.count), but a state of this model has \(model.configuration.stateLength) floats")
    }
    if let bad = values.firstIndex(where: { !$0.isFinite }) {
      throw BertQAError(
        .invalidArgument, argument: "values", "has \(values[bad]) at index \(bad), but must be finite")
    }
    try self.init(count: values.count, fingerprint: model.fingerprint)
    values.withUnsafeBufferPointer { source in
      if let first = source.baseAddress { base.update(from: first, count: source.count) }
    }
  }

  private static func checksum(_ header: UnsafeRawBufferPointer, _ floats: UnsafeRawBufferPointer) -> UInt64 {
    bq_fingerprint(floats.baseAddress, floats.count, bq_fingerprint(header.baseAddress, header.count, 0))
  }

  private static func bytes<Number: FixedWidthInteger>(of number: Number) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian, Array.init)
  }
}

extension SequenceModel {
  /// The error for a state whose fingerprint is not the model's.
  fileprivate func foreignState() -> BertQAError {
    BertQAError(
      .wrongModel, argument: "state",
      "belongs to another model than \(directory); each model has its own states")
  }

  /// Throws `.wrongModel` for a state of another model.
  func check(_ state: SequenceState) throws(BertQAError) {
    guard state.fingerprint == fingerprint, state.count == configuration.stateLength else {
      throw foreignState()
    }
  }
}
