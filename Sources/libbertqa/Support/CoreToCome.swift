// What the core does not give yet.
import BertQACore

enum LibraryProcess {
  static func warmUp() throws(BertQAError) {}
  static func setThreads(_ count: Int) throws(BertQAError) {}
  static func startThreads() throws(BertQAError) {}
  static func shutDownThreads() throws(BertQAError) {}
}
