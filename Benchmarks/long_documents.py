"""Answers and "no answer" in long documents: the best of many windows' scores is higher by chance.

usage: long_documents.py DATA.jsonl [--model DIR] [--windows N...] [--questions COUNT]

Each question's passage is put among passages of other questions, at a random place, until the document has about N
windows of 384 tokens. A row of the table: how often the answerable questions are answered at the model's own threshold
(kept) and right, how often the unanswerable ones are not answered (rejected), and the median gaps of both.
"""

import argparse
import random
import statistics

from accuracy import mean, measured, read

# Characters of English text that one window adds: 384 tokens less the question and the 128 shared.
WINDOW_CHARACTERS = 1100


def long_document(passage, others, windows, generator):
    """`passage` among random ones of `others`; with one window alone."""
    parts = [passage]
    while sum(map(len, parts)) < (windows - 1) * WINDOW_CHARACTERS:
        parts.append(generator.choice(others))
    generator.shuffle(parts)
    return "\n\n".join(dict.fromkeys(parts))


def main():
    import bertqa

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--model")
    parser.add_argument("--windows", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--questions", type=int, default=100, help="of each kind")
    arguments = parser.parse_args()

    generator = random.Random(1)
    questions = read(arguments.data)
    generator.shuffle(questions)
    kinds = [[q for q in questions if bool(q["answers"]) == answerable] for answerable in (True, False)]
    chosen = [question for kind in kinds for question in kind[: arguments.questions]]
    passages = sorted({question["context"] for question in questions})
    print("windows  kept    EM    F1  F1 at own  rejected  median gap, answerable  unanswerable")
    with bertqa.Context(arguments.model) as context:
        own = context.info.no_answer_threshold
        for windows in arguments.windows:
            rows = measured(context, [
                {**q, "context": long_document(q["context"], passages, windows, generator)} for q in chosen
            ], batch=8)  # fmt: skip
            answerable = [row for row in rows if row.answerable]
            others = [row for row in rows if not row.answerable]
            print(
                f"{windows:7}  {100 * mean(row.gap >= own for row in answerable):4.1f}  "
                f"{100 * mean(row.exact for row in answerable):4.1f}  {100 * mean(row.f1 for row in answerable):4.1f}  "
                f"{100 * mean(row.f1 * (row.gap >= own) for row in answerable):9.1f}  "
                f"{100 * mean(row.gap < own for row in others):8.1f}  "
                f"{statistics.median(row.gap for row in answerable):22.2f}  "
                f"{statistics.median(row.gap for row in others):12.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
