#!/usr/bin/env python3
"""How well classifiers that `train-classifier` makes of the default topics carry over to a source not seen.

Trains on two of the data's three sources and predicts the third, for each of the three: its texts one by one, and
joined to documents of a length. Then trains on all and predicts the sample of news texts in Tests/python/sample.
Accuracies are means over the labels (recall), then over the sources.

usage: PYTHONPATH=bindings/python python3 Benchmarks/topics.py DATA   (scikit-learn for its line of the table)
       PYTHONPATH=bindings/python python3 Benchmarks/topics.py --features DATA   words against vectors, by the number
           of training texts: the first 160 characters of each text, 1,000 texts held out
       PYTHONPATH=bindings/python python3 Benchmarks/topics.py --no-topic FILE...   how sure the default model is of
           texts that are about none of its topics, in parts of several lengths
"""

import importlib.util
import pathlib
import random
import re
import statistics
import sys
import tempfile

import bertqa

ROOT = pathlib.Path(__file__).resolve().parents[1]
LENGTHS = (0, 500, 2000)
SETTINGS = {
    "naive Bayes, max_document_fraction 0.2": dict(algorithm="naive_bayes", max_document_fraction=0.2),
    "naive Bayes": dict(algorithm="naive_bayes"),
    "naive Bayes, words and pairs": dict(algorithm="naive_bayes", max_ngram=2),
    "naive Bayes, TF-IDF, alpha 0.1": dict(algorithm="naive_bayes", tf_idf=True, alpha=0.1),
    "logistic regression": {},
    "logistic regression, TF-IDF, c 30": dict(tf_idf=True, c=30.0),
    "logistic regression, TF-IDF, c 30, max_document_fraction 0.2": dict(
        tf_idf=True, c=30.0, max_document_fraction=0.2
    ),
    "logistic regression, TF-IDF, c 30, max_document_fraction 0.2, words and pairs": dict(
        tf_idf=True, c=30.0, max_document_fraction=0.2, max_ngram=2
    ),
}


def load(path):
    """[(text, label, source)], prepared as for the default model."""
    # Before this directory, which has a module of that name.
    sys.path.insert(0, str(ROOT / "training"))
    from topics.texts import read_topics

    return read_topics(path)


def documents(texts, length, seed):
    """Texts of one label joined, at random, until they have `length` characters. 0: the texts themselves."""
    if length == 0:
        return [(text, label) for text, label, _ in texts]
    joined = []
    for label in sorted({label for _, label, _ in texts}):
        own = [text for text, other, _ in texts if other == label]
        random.Random(seed).shuffle(own)
        current = ""
        for text in own:
            current += text + "\n"
            if len(current) >= length:
                joined.append((current, label))
                current = ""
    return joined


def sentences(texts):
    return [
        (sentence, label, source)
        for text, label, source in texts
        for sentence in re.split(r"(?<=[.])\s+(?=[A-Z])", text)
    ]


def recall(predict, pairs):
    """Mean over the labels of the part that is right."""
    predicted = predict([text for text, _ in pairs])
    right = {}
    for (_, label), found in zip(pairs, predicted):
        right.setdefault(label, []).append(found == label)
    return statistics.mean(statistics.mean(values) for values in right.values())


def own(options):
    def train(texts):
        with tempfile.TemporaryDirectory() as directory:
            model = f"{directory}/model"
            labels = [label for _, label, _ in texts]
            bertqa.train_classifier([text for text, _, _ in texts], labels, model, folds=0, **options)
            context = bertqa.Context(model)
        return lambda batch: [result.label for result in context.classify_batch(batch)]

    return train


def scikit_learn(texts):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=3000))
    model.fit([text for text, _, _ in texts], [label for _, label, _ in texts])
    return model.predict


def row(train, data, news):
    cells = []
    sources = sorted({source for _, _, source in data})
    predictors = {source: train([text for text in data if text[2] != source]) for source in sources}
    for length in LENGTHS:
        cells.append(
            statistics.mean(
                recall(predictors[source], documents([t for t in data if t[2] == source], length, seed))
                for source in sources
                for seed in range(4 if length else 1)
            )
        )
    predict = train(data)
    cells.append(recall(predict, documents(sentences(news), 0, 0)))
    cells.append(recall(predict, documents(news, 0, 0)))
    return cells


def features(path):
    texts = load(path)
    random.Random(0).shuffle(texts)
    texts = [(text[:160], label) for text, label, _ in texts[:2400]]
    held, rest = texts[:1000], texts[1000:]
    print("| training texts | words | words, naive Bayes | embedding |")
    print("|---|---|---|---|")
    for count in 50, 200, 1400:
        cells = []
        for options in {}, {"algorithm": "naive_bayes"}, {"features": "embedding"}:
            predict = own(options)([(text, label, "") for text, label in rest[:count]])
            found = predict([text for text, _ in held])
            cells.append(statistics.mean(one == label for one, (_, label) in zip(found, held)))
        print(f"| {count:,} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |", flush=True)


def no_topic(paths):
    print("| text | characters | parts | mean probability | at least 0.7 |")
    print("|---|---|---|---|---|")
    with bertqa.Context(task="classify") as context:
        for path in map(pathlib.Path, paths):
            text = path.read_text(encoding="utf-8")
            for length in (500, 2000, 20_000, len(text)):
                parts = [text[start : start + length] for start in range(0, len(text) - length + 1, length)][:200]
                best = [result.probability for result in context.classify_batch(parts)]
                sure = statistics.mean(probability >= 0.7 for probability in best)
                print(f"| {path.stem} | {length:,} | {len(parts)} | {statistics.mean(best):.3f} | {sure:.2f} |")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--no-topic":
        return no_topic(sys.argv[2:])
    if sys.argv[1] == "--features":
        return features(pathlib.Path(sys.argv[2]))
    data = load(pathlib.Path(sys.argv[1]))
    # Without a source: it is not held out.
    news = load(ROOT / "Tests" / "python" / "sample" / "news.jsonl")
    rows = {name: own(options) for name, options in SETTINGS.items()}
    if importlib.util.find_spec("sklearn"):
        rows["scikit-learn: CountVectorizer + LogisticRegression"] = scikit_learn
    print("| | texts | 500 characters | 2,000 characters | news: sentences | news: texts |")
    print("|---|---|---|---|---|---|")
    for name, train in rows.items():
        print(f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in row(train, data, news)) + " |", flush=True)


if __name__ == "__main__":
    main()
