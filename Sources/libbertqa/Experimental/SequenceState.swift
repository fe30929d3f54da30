import BertQACore
import CBertQAHeader

// A state is immutable and reference-counted: C callers hold the core's object, and a copy is another reference.
extension SequenceState: Handle {}

/// Returns the states of a caller's array. The array and each entry may be NULL.
func stateArguments(
  _ states: UnsafePointer<OpaquePointer?>?, _ count: Int, _ call: CallOptions
) throws(BertQAError) -> [SequenceState?] {
  guard let states else { return try [SequenceState?](results: nil, count: count, CallMonitor(call)) }
  return try readItems(states, count, "states", call) { state throws(BertQAError) in
    SequenceState.borrowed(state)
  }
}

@_cdecl("bertqa_sequence_state_clone")
public func bertqa_sequence_state_clone(_ state: OpaquePointer?) -> OpaquePointer? {
  insideGate { SequenceState.borrowed(state)?.passed() }
}

@_cdecl("bertqa_sequence_state_free")
public func bertqa_sequence_state_free(_ state: OpaquePointer?) {
  SequenceState.release(state)
}

@_cdecl("bertqa_sequence_state_export")
public func bertqa_sequence_state_export(
  _ state: OpaquePointer?, _ values: UnsafeMutablePointer<Float>?, _ length: Int
) -> bertqa_status {
  status { () throws(BertQAError) in
    let state = try SequenceState.borrowed(state, "state")
    let values = try required(values, "values")
    try checkRoom(length, state.count, "length")
    values.update(from: state.values, count: length)
  }
}

@_cdecl("bertqa_sequence_state_import")
public func bertqa_sequence_state_import(
  _ context: OpaquePointer?, _ values: UnsafePointer<Float>?, _ length: Int,
  _ state: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(state, "state") { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    guard context.sequenceInfo != nil else {
      throw BertQAError(
        .wrongModel,
        "\(context.info.directory) has the architecture \(context.info.architecture), which has no sequence states"
      )
    }
    // Checked before that many floats are read.
    try checkRoom(length, context.info.stateLength, "length")
    let values = try required(values, "values")
    let array = Array(UnsafeBufferPointer(start: values, count: length))
    return try context.state(values: array)
  }
}

@_cdecl("bertqa_sequence_state_serialize")
public func bertqa_sequence_state_serialize(
  _ state: OpaquePointer?, _ bytes: UnsafeMutableRawPointer?, _ capacity: Int,
  _ length: UnsafeMutablePointer<Int>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let length = try required(length, "length")
    length.pointee = 0
    let state = try SequenceState.borrowed(state, "state")
    try room(for: state.serializedCount, bytes, "bytes", capacity, length)?
      .copyMemory(from: state.serialized, byteCount: state.serializedCount)
  }
}

@_cdecl("bertqa_sequence_state_deserialize")
public func bertqa_sequence_state_deserialize(
  _ context: OpaquePointer?, _ bytes: UnsafeRawPointer?, _ length: Int,
  _ state: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(state, "state") { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let bytes = try textArgument(bytes?.assumingMemoryBound(to: CChar.self), length, "bytes")
    return try naming("bytes") { () throws(BertQAError) in
      try context.state(serialized: UnsafeRawBufferPointer(bytes))
    }
  }
}
