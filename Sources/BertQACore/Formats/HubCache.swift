import CBertQA
import Glibc

/// The local cache of the Hugging Face Hub, into which `hf download` and transformers write. Nothing is downloaded
/// here.
///
/// A model's directory in it, `models--ORGANISATION--MODEL`, has `refs/main`, the name of a revision, and the files of
/// each revision in `snapshots`.
enum HubCache {
  /// Returns the directory of a model's files, by its name on the Hub; nil if the cache does not have it.
  static func directory(of name: String) -> String? {
    guard isName(name), let root else { return nil }
    return snapshot(in: "\(root)/models--\(name.split(separator: "/").joined(separator: "--"))")
  }

  /// Returns the directory of the main revision's files in a model's directory in the cache; nil for any other
  /// directory.
  static func snapshot(in directory: String) -> String? {
    guard let revision = mainRevision(in: directory) else { return nil }
    let snapshot = "\(directory)/snapshots/\(revision)"
    return access(snapshot, F_OK) == 0 ? snapshot : nil
  }

  /// True if a path has the form `organisation/model` or `model`.
  static func isName(_ path: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count <= 2
      && parts.allSatisfy { part in
        guard let first = part.utf8.first, first != UInt8(ascii: "."), first != UInt8(ascii: "-") else {
          return false
        }
        return part.utf8.count <= 96 && part.utf8.allSatisfy(isNameByte)
      }
  }

  /// As huggingface_hub finds it. nil for a process with raised privileges, which reads no environment.
  private static var root: String? {
    if let path = variable("HF_HUB_CACHE") ?? variable("HUGGINGFACE_HUB_CACHE") { return path }
    if let home = variable("HF_HOME") { return "\(home)/hub" }
    let caches = variable("XDG_CACHE_HOME") ?? variable("HOME").map { "\($0)/.cache" }
    return caches.map { "\($0)/huggingface/hub" }
  }

  private static func variable(_ name: String) -> String? {
    guard let value = bq_environment(name), value.pointee != 0 else { return nil }
    let path = String(cString: value)
    guard path.hasPrefix("~/"), let home = bq_environment("HOME") else { return path }
    return String(cString: home) + path.dropFirst()
  }

  /// Reads `refs/main`, which has a commit's hash.
  private static func mainRevision(in directory: String) -> String? {
    let path = "\(directory)/refs/main"
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= 128,
      let file = try? ModelFile(path: path)
    else { return nil }
    let revision = String(decoding: file.bytes.filter { $0 > 0x20 }, as: UTF8.self)
    return revision.contains("/") || !isName(revision) ? nil : revision
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
      return true
    default: return false
    }
  }
}
