import CBertQA
import Glibc

/// Where the default question-answering model lies.
enum DefaultModel {
  static let name = "qa-minilm-l6"

  /// Looks beside the library or program that this code is part of, then in its install prefix, in the
  /// usual prefixes, and at last in the environment variable BERTQA_MODEL.
  static func directory() throws(BertQAError) -> String {
    let candidates = candidates(beside: bq_path_of_binary().map { String(cString: $0) })
    for candidate in candidates where access(candidate + "/config.json", R_OK) == 0 { return candidate }
    throw BertQAError(
      .io,
      "no default model: no config.json in \(candidates.joined(separator: ", ")); install it, set "
        + "BERTQA_MODEL to a model directory, or pass one")
  }

  private static func candidates(beside binary: String?) -> [String] {
    var directories: [String] = []
    if let binary {
      let home = directoryName(of: resolved(binary))
      directories = ["bertqa", "models", "../share/bertqa/models", "../../share/bertqa/models"]
        .map { "\(home)/\($0)/\(name)" }
    }
    directories += ["/usr/local", "/usr"].map { "\($0)/share/bertqa/models/\(name)" }
    if let variable = getenv("BERTQA_MODEL") { directories.append(String(cString: variable)) }
    return directories
  }

  /// The path without symbolic links: a link to the library must lead to the library's own neighbours.
  private static func resolved(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  private static func directoryName(of path: String) -> Substring {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return path[..<slash]
  }
}
