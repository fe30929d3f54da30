import BertQACore
import CBertQAHeader

@c @implementation
public func bertqa_warm_up() -> bertqa_status {
  status { () throws(BertQAError) in WarmUp.run() }
}

@c @implementation
public func bertqa_pool_set_threads(_ threads: Int32) -> bertqa_status {
  status { () throws(BertQAError) in try WorkerThreads.setCount(Int(threads)) }
}

@c @implementation
public func bertqa_pool_start() -> bertqa_status {
  status { () throws(BertQAError) in try WorkerThreads.start() }
}

@c @implementation
public func bertqa_pool_shutdown() -> bertqa_status {
  status { () throws(BertQAError) in WorkerThreads.shutDown() }
}
