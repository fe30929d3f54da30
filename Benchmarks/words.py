#!/usr/bin/env python3
"""Speed of the word-count classifier, one thread, and of its training beside scikit-learn's on the same texts.

Times are CPU seconds of the process (the best of several for classifying), so that other work on the machine
disturbs them little. Texts are the passages of DATA (JSON lines with "context", as SQuAD's are, may be .xz);
training takes their sentences, labelled by the default model.

usage: PYTHONPATH=bindings/python python3 Benchmarks/words.py DATA [COUNT]   (needs numpy and scikit-learn)
"""

import ctypes
import random
import re
import sys
import tempfile
import time
import warnings

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

import bertqa
from accuracy import passages
from bertqa import _abi, _classify, _native

COUNT = 100_000


def sentences(texts, count):
    found = {s for text in texts for s in re.split(r"(?<=[.!?])\s+(?=[A-Z])", text) if len(s) >= 30}
    chosen = sorted(found)
    random.Random(0).shuffle(chosen)
    with bertqa.Context(task="classify") as context:
        labelled = [(t, r.label) for t, r in zip(chosen, context.classify_batch(chosen)) if r.label]
    return labelled[:count]


def classify_rate(texts, contributions=0):
    """Megabytes a second, through the C ABI."""
    lib = _native.library()
    options = _abi.ClassifyOptions(contributions=contributions)
    array = _classify.text_pairs(texts)
    best = float("inf")
    with bertqa.Context(task="classify", threads=1) as context:
        for _ in range(7):
            results = (ctypes.c_void_p * len(texts))()
            start = time.process_time()
            status = lib.classify_batch(
                context._opened().pointer, array, len(texts), ctypes.byref(options), results, None
            )
            best = min(best, time.process_time() - start)
            assert status == 0
            for pointer in results:
                lib.classification_free(pointer)
    return sum(entry.length for entry in array) / best / 1e6


def seconds(work):
    start, begin = time.process_time(), time.perf_counter()
    result = work()
    return result, time.process_time() - start, time.perf_counter() - begin


def own_training(texts, labels, **options):
    with tempfile.TemporaryDirectory() as directory:
        return bertqa.train_classifier(texts, labels, f"{directory}/model", **options)


def reference_training(texts, labels):
    counter = CountVectorizer()
    matrix = counter.fit_transform(texts)
    return LogisticRegression(max_iter=1000).fit(matrix, labels)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    texts = passages(sys.argv[1])
    size = sum(len(text.encode()) for text in texts) / 1e6
    print(f"classify, {len(texts)} passages, {size:.1f} MB, one thread:")
    documents = [" ".join(texts[n : n + 3])[:2000] for n in range(0, len(texts), 3)]
    whole = ["\n".join(texts)]
    for name, batch in (("passages", texts), ("documents of 2,000", documents), ("one document", whole)):
        print(f"  {name:20} {classify_rate(batch):6.0f} MB/s")
    print(f"  {'5 contributions each':20} {classify_rate(documents, 5):6.0f} MB/s")

    pairs = sentences(texts, int(sys.argv[2]) if len(sys.argv) > 2 else COUNT)
    texts, labels = [text for text, _ in pairs], [label for _, label in pairs]
    size = sum(map(len, texts)) / len(texts)
    print(
        f"\ntrain on {len(texts)} texts of {size:.0f} characters, {len(set(labels))} labels; seconds, CPU and elapsed:"
    )
    warnings.simplefilter("ignore")
    reference, cpu, elapsed = seconds(lambda: reference_training(texts, labels))
    print(f"  scikit-learn                    {cpu:7.1f} {elapsed:7.1f}   {reference.n_iter_[0]} iterations")
    for name, options in (
        ("one thread", dict(folds=0, threads=1)),
        ("all threads", dict(folds=0)),
        ("and 5-fold cross-validation", dict(folds=5)),
        ("naive Bayes, 5 folds", dict(folds=5, algorithm="naive_bayes")),
    ):
        report, cpu, elapsed = seconds(lambda: own_training(texts, labels, **options))
        print(f"  {name:30}  {cpu:7.1f} {elapsed:7.1f}   {report.iterations} iterations")


if __name__ == "__main__":
    main()
