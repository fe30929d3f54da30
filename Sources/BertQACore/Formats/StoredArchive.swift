/// The entries of a ZIP archive whose files are stored, not compressed: the form of PyTorch's checkpoints.
struct StoredArchive {
  /// The bytes of each file by its name.
  private(set) var entries: [String: Range<Int>] = [:]

  private static let endSize = 22
  private static let maximumComment = 65535
  /// Far above the number of tensors of any model.
  private static let entryLimit = 1 << 17

  /// True if a file begins as a ZIP archive.
  static func begins(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.starts(with: [0x50, 0x4B, 3, 4]) }

  init(_ file: ModelFile, _ monitor: CallMonitor?) throws(BertQAError) {
    let archive = ByteFields(file.bytes)
    func damaged(_ what: String) -> BertQAError {
      BertQAError(.invalidModel, "\(file.path): not a whole ZIP archive: \(what)")
    }
    guard let end = Self.end(of: archive) else { throw damaged("it has no end record") }
    var (count, start) = (Int(archive.u16(end + 10) ?? 0), Int(archive.u32(end + 16) ?? 0))
    // The 64-bit record precedes a locator of 20 bytes, which precedes this one.
    if archive.u32(end - 20) == 0x0706_4B50, let record = archive.u64(end - 12),
      archive.u32(record) == 0x0606_4B50
    {
      (count, start) = (archive.u64(record + 32) ?? 0, archive.u64(record + 48) ?? 0)
    }
    guard count <= Self.entryLimit else {
      throw BertQAError(.tooLarge, "\(file.path): \(count) files in an archive")
    }
    for index in 0..<count {
      if index % 1024 == 0 { try monitor?.check() }
      guard archive.u32(start) == 0x0201_4B50, let method = archive.u16(start + 10),
        let packed = archive.u32(start + 20), let nameCount = archive.u16(start + 28),
        let extraCount = archive.u16(start + 30), let commentCount = archive.u16(start + 32),
        let local = archive.u32(start + 42), let name = archive.text(start + 46, count: Int(nameCount))
      else { throw damaged("its directory ends early") }
      guard method == 0 else {
        throw BertQAError(
          .unsupported, "\(file.path): \(quoted(name)) is compressed; only stored files are supported")
      }
      var (size, header) = (Int(packed), Int(local))
      let extra = start + 46 + Int(nameCount)
      if size == 0xFFFF_FFFF || header == 0xFFFF_FFFF {
        guard
          let (wideSize, wideHeader) = Self.wide(
            archive, extra..<extra + Int(extraCount), archive.u32(start + 24), size, header)
        else { throw damaged("\(quoted(name)) has no 64-bit size") }
        (size, header) = (wideSize, wideHeader)
      }
      guard archive.u32(header) == 0x0403_4B50, let ownName = archive.u16(header + 26),
        let ownExtra = archive.u16(header + 28)
      else { throw damaged("\(quoted(name)) is not where its directory says") }
      let data = header + 30 + Int(ownName) + Int(ownExtra)
      guard data <= archive.count, size <= archive.count - data else {
        throw damaged("\(quoted(name)) ends early")
      }
      guard entries.updateValue(data..<data + size, forKey: name) == nil else {
        throw damaged("\(quoted(name)) occurs twice")
      }
      start = extra + Int(extraCount) + Int(commentCount)
    }
  }

  private static func end(of archive: ByteFields) -> Int? {
    var place = archive.count - endSize
    let least = max(0, place - maximumComment)
    while place >= least {
      if archive.u32(place) == 0x0605_4B50 { return place }
      place -= 1
    }
    return nil
  }

  /// Reads the 64-bit size and place of a file from its extra fields.
  private static func wide(
    _ archive: ByteFields, _ extra: Range<Int>, _ unpacked: UInt32?, _ size: Int, _ header: Int
  ) -> (Int, Int)? {
    var place = extra.lowerBound
    while let kind = archive.u16(place), let count = archive.u16(place + 2), place < extra.upperBound {
      guard kind == 1 else {
        place += 4 + Int(count)
        continue
      }
      var (size, header, field) = (size, header, place + 4)
      if unpacked == 0xFFFF_FFFF { field += 8 }
      if size == 0xFFFF_FFFF {
        guard let value = archive.u64(field) else { return nil }
        (size, field) = (value, field + 8)
      }
      if header == 0xFFFF_FFFF {
        guard let value = archive.u64(field) else { return nil }
        header = value
      }
      return (size, header)
    }
    return nil
  }
}

/// Little-endian numbers at places of a file; nil outside of it.
struct ByteFields {
  private let bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var count: Int { bytes.count }

  func u16(_ place: Int) -> UInt16? { load(place) }
  func u32(_ place: Int) -> UInt32? { load(place) }

  /// nil also for numbers that no size can be.
  func u64(_ place: Int) -> Int? {
    guard let value: UInt64 = load(place) else { return nil }
    return value < 1 << 62 ? Int(value) : nil
  }

  func text(_ place: Int, count: Int) -> String? {
    guard place >= 0, place <= bytes.count, count <= bytes.count - place else { return nil }
    return String(decoding: bytes[place..<place + count], as: UTF8.self)
  }

  private func load<Number: FixedWidthInteger & BitwiseCopyable>(_ place: Int) -> Number? {
    guard place >= 0, place <= bytes.count - MemoryLayout<Number>.size else { return nil }
    return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Number.self))
  }
}
