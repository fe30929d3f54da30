import BertQACore
import CBertQAHeader
import Glibc

/// The last failure's message, one per thread, as a NUL-terminated string that the thread's exit frees.
enum LastError {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    _ = pthread_key_create(&key) { free($0) }
    return key
  }()

  static var message: UnsafePointer<CChar> {
    if let stored = pthread_getspecific(key) {
      return UnsafePointer(stored.assumingMemoryBound(to: CChar.self))
    }
    let empty: StaticString = ""
    return UnsafeRawPointer(empty.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  static func set(_ message: String) {
    free(pthread_getspecific(key))
    pthread_setspecific(key, message.withCString { strdup($0) })
  }
}

/// Runs an ABI function's body; a thrown error becomes its status and this thread's last message.
func status(of body: () throws(BertQAError) -> Void) -> bertqa_status {
  do {
    try body()
    return Status.ok.rawValue
  } catch {
    LastError.set(error.message)
    return error.status.rawValue
  }
}
