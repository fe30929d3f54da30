import CBertQA

extension Pipeline {
  /// Of a file's bytes.
  static func fingerprint(of file: ModelFile, seed: UInt64 = 0) -> UInt64 {
    bq_fingerprint(file.bytes.baseAddress, file.bytes.count, seed)
  }
}
