import BertQACore

let windowPoolings: KeyValuePairs<String, ClassifyOptions.WindowPooling> = ["mean": .mean, "max": .max]

extension ClassifyOptions {
  /// Takes the options that are its own and leaves the others.
  mutating func set(_ option: Option, _ value: ArgumentText?, command: String) throws(ToolError) {
    guard let value else { return }
    switch option {
    case .explain:
      contributions = try value.integer(of: option, command: command)
      if contributions < 0 {
        throw .usage("--explain takes a number of words, not a negative one", command: command)
      }
    case .maxSequenceLength: maxSequenceLength = try value.integer(of: option, command: command)
    case .documentStride: documentStride = try value.integer(of: option, command: command)
    case .windowPooling:
      windowPooling = try value.choice(of: option, from: windowPoolings, command: command)
    default: break
    }
  }

  /// How many labels to print.
  static func labelLimit(_ value: ArgumentText?, command: String) throws(ToolError) -> Int? {
    let limit = try value?.integer(of: .topK, command: command)
    if let limit, limit < 1 { throw .usage("--top-k is \(limit), but must be at least 1", command: command) }
    return limit
  }
}
