/// What a command does with a file that an option or operand names. NamedFiles tells the files apart by it, so
/// that no command writes what it reads.
enum FileUse: String {
  /// Reads the file; "-" is standard input.
  case read
  /// Reads a model: a directory, or one file of it.
  case model
  /// Writes the file instead of standard output.
  case output
  /// Appends to the file.
  case append
  /// Replaces the file, and writes nothing else to it.
  case replace
  /// Replaces a page that the tool has written, and no other file: in '--html *.txt' the shell names a document.
  case page
  /// Keeps in the file what the next run goes on from.
  case state
  /// Makes a directory, which must not exist or be empty.
  case directory

  var isInput: Bool { self == .read || self == .model }

  /// Whether what it writes may go where messages go.
  var isStream: Bool { [.output, .append, .replace, .page].contains(self) }
}

/// What a command's operands are.
enum Operands: String {
  /// No files and no texts.
  case none
  /// Texts. Standard input may have one, unless --file is given.
  case texts
  /// Files to be read, or standard input if there are none.
  case files
  /// Files to be read, and standard input.
  case filesAndStandardInput
  /// Models to be read.
  case models
  /// A model to be read, and a directory to be made.
  case modelAndDirectory

  /// What the operand of this index is used for; nil for what names no file.
  func use(ofOperand index: Int) -> FileUse? {
    switch self {
    case .none, .texts: nil
    case .files, .filesAndStandardInput: .read
    case .models: .model
    case .modelAndDirectory: index == 0 ? .model : .directory
    }
  }

  /// Whether standard input is read, also where no argument is "-".
  func readsStandardInput(_ arguments: ParsedArguments) -> Bool {
    switch self {
    case .none, .models, .modelAndDirectory: false
    case .texts: !arguments.has(.file)
    case .files: arguments.operands.isEmpty
    case .filesAndStandardInput: true
    }
  }
}
