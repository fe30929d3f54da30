extension ModelVerification {
  /// A line for each file that is not as listed, and one for the directory where all are.
  func lines() -> [UInt8] {
    var lines: [UInt8] = []
    func add(_ finding: String, _ path: String) {
      lines += Array("\(finding)\t".utf8)
      PlainText.append(path.utf8, to: &lines)
      lines.append(UInt8(ascii: "\n"))
    }
    for (name, finding) in files where finding != .same { add(finding.rawValue, "\(directory)/\(name)") }
    if isVerified { add(Finding.same.rawValue, "\(directory): \(files.count) files") }
    return lines
  }
}

extension JSONWriter {
  /// {"verified": …, "models": [{"model": …, "verified": …, "files": {NAME: FINDING, …}}, …]}
  mutating func verifications(_ verifications: [ModelVerification]) {
    object { writer in
      writer.key("verified")
      writer.boolean(verifications.allSatisfy(\.isVerified))
      writer.key("models")
      writer.array { writer in
        for verification in verifications {
          writer.object { writer in
            writer.key("model")
            writer.string(verification.directory)
            writer.key("verified")
            writer.boolean(verification.isVerified)
            writer.key("files")
            writer.object { writer in
              for (name, finding) in verification.files {
                writer.key(name)
                writer.string(finding.rawValue)
              }
            }
          }
        }
      }
    }
  }
}
