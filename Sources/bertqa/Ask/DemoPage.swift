import Glibc

/// Starts the Python package's demo page in a browser: 'bertqa ask --browser'.
enum DemoPage {
  /// Replaces this process with the page's server. Returns only on failure.
  static func run(files: [ArgumentText], model: String?) -> ToolError {
    guard let python = ["python3", "python"].first(where: { hasPackage($0) }) else {
      return ToolError(
        .input,
        "--browser needs Python 3 and its package bertqa, which are not there: install the wheel (docs/packaging.md), or "
          + "set PYTHONPATH to bindings/python; without --browser the terminal serves as well")
    }
    var words = [python, "-m", "bertqa.demo", "--browser"]
    if let model { words += ["--answer-model", model] }
    words.append("--")
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments += files.map { strdup($0.pointer) } + [nil]
    execvp(python, arguments)
    return ToolError(.resources, "cannot start \(python): \(String(cString: strerror(errno)))")
  }

  /// True if this Python exists and has the package.
  private static func hasPackage(_ python: String) -> Bool {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    let words = [python, "-c", "import bertqa.demo"]
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
