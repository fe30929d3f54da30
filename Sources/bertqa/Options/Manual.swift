/// Generates the manual page in mdoc: commands and options from their tables, plus the common parts.
enum Manual {
  static var page: String {
    var page = heading
    for command in Tool.commands {
      for usage in command.table.usages { page += ".Nm\n.Cm \(command.name)\n\(synopsis(usage))" }
    }
    page += ".Nm\n.Fl \\-help | Fl \\-version\n" + description
    for command in Tool.commands { page += section(command) }
    page += closing
    page += ".Sh EXAMPLES\n"
    for command in Tool.commands {
      for example in command.table.examples {
        page +=
          "\(text(capitalized(example.purpose))):\n.Bd -literal -offset indent\n$ \(escaped(example.line))\n.Ed\n.Pp\n"
      }
    }
    page.removeLast(".Pp\n".utf8.count)
    return page
  }

  private static func section(_ command: any Command.Type) -> String {
    let table = command.table
    var section = ".Ss bertqa \(escaped(command.name))\n"
    section += table.description.map(text).joined(separator: "\n.Pp\n") + "\n"
    for part in table.sections where !part.rows.isEmpty {
      if !part.title.isEmpty { section += ".Pp\n\(text(part.title)):\n" }
      section += ".Bl -tag -width Ds\n" + part.rows.map(item).joined() + ".El\n"
    }
    for note in table.notes { section += ".Pp\n\(text(note))\n" }
    if !table.exitCodes.isEmpty { section += ".Pp\n\(text("Exit codes: \(table.exitCodes)."))\n" }
    return section
  }

  private static func item(_ row: OptionRow) -> String {
    var item = ".It " + (row.letter.map { "Fl \($0) , " } ?? "Fl ") + "\\-\(escaped(row.option.rawValue))"
    switch row.value {
    case .none: break
    case .required(let name): item += " Ar \(escaped(name.lowercased()))"
    case .optional(let name): item += " Ns Op = Ns Ar \(escaped(name.lowercased()))"
    }
    let sentence = capitalized(row.help) + "." + (row.detail.isEmpty ? "" : " \(row.detail)")
    return "\(item)\n\(text(sentence))\n"
  }

  /// Converts "--question QUESTION [OPTION]... [FILE|-]..." to macros.
  private static func synopsis(_ usage: String) -> String {
    var items: [String] = []
    for word in usage.split(separator: " " as Character) {
      // "[--file FILE]..." is one item.
      if let last = items.last, last.hasPrefix("["), !last.contains("]") {
        items[items.count - 1] += " \(word)"
      } else {
        items.append(String(word))
      }
    }
    return items.map { item in
      var name = item
      let repeats = name.hasSuffix("...")
      if repeats { name.removeLast(3) }
      let isOptional = name.hasPrefix("[")
      let bare = name.filter { $0 != "[" && $0 != "]" }
      let parts = bare.split(separator: "|" as Character).map {
        $0.split(separator: " " as Character).map(argument).joined(separator: " ")
      }.joined(separator: " | ")
      return ".\(isOptional ? "Op " : "")\(parts)\(repeats ? " ..." : "")\n"
    }.joined()
  }

  private static func argument(_ word: Substring) -> String {
    if word == "-" || word == "--" { return word == "-" ? "Fl" : "Fl \\-" }
    if word.hasPrefix("-") { return "Fl \(escaped(String(word.dropFirst())))" }
    return "Ar \(escaped(word.lowercased()))"
  }

  /// Formats running text with one sentence a line, and escapes what mdoc would read as a macro.
  private static func text(_ text: String) -> String {
    escaped(text).split(separator: ". ").map { sentence in
      sentence.hasPrefix(".") || sentence.hasPrefix("'") ? "\\&\(sentence)" : String(sentence)
    }.joined(separator: ".\n")
  }

  private static func capitalized(_ text: String) -> String {
    // The name of a choice, such as "json: ...", keeps its lower case.
    guard let first = text.first, first.isLowercase, !text.prefix(while: { $0 != " " }).hasSuffix(":") else {
      return text
    }
    return first.uppercased() + text.dropFirst()
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      default: escaped.append(character)
      }
    }
    return escaped
  }

  private static let heading = #"""
    .\" Made by 'bertqa manual' from the tables of its commands; 'make manual' writes it anew.
    .Dd November 21, 2026
    .Dt BERTQA 1
    .Os
    .Sh NAME
    .Nm bertqa
    .Nd find the answers to questions in documents
    .Sh SYNOPSIS

    """#

  private static var description: String {
    #"""
    .Sh DESCRIPTION
    .Nm
    reads documents, which are UTF\-8 text of any length, and finds the passages that
    answer questions,
    with a transformer model that runs on the CPU.
    An answer is always a passage of the document, byte for byte; nothing is made
    up, and nothing leaves the machine.
    .Pp
    Long options may be shortened while they are unique.
    A value may follow
    .Ql = .
    Options and operands may be mixed;
    .Ql \-\-
    ends the options.
    Every command takes
    .Fl h , \-help
    and
    .Fl V , \-version .
    .Pp

    """# + text(HelpCommand.operandRule) + "\n"
  }

  /// The sections that do not belong to one command.
  private static var closing: String {
    #"""
    .Sh JSON
    .Cm answer Fl \-json
    prints objects with these members:
    .Pp
    .Bl -tag -width "no_answer_probability" -compact
    .It Va file
    the file's name;
    .Ql \-
    for standard input; null for a text of the command line
    .It Va question
    the question
    .It Va answers
    an array, best first, of objects:
    .Bl -tag -width "code_points" -compact
    .It Va text
    the passage
    .It Va bytes , code_points , utf16
    where it is: [start, end], in three units
    .It Va sentence
    its
    .Va text
    and
    .Va bytes
    .It Va score
    start logit + end logit
    .It Va probability
    the chance that the passage is the right answer, 0 to 1; those of all passages and
    .Va no_answer_probability
    sum to 1 at most
    .It Va gap
    .Va score
    less the score of
    .Dq no answer
    in the same section, adjusted by the section's rank
    .El
    .It Va is_impossible
    whether
    .Va gap
    is below the threshold
    .It Va null_score
    the score of
    .Dq no answer
    .It Va gap
    the best passage's gap; null if there is no passage
    .It Va no_answer_probability
    the chance that the document does not answer the question
    .It Va window_count
    windows that the model has read
    .It Va skipped_window_count
    windows that it did not read
    .It Va stop
    why it read no more:
    .Dq all
    were read,
    .Dq enough
    as no other is likely to answer better, the
    .Dq limit
    of windows was reached, or with
    .Fl \-partial
    the
    .Dq deadline
    .It Va is_question_truncated
    whether the question was longer than
    .Fl \-max\-question\-len
    .It Va is_question_empty , is_document_empty
    whether there was nothing to ask or to read
    .El
    .Pp
    .Cm ask Fl \-json
    prints
    .Va question
    and the members from
    .Va answers
    on; an answer also has
    .Va file ,
    and in a collection
    .Va name , title , line
    and
    .Va passage_start ,
    the byte of its document from which its
    .Va bytes
    count.
    .Cm search Fl \-json
    prints the same place of each passage without
    .Va passage_start ,
    and
    .Va score , bytes
    and
    .Va text .
    .Pp
    .Cm classify Fl \-json
    prints objects with these members:
    .Pp
    .Bl -tag -width "distinct_word_count" -compact
    .It Va file
    as above
    .It Va labels
    an array, the most probable first, of objects:
    .Bl -tag -width "probability" -compact
    .It Va label
    its name
    .It Va id
    its row in the model
    .It Va probability
    0 to 1; null for regression
    .It Va logit
    the model's output
    .El
    .It Va problem_type
    .Ql single_label_classification ,
    .Ql multi_label_classification
    or
    .Ql regression
    .It Va is_too_short
    whether a word\-count model found too few words, so that there are no labels
    .It Va is_none
    whether no label has the probability of
    .Fl \-min\-probability
    .It Va distinct_word_count
    different words that it found
    .It Va window_count
    windows that an encoder has read
    .It Va contributions
    an array of objects, by falling magnitude:
    .Va text ,
    .Va bytes , code_points , utf16 ,
    .Va weight
    .El
    .Pp
    .Cm entities Fl \-json
    prints
    .Va file , window_count
    and
    .Va entities ,
    an array of objects:
    .Va label ,
    .Va text , bytes , code_points , utf16 , score ,
    and what a rule found also has
    .Va rule ,
    .Va checksum ,
    the check that its characters passed, or null, and
    .Va context ,
    the word before it that identifies it, or null.
    With
    .Fl \-redact , \-mask , \-hash
    and
    .Fl \-pseudonym
    the entities have no
    .Va text ,
    and
    .Va redacted
    is the new text.
    .Fl \-report
    writes the number of
    .Va texts
    and
    .Va entities ,
    an object with the number of each label.
    .Pp
    .Cm embed
    prints
    .Va file
    and
    .Va embedding ,
    an array of numbers; for tokens
    .Va tokens
    and
    .Va embeddings ,
    an array for each token, or for the pieces of sparse models
    .Va weights .
    .Cm tokenize Fl \-json
    prints
    .Va file , ids , tokens
    and
    .Va bytes ,
    an array of [start, end].
    With
    .Fl \-lines
    and
    .Fl \-score
    a text has its
    .Va line
    behind
    .Va file .
    .Pp
    .Cm info
    and
    .Cm quantize
    print the names and values of their lines as members.
    .Cm train\-classifier Fl \-json
    prints the facts of its report, the labels' names in
    .Va labels ,
    their texts in
    .Va label_text_counts ,
    .Va precision , recall
    and
    .Va f1
    of each, records that were passed over in
    .Va skipped_count ,
    and
    .Va confusion ,
    an array of [label, predicted label, texts] for the pairs of labels that occur, by
    their places in
    .Va labels .
    With
    .Fl \-holdout
    the object
    .Va holdout
    has
    .Va text_count , unclassified_count ,
    the texts with too few words, and the members from
    .Va accuracy
    on, except
    .Va skipped_count .
    .Pp
    .Cm filter Fl \-stats
    writes an object with these members:
    .Pp
    .Bl -tag -width "records_per_second" -compact
    .It Va records
    records that are done:
    .Va succeeded
    and
    .Va failed
    .It Va without_text
    records of
    .Va succeeded
    that have null for a text
    .It Va failed_by_kind
    an object with the number of each kind:
    \#(mdoc(RecordProblem.Kind.allCases.map(\.rawValue)))
    .It Va written , dead_letters
    records in the output, and in the dead\-letter file
    .It Va blank_lines
    lines of white space, which are no records
    .It Va windows , batches
    windows that the model has read, and batches of records
    .It Va input_bytes , output_bytes
    bytes of the input that are done, and of the output that are written
    .It Va losses
    reports that records of a followed file were lost
    .It Va seconds , records_per_second
    of this run, without those that it resumed; the numbers above include them
    .It Va ended_by
    why the run ended before its input:
    \#(mdoc(StopSignals.names.values.sorted() + ["SIGPIPE", "error"]));
    else null
    .El
    .Pp
    .Cm generate Fl \-json
    prints
    .Va file , prompt , text , words , stop ,
    which is
    .Ql end
    or
    .Ql limit ,
    and
    .Va unknown_count ,
    the number of words of the prompt that the model does not know;
    .Cm predict Fl \-json
    prints
    .Va file , prompt , is_unknown
    and
    .Va words ;
    with
    .Fl \-score
    and
    .Fl \-rank
    .Va file , line , text , log_likelihood , perplexity , word_count
    and
    .Va unknown_count .
    A word has
    .Va text , id , probability
    and
    .Va log_probability .
    .Pp
    Invalid UTF\-8 is shown as U+FFFD, one for each maximal invalid sequence; code
    points and UTF\-16 units count it so.
    .Sh ENVIRONMENT
    .Bl -tag -width BERTQA_MODEL
    .It Ev BERTQA_MODEL
    Directory or name of the model that answers questions where
    .Fl \-model
    is not given; if it is not set or empty, that is the installed one.
    .It Ev HF_HUB_CACHE , HUGGINGFACE_HUB_CACHE , HF_HOME , XDG_CACHE_HOME
    Where the local cache of the Hugging Face Hub is, as for its own programs:
    a directory, the same, the directory of
    .Pa hub ,
    or that of
    .Pa huggingface/hub .
    The first that is set counts; by default the cache is
    .Pa ~/.cache/huggingface/hub .
    Models are read from it, but never fetched.
    .It Ev NO_COLOR
    If set and not empty, nothing is highlighted unless
    .Fl \-color Ns = Ns Cm always
    asks for it.
    .It Ev TERM
    If
    .Ql dumb
    or not set, nothing is highlighted and no progress is shown.
    .El
    .Sh FILES
    .Bl -tag -width Ds
    .It Pa ../share/bertqa/models/qa\-minilm\-l6
    The default model, from the directory of the program.
    .It Pa ../share/bertqa/models/topics\-words
    The default model of
    .Cm classify .
    .It Pa ../share/bertqa/models/entities\-minilm\-l6
    The default model of
    .Cm entities .
    .It Pa ../share/bertqa/models/embed\-minilm\-l6
    The default model of
    .Cm embed
    and
    .Cm index .
    .It Pa ../share/bertqa/models/shakespeare\-lstm
    The default model of
    .Cm predict
    and
    .Cm generate .
    .El
    .Sh EXIT STATUS
    .Bl -tag -width Ds -compact
    .It 0
    Done; every question is answered.
    .It 1
    Nothing was found: a question without an answer, a text without a label or entity, a
    search without a passage, or a record without a result.
    .It 2
    Wrong usage.
    .It 3
    A file or model cannot be read, is invalid or is not supported, or a new model
    cannot be written.
    The other files are still answered.
    Too many records without a result also give this status.
    .It 4
    Memory ran out, standard output cannot be written, or there is a defect in the
    program.
    .El

    """#
  }

  /// Returns names as a list of literal words.
  private static func mdoc(_ names: [String]) -> String {
    names.map { ".Ql \(escaped($0))" }.joined(separator: " ,\n")
  }
}
