import Glibc

/// A program of the Python package, for what needs Python's libraries.
enum PythonModule {
  /// Replaces this process with 'python3 -m module'. Returns only on failure.
  /// - Parameters:
  ///   - words: the module's arguments.
  ///   - option: the option that needs it.
  ///   - advice: what to do without Python; added to the message.
  static func run(_ module: String, _ words: [ArgumentText], for option: Option, advice: String) -> ToolError
  {
    guard let python = ["python3", "python"].first(where: { has(module, $0) }) else {
      return ToolError(
        .input,
        "--\(option.rawValue) needs Python 3 and its package bertqa, which are not there: install the wheel (docs/packaging.md), "
          + "or set PYTHONPATH to bindings/python\(advice)")
    }
    let before: [String] = [python, "-m", module]
    let arguments: [UnsafeMutablePointer<CChar>?] =
      before.map { strdup($0) } + words.map { strdup($0.pointer) } + [nil]
    execvp(python, arguments)
    return .system("cannot start \(python)", errno)
  }

  /// True if this Python exists and has the module.
  private static func has(_ module: String, _ python: String) -> Bool {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    let words = [python, "-c", "import \(module)"]
    let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { arguments.forEach { free($0) } }
    var child = pid_t()
    guard posix_spawnp(&child, python, &actions, nil, arguments, environ) == 0 else { return false }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      if errno != EINTR { return false }
    }
    return status == 0
  }
}
