import BertQACore
import CBertQAHeader

/// The C view of a recurrent model's properties, and the memory it points to.
final class SequenceInfoView {
  let info: CArray<bertqa_sequence_info>
  private let separator: CString
  private let end: CString

  init(_ model: SequenceInfo) throws(BertQAError) {
    separator = CString(model.separator)
    end = CString(model.end ?? "")
    var info = bertqa_sequence_info()
    info.struct_size = MemoryLayout<bertqa_sequence_info>.size
    info.state_length = model.stateLength
    info.separator = separator.pointer
    info.end = end.pointer
    info.end_id = model.endID ?? -1
    info.unknown_id = model.unknownID ?? -1
    self.info = try CArray([info])
  }
}

@_cdecl("bertqa_context_sequence_info")
public func bertqa_context_sequence_info(
  _ context: OpaquePointer?
) -> UnsafePointer<bertqa_sequence_info>? {
  insideGate { ContextHandle.borrowed(context)?.sequenceInfo?.info.base }
}
