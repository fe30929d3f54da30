extension TrainClassifierCommand {
  static let help = """
    Usage: bertqa train-classifier --out DIR [OPTION]... [FILE|-]...

    Train a classifier on the labelled texts in each FILE, or in standard input, and
    write it to DIR, which must not exist or be empty; 'bertqa classify --model DIR'
    uses it. Texts are counted as they are read, so files may be larger than memory.
    Print how good it is when it predicts texts that it has not seen.

      -o, --out DIR             the directory to write
          --text-field NAME     field of the texts; default text
          --label-field NAME    field of the labels; default label
          --format F            jsonl: one JSON object a line; csv or tsv: with the
                                fields' names first; default: by the file's name,
                                else jsonl
          --delimiter C         csv with this character between fields; \\t: tab
          --json                print the report as one JSON object

    What is counted:
          --min-word-length N   code points of a word; default 3
          --min-distinct-words N
                                texts with fewer are not classified; default 3
          --max-ngram N         1: words; 2: and pairs of neighbours; default 1
          --tf-idf              weigh counts by TF-IDF
          --min-document-count N
                                leave out words in fewer texts; default 1
          --max-document-fraction X
                                leave out words in a larger part of the texts, 0 to
                                1; default 1
          --max-vocabulary N    keep the N most frequent words; default 262144

    How it is trained:
          --algorithm A         logistic_regression (default) or naive_bayes
          --c X                 logistic regression: the inverse strength of its
                                penalty on weights; default 1
          --alpha X             naive Bayes: additive smoothing; default 1
          --max-iterations N    logistic regression; default 1000
          --tolerance X         its largest gradient at the end; default 1e-4
          --folds N             parts of the cross-validation; 0: none; default 5
          --seed N              of the division into parts; default 0
          --threads N           threads; default: one for each processor at hand

      -h, --help                print this help
      -V, --version             print the version

    Exit codes: 0 done; 2 wrong usage, or DIR is not empty; 3 a file cannot be read
    or has a wrong record, there are not two labels, or DIR cannot be written; 4 out
    of memory, standard output cannot be written, or a defect in the program.

    """
}
