extension PredictCommand {
  static let help = """
    Usage: bertqa predict [OPTION]... [PROMPT]...
      or:  bertqa predict --score [OPTION]... [FILE|-]...
      or:  bertqa predict --rank [OPTION]... PREFIX [FILE|-]...

    Continue a text with a recurrent language model. The words of the continuation
    are printed as they are generated, up to the end that the model predicts.
    Several PROMPTs are joined with spaces; without one, standard input is the
    prompt.

          --max-words N         generate at most N words; default 100
          --temperature X       0: always the most probable word; else draw words,
                                the more freely the higher; default 0
      -k, --top-k N             draw from the N most probable words only; default 0:
                                all. With --next: how many to print; default 10
          --top-p X             draw from the fewest words only whose probabilities
                                sum to X; default 1: all
          --seed N              the same seed gives the same words; default 0
          --next                print the words that may come next instead: the
                                probability and the word
          --score               print how likely each line of each FILE, or of
                                standard input, is: perplexity, logarithm of the
                                probability, words predicted, unknown words, line
          --rank                print the lines of each FILE, or of standard input,
                                that may continue PREFIX, the likeliest by word
                                first: logarithm of the probability, words, line
          --include-end         --score, --rank: the texts are complete; predict
                                their end too
          --json                print JSON objects, one a line
      -m, --model DIR           directory of the model; default: the one installed
                                with bertqa, Romeo and Juliet
    \(ModelChoice.runHelp)
      -h, --help                print this help
      -V, --version             print the version

    Columns are separated by tabs. White space and control characters inside a
    column are shown as one space; --json keeps them.

    Exit codes: 0 done; 2 wrong usage, or no words to go on from; 3 a file or the
    model cannot be read or is invalid; 4 out of memory, the output cannot be
    written, or a defect in the program.

    """
}
