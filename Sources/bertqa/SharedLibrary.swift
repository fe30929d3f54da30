import Glibc

/// A shared library that the tool opens at run time if it is installed.
struct SharedLibrary {
  struct Missing: Error {
    let reason: String
  }

  private let name: String
  private let handle: UnsafeMutableRawPointer

  /// Opens the library for the life of the process.
  init(_ name: String) throws(Missing) {
    guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
      throw Missing(reason: dlerror().map { String(cString: $0) } ?? "it cannot be loaded")
    }
    self.name = name
    self.handle = handle
  }

  /// Opens the first installed one of several versions of a library.
  /// - Parameters:
  ///   - work: what needs it, such as "mail".
  ///   - library: its name in the message.
  ///   - package: that of Debian.
  init(_ names: String..., for work: String, library: String, package: String) throws(ToolError) {
    var reasons: [String] = []
    for name in names {
      do throws(Missing) {
        self = try SharedLibrary(name)
        return
      } catch {
        reasons.append(error.reason)
      }
    }
    throw ToolError(
      .input,
      "\(work) needs \(library), which cannot be used here (\(reasons.joined(separator: "; "))): "
        + "install it (on Debian the package \(package))")
  }

  /// - Parameter type: the C function pointer type that the library's header declares.
  func function<Function>(
    _ symbol: String, as type: Function.Type = Function.self
  ) throws(ToolError) -> Function {
    guard let address = dlsym(handle, symbol) else {
      throw ToolError(.input, "\(name) on this machine is too old: it has no \(symbol)")
    }
    return unsafeBitCast(address, to: type)
  }

  /// The global variable of this name; nil if the library has none.
  func variable<Value>(_ symbol: String, of type: Value.Type) -> UnsafeMutablePointer<Value>? {
    dlsym(handle, symbol)?.assumingMemoryBound(to: type)
  }
}
