import BertQACore
import Glibc

/// Implements `bertqa search`.
struct SearchCommand: Command {
  static let name = "search"
  static let summary = "find the passages of a collection that match words or a question"

  static let table = CommandTable(
    usages: ["[OPTION]... DB TEXT..."],
    operands: .collectionAndText,
    description: [
      "Print the passages of the collection DB that match the TEXT best, by words and by meaning (vectors), best first. "
        + "'bertqa index' makes a collection. Several TEXTs are joined with spaces."
    ],
    sections: [
      OptionSection(
        "",
        [
          OptionRow(.topK, letter: "k", value: "N", "print up to N passages; default 10"),
          OptionRow(.json, "print a JSON object for each passage"),
          ModelChoice.row("that of the collection's vectors; default: embed-minilm-l6"),
        ] + DocumentFilter.rows + ModelChoice.runRows)
    ],
    notes: [
      "Columns are separated by tabs: the score, which compares the passages of one search, the place and the passage."
    ],
    exitCodes:
      "0 done; 1 nothing was found; 2 wrong usage; 3 the collection or the model cannot be read or is invalid; "
      + "4 out of memory, the output cannot be written, or a defect in the program",
    examples: [
      .init("passages about heating", "bertqa search notes.db \"heating costs\""),
      .init(
        "the best three of some files, for a program",
        "bertqa search --json -k 3 --path '*.txt' notes.db \"Who signed the lease?\""),
    ])

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    let model = try ModelChoice(arguments, task: .embed)
    let count = try arguments.last(.topK)?.integer(in: 1...1000) ?? 10
    guard arguments.operands.count > 1 else {
      throw arguments.usage(arguments.operands.isEmpty ? "no DB was given" : "no TEXT was given")
    }
    let text = try InputText(joining: Array(arguments.operands.dropFirst()))
    if PlainText.isBlank(text.bytes) { throw arguments.usage("TEXT is empty") }
    let filter = try DocumentFilter(arguments)
    let collection = try PassageCollection(reading: arguments.operands[0].path("DB", invocation))
    let hits = try collection.search(
      Array(text.bytes), count: count, filter, try collection.embedder(model), command: invocation
    ).hits
    for hit in hits {
      if arguments.has(.json) {
        output.write(json(hit))
      } else {
        var line = Array("\(decimal(hit.score, digits: 4))\t".utf8)
        PlainText.append(hit.passage.place(ofByte: 0).utf8, to: &line)
        line.append(UInt8(ascii: "\t"))
        PlainText.append(hit.passage.text, to: &line)
        output.write(line + [UInt8(ascii: "\n")])
      }
      try output.flushIfLarge()
    }
    return hits.isEmpty ? .noAnswer : .done
  }

  private static func json(_ hit: PassageCollection.Hit) -> [UInt8] {
    let passage = hit.passage
    var writer = JSONWriter()
    writer.object { writer in
      writer.number("score", Float(hit.score))
      passage.writePlace(ofByte: 0, to: &writer)
      writer.range("bytes", TextRange(start: passage.start, end: passage.start + passage.text.count))
      writer.string("text", passage.text)
    }
    return writer.takeLine()
  }
}
