import BertQACore

extension FilterCommand {
  static let help = """
    Usage: bertqa filter [OPTION]... [FILE|-]

    Read records from FILE, or from standard input, and write each with its result:
    one record out for each record in, in order, at once where the output is a pipe
    or terminal. All other bytes of a record stay as they are.

          --task TASK           answer (the default), classify, embed or tokenize
          --format FORMAT       ndjson (the default): JSON objects, one a line;
                                csv or tsv: a table whose first line names the
                                columns; length-prefixed: JSON objects, each behind
                                its length in 4 bytes, the highest first
          --delimiter C         of a csv table; default ','
          --text-field FIELD    the text to work on; default 'text'
      -q, --question QUESTION   what to ask every record; may be given several times
          --question-field FIELD
                                where a record has its question; default 'question'
                                if there is no --question
          --output-field FIELD  where the result goes; default 'bertqa'; a table
                                gets columns whose names begin so
          --id-field FIELD      what names a record in messages
          --on-error ACTION     a record without a result is written with null (the
                                default), as it came (pass), or not at all (drop),
                                ends the run (fail), or is appended to a file
                                (dead-letter=FILE), which may be given besides
                                another action
          --max-record-bytes N  largest record; default 64M
          --max-document-bytes N
                                largest text; default 16M
          --batch-size N        take on up to N records that are waiting at once;
                                default 64

    FIELD is a name, a path such as a.b.0, or a JSON Pointer such as /a/b/0; in a
    table it is a column's name. N bytes may be given as 64K, 64M or 1G.

      -o, --output FILE         write to FILE instead of standard output
          --resume FILE         keep in FILE what is done, and go on from there when
                                run again; needs an input file and --output
          --checkpoint-interval SECONDS
                                how often; default 1
          --stats FILE          write a summary as JSON at the end
          --metrics FILE        keep numbers in FILE, in Prometheus' text format
          --quiet               do not report failed records on standard error
          --progress            show progress also without a terminal
    \(ModelChoice.help)
    \(ModelChoice.runHelp)

    With --task answer:
      -k, --top-k N             give up to N answers, best first; default 1
          --handle-impossible-answer
                                give no answer where the document seems to hold none
          --no-answer-threshold X
                                score by which an answer must beat 'no answer';
                                default: the model's own
    \(AnswerOptions.readingHelp)

    With --task classify, as 'bertqa classify' has them:
      -k, --top-k N             give the N most probable labels only
          --second-field FIELD  the second text of a pair
          --explain N           give up to N words that weighed most
          --max-seq-len N       length of a window; default: what the model takes
          --doc-stride N        overlap of neighbouring windows; default 128
          --window-pooling P    how the windows of a long text become one result:
                                mean (the default) or max

    With --task embed, as 'bertqa embed' has them:
          --second-field FIELD  the second text of a pair
          --max-seq-len N       tokens of one window; default: as the model's files
                                say
          --pooling P           mean, cls or model; default model
          --normalize           scale vectors to length 1
          --no-normalize        leave their length as it is
          --truncate            cut longer texts

    With --task tokenize:
          --ids                 give the ids only
          --parse-special-tokens
                                read [SEP] and its like in the text as tokens

      -h, --help                print this help
      -V, --version             print the version

    SIGINT and SIGTERM end the run when the records already read are done; a second
    one ends it at once.

    Exit codes: 0 every record has its result; 1 at least one record has none; 2
    wrong usage; 3 the input or model cannot be read or is invalid, or --on-error
    fail; 4 out of memory, the output cannot be written, or a defect in the program.

    """
}
