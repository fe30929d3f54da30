"""EM and F1 of a model through the library, by SQuAD's official definition: one table for all sets.

usage: accuracy.py DATA.jsonl... [--model DIR] [--precision P] [--isa I] [--limit N] [--unmarked | --keywords]
                   [--around MARKS] [--json FILE]

DATA has one question a line: {"context", "question", "answers": [{"text"}, ...], "source"}; no answers mean that the
question cannot be answered. SQuAD's JSON and the other forms of training/README.md are read, too. EM and F1 are those of SQuAD 1.1: a span is always given, and only answerable questions
count. "F1 at own" and "at best" are those of SQuAD 2.0 over all questions: an empty answer where the gap is below a
threshold, the model's own or the best one of that set. "kept" and "rejected" are the shares of the answerable questions
that are answered at the model's own threshold, and of the unanswerable ones that are not. With --around, a true answer
stands between MARKS in the passage, such as "**{}**" or "<b>{}</b>", and another line says how many answers are true ones
in every character: EM and F1 do not see marks.
"""

import argparse
import collections
import itertools
import json
import lzma
import pathlib
import re
import string
import sys

# Where training/ reads questions.
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "training"))

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = set(string.punctuation)
COLUMNS = ("set", "questions", "EM", "F1", "F1 at own", "at best", "best threshold", "kept", "rejected")


def normalized(text):
    """Lower case, without punctuation, articles and extra white space."""
    text = "".join(c for c in text.lower() if c not in PUNCTUATION)
    return " ".join(ARTICLES.sub(" ", text).split())


def scores(prediction, truths):
    """(exact match, F1) of a prediction against the best of several true answers."""
    exact = f1 = 0.0
    predicted = normalized(prediction)
    tokens = predicted.split()
    for truth in map(normalized, truths):
        exact = max(exact, float(predicted == truth))
        true_tokens = truth.split()
        if not tokens or not true_tokens:
            f1 = max(f1, float(tokens == true_tokens))
            continue
        common = sum((collections.Counter(tokens) & collections.Counter(true_tokens)).values())
        f1 = max(f1, 2.0 * common / (len(tokens) + len(true_tokens)))
    return exact, f1


def best_threshold(rows):
    """The threshold on the gap with the highest mean F1, and that; rows: (gap, F1 if answered, F1 if not)."""
    rows = sorted(rows, reverse=True)
    total = best = sum(unanswered for _, _, unanswered in rows)
    threshold = float("inf")
    # Questions of the same gap are answered together.
    for gap, equal in itertools.groupby(rows, key=lambda row: row[0]):
        total += sum(answered - unanswered for _, answered, unanswered in equal)
        if total > best:
            best, threshold = total, gap
    return threshold, best / len(rows)


Measured = collections.namedtuple("Measured", "source answerable exact f1 gap text score null_score "
                                  "probability no_answer_probability windows rise right",
                                  defaults=(1, 0.0, False))  # fmt: skip
Measured.__doc__ = """The library's best answer to a question.

gap: minus `rise`, by which the model raises its threshold for that many windows, so that it compares with the model's own.
right: true if the answer has all words of a true one, in their order.
"""


def measurement(question, result, own):
    """The `Measured` of a question's result.

    own: the model's own threshold.
    """
    truths = [answer["text"] for answer in question["answers"]]
    answer = result.answer
    text = answer.text if answer else ""
    exact, f1 = scores(text, truths) if truths else (0.0, 0.0)
    rise = result.no_answer_threshold - own
    return Measured(
        question.get("source", ""), bool(truths), exact, f1, result.gap - rise, text,
        answer.score if answer else None, result.null_score,
        answer.probability if answer else 0.0, result.no_answer_probability,
        result.window_count, rise,
        any(f" {normalized(truth)} " in f" {normalized(text)} " for truth in truths))  # fmt: skip


def measured(context, questions, batch=64, **options):
    """One `Measured` for each question, answered by a bertqa.Context with these options."""
    own = context.info.no_answer_threshold
    rows = []
    for start in range(0, len(questions), batch):
        part = questions[start : start + batch]
        pairs = [(question["question"], question["context"]) for question in part]
        results = context.answer_batch(pairs, **options)
        rows += [measurement(question, result, own) for question, result in zip(part, results)]
        if sys.stderr.isatty():
            print(f"\r{len(rows)}/{len(questions)}", end="", file=sys.stderr)
    return rows


def summary(name, rows, threshold):
    """A line of the table, as a value for each of COLUMNS; None where a set has no such questions."""
    answerable = [row for row in rows if row.answerable]
    others = [row for row in rows if not row.answerable]
    pairs = [(row.gap, row.f1, float(not row.answerable)) for row in rows]
    at_own = mean(answered if gap >= threshold else unanswered for gap, answered, unanswered in pairs)
    # In a set of one kind of questions, it is best to answer all or none.
    best, at_best = best_threshold(pairs) if answerable and others else (None, None)
    return (
        name, len(rows), percent(row.exact for row in answerable), percent(row.f1 for row in answerable),
        100 * at_own, None if at_best is None else 100 * at_best, best,
        percent(row.gap >= threshold for row in answerable), percent(row.gap < threshold for row in others),
    )  # fmt: skip


def table(sets, threshold):
    """Summaries of each source, and of each set that has answerable and unanswerable questions as a whole.

    sets: (name, rows) of each data file.
    """
    lines = []
    for name, rows in sets:
        sources = sorted({row.source for row in rows})
        for source in sources:
            lines.append(summary(source or name, [row for row in rows if row.source == source], threshold))
        if len(sources) > 1 and len({row.answerable for row in rows}) > 1:
            lines.append(summary(f"{name}, all", rows, threshold))
    return lines


def printed(lines):
    """The table as text: COLUMNS, then the lines."""
    cells = [list(COLUMNS)] + [["–" if v is None else v if isinstance(v, str) else str(v) if isinstance(v, int)
                                else f"{v:.2f}" for v in line] for line in lines]  # fmt: skip
    widths = [max(len(row[column]) for row in cells) for column in range(len(COLUMNS))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])])
        for row in cells
    )


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def percent(values):
    value = mean(values)
    return None if value is None else 100 * value


def records(path):
    """The records of a file of JSON lines, which may be compressed (.xz) and have blank lines."""
    opener = lzma.open if str(path).endswith(".xz") else open
    with opener(path, "rt", encoding="utf-8-sig") as file:
        yield from (json.loads(line) for line in file if line.strip())


def read(path, limit=None):
    """The questions of a file."""
    from qa.examples import read_questions

    return read_questions(path)[:limit]


def passages(path):
    """The different passages of a file of questions."""
    return list(dict.fromkeys(record["context"] for record in records(path)))


def around_answer(question, marks):
    """The passage with these marks around the first true answer."""
    context, answers = question["context"], question["answers"]
    if not answers:
        return context
    text = answers[0]["text"]
    start = answers[0]["answer_start"] if "answer_start" in answers[0] else context.index(text)
    return context[:start] + marks.format(text) + context[start + len(text) :]


def main():
    import bertqa

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="+")
    parser.add_argument("--model")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--isa", default="auto")
    parser.add_argument("--limit", type=int, help="only this many questions of each file")
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--unmarked", action="store_true", help="ask without the question mark at the end")
    asked.add_argument("--keywords", action="store_true", help="ask without function words, too")
    parser.add_argument("--around", metavar="MARKS", help="put these around a true answer in the passage")
    parser.add_argument("--json", help="write each question's prediction here, one a line")
    arguments = parser.parse_args()

    files = [(path, read(path, arguments.limit)) for path in arguments.data]
    left_out = set()
    if arguments.keywords:
        from common.forms import FUNCTION_WORDS

        left_out = set(FUNCTION_WORDS)
    if arguments.unmarked or arguments.keywords:
        for question in itertools.chain.from_iterable(questions for _, questions in files):
            text = question["question"].rstrip("? ")
            question["question"] = " ".join(word for word in text.split() if word.lower() not in left_out) or text
    if arguments.around:
        for question in itertools.chain.from_iterable(questions for _, questions in files):
            question["context"] = around_answer(question, arguments.around)
    with bertqa.Context(arguments.model, precision=arguments.precision, isa=arguments.isa) as context:
        info = context.info
        sets = [(path.rsplit("/", 1)[-1].removesuffix(".jsonl"), measured(context, questions))
                for path, questions in files]  # fmt: skip
    print(
        f"{info.directory}: {info.architecture}, precision {info.precision}, isa {info.isa}, "
        f"threshold {info.no_answer_threshold:.2f}"
    )
    print(printed(table(sets, info.no_answer_threshold)))
    if arguments.around:
        answered = [
            row.text in [answer["text"] for answer in question["answers"]]
            for (_, questions), (_, rows) in zip(files, sets)
            for question, row in zip(questions, rows)
            if question["answers"]
        ]
        print(f"true in every character: {percent(answered):.2f} %")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            for (_, questions), (_, rows) in zip(files, sets):
                for question, row in zip(questions, rows):
                    json.dump(
                        {
                            "id": question.get("id"),
                            "text": row.text,
                            "score": row.score,
                            "null_score": row.null_score,
                        },
                        file,
                    )
                    file.write("\n")


if __name__ == "__main__":
    main()
