import BertQACore
import CBertQAHeader

@_cdecl("bertqa_abi_version")
public func bertqa_abi_version() -> UInt32 {
  UInt32(BERTQA_ABI_VERSION)
}

@_cdecl("bertqa_version")
public func bertqa_version() -> UnsafePointer<CChar>? {
  staticCString(libraryVersion)
}
