import CBertQA
import Glibc

/// Where the default models lie.
enum DefaultModel {
  /// Looks beside the library or program that this code is part of, then in its install prefix, in the
  /// usual prefixes, and at last, for the model that answers, in the environment variable BERTQA_MODEL.
  static func directory(for task: ModelTask) throws(BertQAError) -> String {
    let name = name(for: task)
    var candidates = candidates(name, beside: bq_path_of_binary().map { String(cString: $0) })
    var remedy = "install it or pass a model directory"
    if task == .answer {
      remedy = "install it, set BERTQA_MODEL to a model directory, or pass one"
      if let variable = bq_environment("BERTQA_MODEL") { candidates.append(String(cString: variable)) }
    }
    for candidate in candidates where access(candidate + "/config.json", R_OK) == 0 { return candidate }
    throw BertQAError(
      .io, "no default model: no config.json in \(candidates.joined(separator: ", ")); \(remedy)")
  }

  private static func name(for task: ModelTask) -> String {
    switch task {
    case .answer: return "qa-minilm-l6"
    case .classify: return "topics-words"
    case .predict: return "shakespeare-lstm"
    case .embed: return "embed-minilm-l6"
    case .entities: return "entities-minilm-l6"
    }
  }

  private static func candidates(_ name: String, beside binary: String?) -> [String] {
    var directories: [String] = []
    if let binary {
      let home = directoryName(of: resolved(binary))
      directories = ["bertqa", "models", "../share/bertqa/models", "../../share/bertqa/models"]
        .map { "\(home)/\($0)/\(name)" }
    }
    return directories + ["/usr/local", "/usr"].map { "\($0)/share/bertqa/models/\(name)" }
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
