import BertQACore
import CBertQAHeader

@_cdecl("bertqa_pool_set_threads")
public func bertqa_pool_set_threads(_ threads: Int32) -> bertqa_status {
  status { () throws(BertQAError) in try WorkerThreads.setCount(Int(threads)) }
}

@_cdecl("bertqa_pool_start")
public func bertqa_pool_start() -> bertqa_status {
  status { () throws(BertQAError) in try WorkerThreads.start() }
}

@_cdecl("bertqa_pool_shutdown")
public func bertqa_pool_shutdown() -> bertqa_status {
  status { () throws(BertQAError) in WorkerThreads.shutDown() }
}
