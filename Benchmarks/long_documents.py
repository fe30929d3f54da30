"""Answers and "no answer" in long documents.

usage: long_documents.py DATA.jsonl... [--model DIR] [--windows N...] [--articles CHARACTERS] [--questions COUNT]
                         [--max-windows M] [--doc-stride N] [--json FILE]

Each question's passage is put among passages of other questions, at a random place, until the document has about N
windows of 384 tokens. A row of the table: how many of the answerable questions are answered at the model's own threshold
(kept), their F1 if all are and if those are, and how many are answered of those that the document does not answer:
"related" ones, written for a passage that it has, and "absent" ones, whose passage it has not; and the windows read of a document.
With --articles, a document has the passages that are next to the question's in the order of ids, mostly of one article,
up to so many characters; there are no "absent" questions. With --doc-stride, the best of many windows' scores is higher by chance: there is a row with the threshold of one window
for all documents, and one with the threshold that the model raises with their number.
"""

import argparse
import json
import random

from accuracy import mean, measured, read

# Characters of English text that one window adds: 384 tokens less the question and the 128 shared.
WINDOW_CHARACTERS = 1100
KINDS = ("answerable", "related", "absent")


def long_document(passages, others, windows, generator):
    """`passages` among random ones of `others`, about so many windows; at least one passage."""
    parts = list(passages)
    while not parts or sum(map(len, parts)) < (windows - 1) * WINDOW_CHARACTERS:
        parts.append(generator.choice(others))
    generator.shuffle(parts)
    return "\n\n".join(dict.fromkeys(parts))


def long_questions(questions, windows, count, generator):
    """{kind: questions} of each of KINDS, `count` at most, with documents of about so many windows.

    Absent ones are the answerable ones without their passage, and have no answers.
    """
    chosen = {}
    passages = sorted({question["context"] for question in questions})
    for answerable in (True, False):
        kind = [question for question in questions if bool(question["answers"]) == answerable]
        chosen[answerable] = generator.sample(kind, min(count, len(kind)))

    def made(question, *own):
        others = [passage for passage in passages if passage != question["context"]]
        return {**question, "context": long_document(own, others, windows, generator)}

    return {
        "answerable": [made(question, question["context"]) for question in chosen[True]],
        "related": [made(question, question["context"]) for question in chosen[False]],
        "absent": [{**made(question), "answers": []} for question in chosen[True]],
    }


def article_questions(questions, characters, count, generator):
    """As long_questions: each passage is among its neighbours in the order of ids."""
    first = {}
    for question in questions:
        known = first.get(question["context"], question["id"])
        first[question["context"]] = min(known, question["id"])
    passages = sorted(first, key=first.__getitem__)
    places = {passage: place for place, passage in enumerate(passages)}

    def made(question):
        start = end = places[question["context"]]
        size = len(question["context"])
        while size < characters and (start > 0 or end < len(passages) - 1):
            if end == len(passages) - 1 or start > 0 and generator.random() < 0.5:
                start -= 1
                size += len(passages[start])
            else:
                end += 1
                size += len(passages[end])
        return {**question, "context": "\n\n".join(passages[start : end + 1])}

    chosen = {}
    for kind, answerable in ("answerable", True), ("related", False):
        part = [question for question in questions if bool(question["answers"]) == answerable]
        chosen[kind] = [made(question) for question in generator.sample(part, min(count, len(part)))]
    return {**chosen, "absent": []}


def line(windows, rows, own, corrected):
    """A line of the table; rows: {kind: rows}."""
    answered = {
        kind: [row.gap + (0 if corrected else row.rise) >= own for row in part] for kind, part in rows.items()
    }
    answerable = list(zip(rows["answerable"], answered["answerable"]))
    shares = [100 * mean(answered[kind]) if rows[kind] else float("nan") for kind in KINDS]
    return (
        f"{windows:7}  {'rising' if corrected else 'fixed':9}  {shares[0]:4.1f}  "
        f"{100 * mean(row.f1 for row, _ in answerable):4.1f}  "
        f"{100 * mean(row.f1 * kept for row, kept in answerable):9.1f}  {shares[1]:16.1f}  {shares[2]:14.1f}  "
        f"{mean(row.windows for part in rows.values() for row in part):4.1f}"
    )


def main():
    import bertqa

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="+")
    parser.add_argument("--model")
    parser.add_argument("--windows", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--articles", type=int, metavar="CHARACTERS", help="documents of neighbouring passages")
    parser.add_argument("--questions", type=int, default=100, help="of each kind")
    parser.add_argument("--max-windows", type=int, default=0, help="0: as many as it takes; -1: all")
    parser.add_argument("--doc-stride", type=int, help="read overlapping windows, as Hugging Face's pipeline does")
    parser.add_argument("--json", help="write each question's numbers here, one a line")
    arguments = parser.parse_args()

    questions = [question for path in arguments.data for question in read(path)]
    options = {"max_windows": arguments.max_windows}
    if arguments.doc_stride is not None:
        options["doc_stride"] = arguments.doc_stride
    print("windows  threshold  kept    F1  F1 at own  related answered  absent answered  read", flush=True)
    with bertqa.Context(arguments.model) as context:
        own = context.info.no_answer_threshold
        for windows in [0] if arguments.articles else arguments.windows:
            # The same questions in documents of all sizes.
            kinds = (
                article_questions(questions, arguments.articles, arguments.questions, random.Random(1))
                if arguments.articles
                else long_questions(questions, windows, arguments.questions, random.Random(1))
            )
            rows = {kind: measured(context, part, 8, **options) for kind, part in kinds.items()}
            for corrected in (False, True) if arguments.doc_stride is not None else (True,):
                print(line(windows, rows, own, corrected), flush=True)
            if arguments.json:
                with open(arguments.json, "a", encoding="utf-8") as file:
                    for kind, part in rows.items():
                        for row in part:
                            json.dump({"size": windows, "kind": kind, **row._asdict()}, file)
                            file.write("\n")


if __name__ == "__main__":
    main()
