import CBertQA
import Glibc

/// Finds the default models, and installed models by their name.
enum DefaultModel {
  /// The environment variable with the path or name of the question-answering model.
  static var variable: String { "BERTQA_MODEL" }

  /// Returns the path or name in the environment variable; nil for other tasks, if the variable is not set or empty,
  /// or if the process runs with raised privileges. Throws if the path is not valid UTF-8: as a string it would be
  /// another path.
  static func chosen(for task: ModelTask) throws(BertQAError) -> String? {
    guard task == .answer, let value = bq_environment(variable), value.pointee != 0 else { return nil }
    guard let chosen = String(validatingCString: value) else {
      throw BertQAError(.invalidArgument, "\(variable) is not valid UTF-8: rename the directory")
    }
    return chosen
  }

  /// Searches next to the library or program that contains this code, then in its install prefix, then in the usual
  /// prefixes.
  static func directory(for task: ModelTask) throws(BertQAError) -> String {
    let candidates = candidates(name(for: task))
    for candidate in candidates where isModel(candidate) { return candidate }
    let remedy =
      task == .answer
      ? "install it, set \(variable) to a model directory, or pass one"
      : "install it (in Python: pip install 'bertqa[models]') or pass a model directory"
    throw BertQAError(
      .io, "no default model: no config.json in \(candidates.joined(separator: ", ")); \(remedy)")
  }

  /// Returns the default models that exist, complete or not, at least one.
  static func installed() throws(BertQAError) -> [String] {
    var found: [String] = []
    for task in ModelTask.allCases {
      if let chosen = try? chosen(for: task) {
        found.append(path(of: chosen))
      } else if let directory = candidates(name(for: task)).first(where: { access($0, F_OK) == 0 }) {
        found.append(directory)
      }
    }
    // The error for the first one says where the library looked.
    return found.isEmpty ? [try directory(for: .answer)] : found
  }

  /// Returns the path of the model with a name that does not exist in the working directory: an installed model, if
  /// the name has no slash, or one in the Hugging Face Hub's local cache. The main directory of a model in that cache
  /// stands for its files. Returns any other path unchanged.
  static func path(of pathOrName: String) -> String {
    guard !pathOrName.isEmpty, !pathOrName.utf8.contains(0) else { return pathOrName }
    if access(pathOrName, F_OK) == 0 {
      return isModel(pathOrName) ? pathOrName : HubCache.snapshot(in: pathOrName) ?? pathOrName
    }
    let installed = pathOrName.utf8.contains(UInt8(ascii: "/")) ? [] : candidates(pathOrName)
    return installed.first(where: isModel) ?? HubCache.directory(of: pathOrName) ?? pathOrName
  }

  private static func isModel(_ directory: String) -> Bool {
    // Static models of sentence-transformers have no config.json.
    ["config.json", "modules.json"].contains { access("\(directory)/\($0)", R_OK) == 0 }
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

  private static func candidates(_ name: String) -> [String] {
    var directories: [String] = []
    if let binary = bq_path_of_binary().map({ String(cString: $0) }) {
      let home = FilePath.split(resolved(binary)).directory
      // The Python package bertqa-models installs the last one next to the package bertqa.
      directories = [
        "bertqa", "models", "../share/bertqa/models", "../../share/bertqa/models", "../../bertqa_models",
      ]
      .map { "\(home)/\($0)/\(name)" }
    }
    return directories + ["/usr/local", "/usr"].map { "\($0)/share/bertqa/models/\(name)" }
  }

  /// Resolves symbolic links: a link to the library must lead to the files next to the library itself.
  private static func resolved(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }
}

extension ModelDirectory {
  /// Opens the directory at a path or, for a name that does not exist in the working directory, the installed model
  /// of that name, or that model of the Hugging Face Hub if the local cache has it.
  public init(pathOrName: String) { self.init(path: DefaultModel.path(of: pathOrName)) }
}

/// Returns the path that `ModelDirectory.init(pathOrName:)` opens.
package func modelPath(_ pathOrName: String) -> String { DefaultModel.path(of: pathOrName) }

/// Returns the directories of the installed default models, at least one.
/// - Throws: `.io` if none is installed.
package func installedDefaultModels() throws(BertQAError) -> [String] { try DefaultModel.installed() }
