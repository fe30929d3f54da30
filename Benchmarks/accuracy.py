"""EM and F1 of a model through the library, by SQuAD's official definition.

usage: accuracy.py DATA.jsonl [--model DIR] [--precision P] [--isa I] [--limit N] [--json FILE]

DATA has one question a line: {"context", "question", "answers": [{"text"}, ...]}; no answers mean that the
question cannot be answered. The answerable ones are scored as in SQuAD 1.1 (a span is always given), all
together as in SQuAD 2.0 (an empty answer where the gap is below a threshold; the model's, and the best one).
"""

import argparse
import collections
import json
import re
import string
import sys

import bertqa

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = set(string.punctuation)


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
    """The threshold on the gap with the highest mean F1; rows: (gap, F1 if answered, F1 if not)."""
    rows = sorted(rows, reverse=True)
    total = best = sum(unanswered for _, _, unanswered in rows)
    threshold = float("inf")
    for gap, answered, unanswered in rows:
        total += answered - unanswered
        if total > best:
            best, threshold = total, gap
    return threshold, best / len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--model")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--isa", default="auto")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--json", help="write each question's prediction here, one a line")
    arguments = parser.parse_args()

    with open(arguments.data, encoding="utf-8") as file:
        questions = [json.loads(line) for line in file][: arguments.limit]
    results = []
    with bertqa.Context(
        arguments.model, precision=arguments.precision, isa=arguments.isa
    ) as context:
        info = context.info
        for start in range(0, len(questions), 64):
            batch = [(q["question"], q["context"]) for q in questions[start : start + 64]]
            results += context.answer_batch(batch)
            if sys.stderr.isatty():
                print(f"\r{len(results)}/{len(questions)}", end="", file=sys.stderr)

    exact, f1, rows = [], [], []
    for question, result in zip(questions, results):
        truths = [answer["text"] for answer in question["answers"]]
        e, f = scores(result.answer.text if result.answer else "", truths) if truths else (0.0, 0.0)
        rows.append((result.gap, f, float(not truths)))
        if truths:
            exact.append(e)
            f1.append(f)
    own = info.no_answer_threshold
    at_own = sum(answered if gap >= own else unanswered for gap, answered, unanswered in rows) / len(rows)
    threshold, at_best = best_threshold(rows)
    print(f"{info.directory}: {info.architecture}, precision {info.precision}, isa {info.isa}")
    print(f"answerable questions: {len(exact)}, EM {100 * sum(exact) / len(exact):.2f}, F1 {100 * sum(f1) / len(f1):.2f}")
    print(f"all questions: {len(rows)}, F1 {100 * at_own:.2f} at the model's threshold {own:.2f}, "
          f"{100 * at_best:.2f} at the best one ({threshold:.2f})")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            for question, result in zip(questions, results):
                best = result.answer
                json.dump({"id": question.get("id"), "text": best.text if best else "",
                           "score": best.score if best else None, "null_score": result.null_score}, file)
                file.write("\n")


if __name__ == "__main__":
    main()
