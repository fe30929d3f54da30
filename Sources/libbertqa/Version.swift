import BertQACore
import CBertQAHeader

@c @implementation
public func bertqa_abi_version() -> UInt32 {
  UInt32(BERTQA_ABI_VERSION)
}

@c @implementation
public func bertqa_version() -> UnsafePointer<CChar>? {
  staticCString(libraryVersion)
}
