"""Answers and "no answer" in long documents.

usage: long_documents.py DATA.jsonl... [--model DIR] [--readings R...] [--windows N...] [--articles CHARACTERS]
                         [--questions COUNT] [--texts FOLDER] [--threads N] [--json FILE]

A row of the table for each reading R: "default", a number of windows, "all", or "stride" (doc_stride=128, all windows).
The documents are one of these:

- Each question's passage is put among passages of other questions, at a random place, until the document has about N
  windows of 384 tokens.
- With --articles, a document has the passages that are next to the question's in the order of ids, mostly of one
  article, up to so many characters.
- If DATA has "document" instead of "context", such as books.jsonl and articles.jsonl, it is the text of that name that
  long_texts.py makes in FOLDER.

EM, F1: of the answerable questions, if all are answered. right: their share whose answer has all words of a true one.
kept: their share that is answered at the model's own threshold; F1 at own: if only those are.
related, absent: the shares of other questions that are answered although the document does not answer them: "related"
ones were written for a passage that it has, or for it; "absent" ones have a document of other passages.
read: the windows read of a document. first, next: milliseconds of processor time of a document's first question,
tokens included, and of a further one. These three are of answerable and related questions.

With "stride", the best of many windows' scores is higher by chance, so that the model raises its threshold with their
number; there is another row with the threshold of one window for all documents ("fixed").
"""

import argparse
import json
import random
import re
import time

import long_texts
from accuracy import mean, measurement, percent, read, records

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


def text_questions(questions, folder, generator):
    """As long_questions: of questions that name their text. Absent ones have 100 windows of other texts."""
    texts = {name: long_texts.text(name, folder) for name in dict.fromkeys(q["document"] for q in questions)}
    # About as many of each text.
    pool = []
    for name in texts:
        passages = passages_of(texts[name])
        pool += [(name, passage) for passage in generator.sample(passages, min(100, len(passages)))]
    kinds = {kind: [] for kind in KINDS}
    for question in questions:
        name = question["document"]
        words = " ".join(texts[name].split())
        answers = [answer["text"] for answer in question["answers"]]
        for answer in answers:
            if answer not in words:
                raise SystemExit(f"{name} does not have the answer {answer!r} to {question['question']!r}")
        kinds["answerable" if answers else "related"].append({**question, "context": texts[name]})
        others = [
            passage
            for other, passage in pool
            if other != name and not any(answer in passage for answer in answers)
        ]
        document = long_document((), others, 100, generator)
        kinds["absent"].append({**question, "context": document, "answers": []})
    return kinds


def passages_of(text):
    """The paragraphs of a text, short ones together."""
    passages = [""]
    for paragraph in re.split(r"\n\s*\n", text):
        if len(passages[-1]) + len(paragraph) > WINDOW_CHARACTERS:
            passages.append("")
        passages[-1] += paragraph + "\n\n"
    return [passage for passage in passages if len(passage) > WINDOW_CHARACTERS // 2]


def asked(context, questions, **options):
    """[(Measured, processor seconds, True if it is the first question about its document)] of each question."""
    own = context.info.no_answer_threshold
    rows = []
    text = document = None
    for question in questions:
        start = time.process_time()
        is_first = question["context"] is not text
        if is_first:
            text = question["context"]
            document = context.prepare(text)
        result = document.answer(question["question"], **options)
        rows.append((measurement(question, result, own), time.process_time() - start, is_first))
    return rows


STRIDE = 128


def reading_options(name):
    if name == "stride":
        return {"doc_stride": STRIDE}
    return {"max_windows": {"default": 0, "all": -1}[name] if name in ("default", "all") else int(name)}


def line(name, windows, kinds, own, corrected):
    """A row of the table, {column: text}; kinds: {kind: what asked returns}."""
    answered = {
        kind: [row.gap + (0 if corrected else row.rise) >= own for row, _, _ in part]
        for kind, part in kinds.items()
    }
    answerable = [row for row, _, _ in kinds["answerable"]]
    kept = list(zip(answerable, answered["answerable"]))
    times = [(row, seconds, first) for kind in ("answerable", "related") for row, seconds, first in kinds[kind]]
    values = {
        "EM": percent(row.exact for row in answerable),
        "F1": percent(row.f1 for row in answerable),
        "right": percent(row.right for row in answerable),
        "kept": percent(answered["answerable"]),
        "F1 at own": percent(row.f1 * is_kept for row, is_kept in kept),
        "related": percent(answered["related"]),
        "absent": percent(answered["absent"]),
        "read": mean(row.windows for row, _, _ in times),
        "first": mean(1000 * seconds for _, seconds, first in times if first),
        "next": mean(1000 * seconds for _, seconds, first in times if not first),
    }
    return {
        "reading": (name if corrected else f"{name}, fixed").ljust(13),
        "windows": f"{windows or '–':>7}",
        **{title: "–".rjust(6) if value is None else f"{value:6.1f}" for title, value in values.items()},
    }


def main():
    import bertqa

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="+")
    parser.add_argument("--model")
    parser.add_argument("--readings", nargs="+", default=["default"], help="default, a number, all, stride")
    parser.add_argument("--windows", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--articles", type=int, metavar="CHARACTERS", help="documents of neighbouring passages")
    parser.add_argument("--questions", type=int, default=100, help="of each kind")
    parser.add_argument("--texts", default="build/texts", help="the folder of long texts")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", help="write each question's numbers here, one a line")
    arguments = parser.parse_args()

    named = "document" in next(records(arguments.data[0]), {})
    questions = [question for path in arguments.data for question in (records if named else read)(path)]
    if arguments.json:
        open(arguments.json, "w", encoding="utf-8").close()
    titles = None
    with bertqa.Context(arguments.model, threads=arguments.threads) as context:
        own = context.info.no_answer_threshold
        for windows in [0] if arguments.articles or named else arguments.windows:
            # The same questions in documents of all sizes.
            generator = random.Random(1)
            if named:
                kinds = text_questions(questions, arguments.texts, generator)
            elif arguments.articles:
                kinds = article_questions(questions, arguments.articles, arguments.questions, generator)
            else:
                kinds = long_questions(questions, windows, arguments.questions, generator)
            for name in arguments.readings:
                options = reading_options(name)
                rows = {kind: asked(context, part, **options) for kind, part in kinds.items()}
                for corrected in (True, False) if "doc_stride" in options else (True,):
                    cells = line(name, windows, rows, own, corrected)
                    if not titles:
                        titles = [title.rjust(len(cell)) for title, cell in cells.items()]
                        print("  ".join(titles), flush=True)
                    print(
                        "  ".join(cell.rjust(len(title)) for cell, title in zip(cells.values(), titles)),
                        flush=True,
                    )
                if arguments.json:
                    with open(arguments.json, "a", encoding="utf-8") as file:
                        for kind, part in rows.items():
                            for question, (row, _, _) in zip(kinds[kind], part):
                                about = {"reading": name, "size": windows, "kind": kind}
                                about |= {"question": question["question"]}
                                json.dump({**about, **row._asdict()}, file)
                                file.write("\n")


if __name__ == "__main__":
    main()
