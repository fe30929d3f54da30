import CBertQA
import Glibc

/// Where the default models lie.
enum DefaultModel {
  /// Looks beside the library or program that this code is part of, then in its install prefix, in the
  /// usual prefixes, and at last, for the model that answers, in the environment variable BERTQA_MODEL.
  static func directory(for task: ModelTask) throws(BertQAError) -> String {
    let candidates = candidates(for: task)
    for candidate in candidates where isModel(candidate) { return candidate }
    let remedy =
      task == .answer
      ? "install it, set BERTQA_MODEL to a model directory, or pass one"
      : "install it (in Python: pip install 'bertqa[models]') or pass a model directory"
    throw BertQAError(
      .io, "no default model: no config.json in \(candidates.joined(separator: ", ")); \(remedy)")
  }

  /// Those that are installed, complete or not, at least one.
  static func installed() throws(BertQAError) -> [String] {
    let found = ModelTask.allCases.compactMap { candidates(for: $0).first { access($0, F_OK) == 0 } }
    // The message for the first, which says where it was looked for.
    return found.isEmpty ? [try directory(for: .answer)] : found
  }

  private static func isModel(_ directory: String) -> Bool { access(directory + "/config.json", R_OK) == 0 }

  private static func candidates(for task: ModelTask) -> [String] {
    var candidates = candidates(
      name(for: task), beside: bq_path_of_binary().map { String(cString: $0) })
    if task == .answer, let variable = bq_environment("BERTQA_MODEL") {
      candidates.append(String(cString: variable))
    }
    return candidates
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
      // The last is what the Python package bertqa-models installs beside the package bertqa.
      directories = [
        "bertqa", "models", "../share/bertqa/models", "../../share/bertqa/models", "../../bertqa_models",
      ]
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

/// The directories of the default models that are installed, at least one.
/// - Throws: `.io` where there is none.
package func installedDefaultModels() throws(BertQAError) -> [String] { try DefaultModel.installed() }
