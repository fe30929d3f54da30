import BertQACore

extension AnswerCommand {
  static let help = """
    Usage: bertqa answer --question QUESTION [OPTION]... [FILE|-]...

    Find the answer to QUESTION in each FILE, or in standard input, and print it: a
    passage of the document. Documents are UTF-8 text of any length.

      -q, --question QUESTION   what to ask; may be given several times
          --context             also print the sentence around the answer; on a
                                terminal, the answer is highlighted in it
      -k, --top-k N             print up to N answers, best first; default 1
          --json                print one JSON object a line for each file and
                                question
          --color[=WHEN]        highlight auto (on a terminal), always or never
          --handle-impossible-answer
                                print no answer where the document seems to hold
                                none
          --no-answer-threshold X
                                score by which an answer must beat 'no answer';
                                default: the model's own
    \(ModelChoice.help)
    \(ModelChoice.runHelp)

    How the document is read; lengths are in tokens:
    \(AnswerOptions.readingHelp)

      -h, --help                print this help
      -V, --version             print the version

    An answer is one line. With several files its file stands before it, with
    several questions its question, with --top-k above 1 or --context its
    probability; --context puts the sentence behind it. These columns are separated
    by tabs. White space and control characters inside a column are shown as one
    space; --json keeps them.

    Exit codes: 0 every question is answered; 1 at least one question has an answer
    in none of the files; 2 wrong usage; 3 a file or the model cannot be read or is
    invalid (the other files are answered); 4 out of memory, the output cannot be
    written, or a defect in the program.

    """
}
