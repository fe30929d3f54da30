import Glibc

/// Recognises paths that callers pass for a model directory by mistake.
enum MistakenDirectory {
  /// Returns an error that says what the path is, or that there is nothing; nil if it is a directory or nothing known.
  static func error(for path: String) -> BertQAError? {
    var status = stat()
    guard !path.utf8.contains(0) else { return nil }
    guard stat(path, &status) == 0 else {
      let code = errno
      let hint =
        if isHubName(path) {
          ", and the Hugging Face Hub's local cache has no model of this name (this library downloads nothing; "
            + "'hf download \(path)' does)"
        } else if !path.utf8.contains(UInt8(ascii: "/")) {
          ", and no model of this name is installed"
        } else {
          ""
        }
      return .system("open\(hint)", path, code)
    }
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    do throws(BertQAError) {
      _ = try ModelFile(path: path).checkedForPointer()
    } catch {
      return error
    }
    return BertQAError(
      .io, "\(path): is a file, not a model's directory: pass the directory that contains config.json")
  }

  /// True if the path has the form `organisation/model` and no directory has the organisation's name.
  private static func isHubName(_ path: String) -> Bool {
    let owner = path.prefix { $0 != "/" }
    return owner.count < path.count && HubCache.isName(path) && !ModelFile.exists(String(owner))
  }
}

extension ModelFile {
  /// The beginning of the pointer file that Git LFS leaves in place of a file that was not fetched.
  private static let pointerStart: StaticString = "version https://git-lfs.github.com/spec/"
  /// In bytes; larger than any pointer file.
  private static let pointerLimit = 1024

  /// Returns this file; throws if it is a Git LFS pointer.
  func checkedForPointer() throws(BertQAError) -> ModelFile {
    guard bytes.count <= Self.pointerLimit else { return self }
    let isPointer = Self.pointerStart.withUTF8Buffer { start in bytes.starts(with: start) }
    guard isPointer else { return self }
    throw BertQAError(
      .invalidModel,
      "\(path): is a Git LFS pointer to a file that was not fetched: run 'git lfs pull' in its repository "
        + "or download the file itself")
  }
}
