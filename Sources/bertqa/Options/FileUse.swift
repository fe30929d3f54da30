/// How a command uses a file that an option or operand names. NamedFiles uses it to prevent a command from
/// overwriting its inputs.
enum FileUse: String {
  /// Reads the file; "-" is standard input.
  case read
  /// Reads a model: a directory or one of its files.
  case model
  /// Writes the file instead of standard output.
  case output
  /// Appends to the file.
  case append
  /// Replaces the file as a whole.
  case replace
  /// Replaces only a page that the tool has written: with '--html *.txt' the shell would name a document.
  case page
  /// Saves the state from which the next run resumes.
  case state
  /// Writes a collection, whose other writers and readers SQLite keeps apart.
  case collection
  /// Creates a directory, which must be absent or empty.
  case directory

  var isInput: Bool { self == .read || self == .model }

  /// True if the output may go to the same place as messages.
  var isStream: Bool { [.output, .append, .replace, .page].contains(self) }
}

/// The operands of a command.
enum Operands: String {
  /// Neither files nor texts.
  case none
  /// Texts. Without --file, standard input can supply one.
  case texts
  /// Input files; standard input if there are none.
  case files
  /// Input files, in addition to standard input.
  case filesAndStandardInput
  /// A collection to write, then input files and directories.
  case collectionAndFiles
  /// A collection to read, then a text.
  case collectionAndText
  /// A model to read, then a directory to create.
  case modelAndDirectory

  /// Returns the use of the operand with this index; nil if it is not a file.
  func use(ofOperand index: Int) -> FileUse? {
    switch self {
    case .none, .texts: nil
    case .files, .filesAndStandardInput: .read
    case .collectionAndFiles: index == 0 ? .collection : .read
    case .collectionAndText: index == 0 ? .read : nil
    case .modelAndDirectory: index == 0 ? .model : .directory
    }
  }

  /// True if the command reads standard input even without the argument "-".
  func readsStandardInput(_ arguments: ParsedArguments) -> Bool {
    switch self {
    case .none, .modelAndDirectory, .collectionAndFiles, .collectionAndText: false
    case .texts: !arguments.has(.file)
    case .files: arguments.operands.isEmpty
    case .filesAndStandardInput: true
    }
  }
}
