#!/usr/bin/env python3
"""Make models/topics-words: a word-count model taught by an embedding model.

training/README.md explains the recipe, the model's card how its settings were chosen.
"""

import argparse
import collections
import os

import numpy as np

from qa.calibration import calibration_error
from topics.calibration import even_weights, fitted, probabilities
from topics.export import write_model
from topics.student import ALPHA, MAX_FRACTION, MIN_DOCUMENTS, PRIOR, Student
from topics.teacher import OTHER, Teacher, vectors
from topics.texts import (
    MIN_WORD_LENGTH,
    PASSAGE_LENGTH,
    documents,
    openings,
    read_passages,
    read_topics,
    sentences,
    words,
)

MIN_DISTINCT_WORDS = 3
#: How texts of a source not seen are measured, and the temperature is fitted.
KINDS = ("openings", "sentences", "texts", "documents")


class Collection:
    """Texts of one kind: their counts, labels and sources."""

    def __init__(self, texts, counter, names):
        self.counts = counter.transform([text.text for text in texts]).astype(float)
        self.labels = np.array([names.index(text.label) for text in texts])
        self.sources = np.array([text.source for text in texts])


class Recipe:
    def __init__(self, topics, passages, context, state):
        from sklearn.feature_extraction.text import CountVectorizer

        self.names = sorted({text.label for text in topics})
        self.sources = sorted({text.source for text in topics})
        counter = CountVectorizer(analyzer=words, min_df=MIN_DOCUMENTS)
        counter.fit([text.text for text in topics] + passages)
        self.words = list(counter.get_feature_names_out())
        places = {text: place for place, text in enumerate(passages)}
        parts = sentences(topics)
        kinds = openings(parts), parts, topics, documents(topics, places)
        self.kinds = dict(zip(KINDS, (Collection(texts, counter, self.names) for texts in kinds)))
        # Texts and their sentences teach; passages and single words are taught.
        self.taught = [*topics, *parts]
        self.vectors = vectors(context, [text.text for text in self.taught], f"{state}/texts.npz")
        self.passages = counter.transform(passages).astype(float)
        self.passage_vectors = vectors(context, passages, f"{state}/passages.npz")
        self.word_vectors = vectors(context, self.words, f"{state}/words.npz")
        # The source of a passage that is a labelled text.
        source_of = {text.text[:PASSAGE_LENGTH]: text.source for text in topics}
        self.passage_sources = np.array([source_of.get(text, "") for text in passages])

    def trained(self, without=None):
        """A model of all sources but one, whose texts are not among the passages either."""
        labels = np.array([text.label for text in self.taught])
        sources = np.array([text.source for text in self.taught])
        used = sources != without
        unlabelled = self.passage_sources == ""
        teacher = Teacher(self.vectors[used], labels[used], sources[used], self.passage_vectors[unlabelled])
        texts = self.kinds["texts"]
        own = texts.sources != without
        kept = self.passage_sources != without
        return Student(
            texts.counts[own],
            texts.labels[own],
            self.passages[kept],
            teacher.probabilities(self.passage_vectors[kept]),
            teacher.probabilities(self.word_vectors),
        )

    def predictions(self, student, source):
        """Returns a source's texts of each kind: logits, occurrences, labels, and the kind's number."""
        parts = []
        for number, texts in enumerate(self.kinds.values()):
            own = texts.sources == source
            counts = texts.counts[own]
            kind = np.full(int(own.sum()), number)
            parts.append((student.logits(counts), student.occurrences(counts), texts.labels[own], kind))
        return tuple(np.concatenate(part) for part in zip(*parts))


def check(topics, passages):
    """SystemExit if they do not suffice for a model of all sources but each one."""
    sources = collections.defaultdict(set)
    for text in topics:
        sources[text.label].add(text.source)
    alone = sorted(label for label, found in sources.items() if len(found) == 1)
    if alone:
        raise SystemExit(f"--topics: a label needs texts of two sources: {', '.join(alone)}")
    if len(sources) < 2 or OTHER in sources:
        raise SystemExit(f'--topics: two labels are needed, and "{OTHER}" may not be one')
    if set(passages) <= {text.text[:PASSAGE_LENGTH] for text in topics}:
        raise SystemExit("--passages: passages are needed that are not texts of --topics")


def fitted_to(predictions):
    """The temperature for several sources' predictions, each source weighing the same."""
    weights = np.concatenate([w / w.sum() for w in (even_weights(p[2], p[3]) for p in predictions)])
    logits, occurrences, labels, _ = (np.concatenate(part) for part in zip(*predictions))
    return fitted(logits, occurrences, labels, weights)


def longest(student, texts):
    """The occurrences that three quarters of the texts have at most: longer ones are as sure as these."""
    return int(np.quantile(student.occurrences(texts.counts), 0.75))


def recall(found, labels):
    return np.mean([np.mean(found[labels == label] == label) for label in np.unique(labels)])


def report(held, longest):
    """A table of how well models carry over to a source not seen, each calibrated by the other sources."""
    print("| source | kind | texts | mean recall | accuracy | mean probability | calibration error |")
    print("|---|---|---|---|---|---|---|")
    for source, (logits, occurrences, labels, kinds) in held.items():
        temperature = fitted_to([p for other, p in held.items() if other != source])
        for number, kind in enumerate(KINDS):
            own = kinds == number
            found = probabilities(logits[own], occurrences[own], temperature, longest)
            best = found.argmax(1)
            cells = (
                recall(best, labels[own]),
                np.mean(best == labels[own]),
                np.mean(found.max(1)),
                calibration_error(found.max(1), best == labels[own]),
            )
            print(f"| {source} | {kind} | {own.sum()} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")


def main():
    import bertqa

    arguments = parsed()
    os.makedirs(arguments.state, exist_ok=True)
    topics = read_topics(arguments.topics)
    passages, licences = read_passages(arguments.passages)
    check(topics, passages)
    for licence, count in sorted(licences.items()):
        print(f"{count} passages, {licence}")
    with bertqa.Context(arguments.embedding, task="embed") as context:
        recipe = Recipe(topics, passages, context, arguments.state)
    student = recipe.trained()
    limit = longest(student, recipe.kinds["texts"])
    held = {source: recipe.predictions(recipe.trained(without=source), source) for source in recipe.sources}
    report(held, limit)
    temperature = fitted_to(list(held.values()))
    training = {
        "recipe": "training/make_topics.py",
        "algorithm": "naive_bayes",
        "alpha": ALPHA,
        "word_prior": PRIOR,
        "min_document_count": MIN_DOCUMENTS,
        "max_document_fraction": MAX_FRACTION,
    }
    features = [recipe.words[index] for index in student.features]
    if not features:
        raise SystemExit(f"no word is in {MIN_DOCUMENTS} texts and in at most {100 * MAX_FRACTION:.0f} % of them")
    write_model(
        arguments.out,
        features,
        recipe.names,
        student.weights,
        temperature,
        limit,
        MIN_WORD_LENGTH,
        MIN_DISTINCT_WORDS,
        training,
    )
    print(f"{len(features)} words, temperature {temperature[0]:.3f} + {temperature[1]:.3f} ln(1 + words)")


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topics", required=True, metavar="FILE", help="JSON lines of text, label and source")
    parser.add_argument("--passages", required=True, metavar="FILE", help="JSON lines with a context; also .xz")
    parser.add_argument("--out", required=True, metavar="DIR", help="the model")
    parser.add_argument("--embedding", metavar="DIR", help="an embedding model; default: libbertqa's")
    parser.add_argument("--state", metavar="DIR", help="where vectors are kept; default: OUT-state")
    arguments = parser.parse_args()
    arguments.state = arguments.state or arguments.out.rstrip("/") + "-state"
    return arguments


if __name__ == "__main__":
    main()
