import BertQACore
import Glibc

/// The options that select a model and control how it is loaded.
struct ModelChoice {
  /// - Parameter help: the text after the first semicolon.
  static func row(_ help: String = "default: $BERTQA_MODEL, or the one installed with bertqa") -> OptionRow {
    OptionRow(
      .model, letter: "m", value: "DIR", use: .model,
      "directory or name of the model: an installed one, or organisation/model in Hugging Face's local cache; "
        + help,
      detail: "In the format of Hugging Face's save_pretrained or of 'bertqa quantize', or, for classify, of "
        + "'bertqa train-classifier'. A name without a slash that is not in the working directory is the name of a "
        + "model installed with bertqa, such as embed-minilm-l6, else of the Hub; 'hf download NAME' puts one into "
        + "the cache (see ENVIRONMENT).")
  }

  static let runRows = [
    OptionRow(
      .threads, value: "N", "number of threads; default: one per available processor",
      detail: "The process's CPU affinity and its control group's quota limit the available processors."),
    OptionRow(
      .precision, value: "P", choices: precisions.map(\.key),
      "number format of the arithmetic: {}; default auto"),
    OptionRow(
      .isa, value: "I", choices: instructionSets.map(\.key), "instruction set: {}; default auto",
      detail:
        "'auto' is the best one of this CPU except avx512_amx, which changes how Linux treats the process."),
    OptionRow(
      .load, value: "HOW", choices: loads.map(\.key),
      "how the model's files are loaded: {}; default mmap",
      detail: "A copy does not change when the files are changed or truncated."),
  ]

  static let precisions = Precision.allCases.map { (key: $0.description, value: $0) }

  static let loads = ModelLoad.allCases.map { (key: "\($0)", value: $0) }

  static let instructionSets = InstructionSet.allCases.map { (key: $0.description, value: $0) }

  /// True if a file of this name can be part of a model.
  static func isFileName(_ name: String) -> Bool {
    [".json", ".txt", ".safetensors", ".model", ".bin", ".codes"].contains(where: name.hasSuffix)
  }

  /// Returns the paths of the files of the model at a path, in a definite order, and of the directories that contain
  /// them.
  static func parts(of path: String) -> (files: [String], directories: [String]) {
    var files: [String] = []
    var directories: [String] = []
    func add(_ path: String, depth: Int) {
      let place = FilePlace(path: path)
      guard place.identity != nil else { return }
      if place.kind != S_IFDIR {
        // The name here: the hub's cache has links to files of other names.
        if depth == 0 || isFileName(FilePath.split(path).name) { files.append(path) }
      } else if depth < 2 {
        directories.append(path)
        for name in FileWriting.names(in: path).sorted() {
          add("\(path)/\(name)", depth: depth + 1)
        }
      }
    }
    add(path, depth: 0)
    return (files, directories)
  }

  let command: String
  private var directory: String?
  private var options = ContextOptions()

  /// Takes the options that concern models and ignores all others.
  /// - Parameters:
  ///   - task: the task that the model must support.
  ///   - option: the option that names its directory.
  init(
    _ arguments: ParsedArguments, task: ModelTask = .answer, tokenizerOnly: Bool = false,
    option: Option = .model
  ) throws(ToolError) {
    command = arguments.command
    options.tokenizerOnly = tokenizerOnly
    options.defaultModel = task
    for given in arguments.options {
      switch given.option {
      case option: directory = try given.path()
      case .threads: options.threads = try given.integer()
      case .precision: options.precision = try given.choice(from: Self.precisions)
      case .load: options.load = try given.choice(from: Self.loads)
      case .isa: options.instructionSet = try given.choice(from: Self.instructionSets)
      default: break
      }
    }
  }

  /// Loads the model. Rejects a model for another task before any text is read.
  func load() throws(ToolError) -> Context {
    let context = try loadAny()
    if !options.tokenizerOnly {
      try ofCore(command) { () throws(BertQAError) in try context.validate(for: options.defaultModel) }
    }
    return context
  }

  /// Loads the model whatever its task.
  func loadAny() throws(ToolError) -> Context {
    try ofCore(command) { () throws(BertQAError) in
      if let directory { return try Context(modelDirectory: directory, options: options) }
      return try Context(defaultModelWithOptions: options)
    }
  }
}

/// Returns the command-line spelling of an option's value.
func spelling<Element: Equatable>(
  of element: Element?, in choices: some Sequence<(key: String, value: Element)>
) -> String {
  choices.first { $0.value == element }?.key ?? ""
}
