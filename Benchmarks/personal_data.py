#!/usr/bin/env python3
"""Recall, precision and speed of the rules for personal data, beside Presidio's.

Faker makes values in 25 locales, which stand in 40 forms of sentences (personal_texts.py). A value counts as found only
if nothing of it is left. Telephone numbers are also the example numbers of `phonenumbers` for every region. Texts
without personal data show what is found wrongly. Presidio runs with its default recognisers, without a model of names.
The speed is that of one call for passages of Wikipedia with one of the texts between two of them.

usage: PYTHONPATH=bindings/python python3 Benchmarks/personal_data.py [--seed N] [--misses] [--alone] [--names]
       (needs Faker==40.63.0, phonenumbers==9.0.43 and, for the comparison, presidio-analyzer==2.2.366)
"""

import argparse
import collections
import ctypes
import functools
import logging
import pathlib
import random
import time

from faker import Faker

import bertqa
from accuracy import passages
from bertqa import _native
from personal_texts import LOCALES, VALUES_PER_LOCALE, negatives, sample, samples

# ---- The engines: each returns (label, start, end) for a text ------------------------------------------------------


def own(text, region=None):
    found = bertqa.patterns(text, regions=[region] if region else None)
    return [(entity.label, entity.start, entity.end) for entity in found]


class Presidio:
    LABELS = {
        "EMAIL_ADDRESS": "EMAIL",
        "PHONE_NUMBER": "PHONE",
        "CREDIT_CARD": "CARD",
        "IBAN_CODE": "IBAN",
        "IP_ADDRESS": "IP",
        "URL": "URL",
    }

    def __init__(self):
        # It asks the network for a list of domains.
        logging.disable(logging.CRITICAL)
        from presidio_analyzer import predefined_recognizers as recognizers

        names = ("CreditCard", "Email", "Iban", "Ip", "Url")
        self.others = [getattr(recognizers, f"{name}Recognizer")() for name in names]
        self.phone = functools.cache(
            lambda region: recognizers.PhoneRecognizer(**({"supported_regions": [region]} if region else {}))
        )

    def __call__(self, text, region=None):
        found = []
        for recognizer in [*self.others, self.phone(region)]:
            results = recognizer.analyze(text, recognizer.supported_entities, None) or []
            found += [(self.LABELS[r.entity_type], r.start, r.end) for r in results if r.score > 0]
        return found


# ---- Counting -------------------------------------------------------------------------------------------------------


def is_gone(spans, start, end):
    """True if no character of a range is left."""
    for first, last in sorted((first, last) for _, first, last in spans):
        if first <= start < last:
            start = last
    return start >= end


class Measured:
    """What an engine finds in the cases: `recall` by kind and by (kind, region), `precision` by label."""

    def __init__(self, engine, cases, regional=False):
        found, total, right, wrong = (collections.Counter() for _ in range(4))
        self.misses = []
        for kind, region, text, start, end in cases:
            spans = engine(text, region) if regional else engine(text)
            gone = is_gone(spans, start, end)
            for key in (kind, (kind, region)):
                total[key] += 1
                found[key] += gone
            if not gone:
                self.misses.append((kind, region, repr(text), text[start:end], spans))
            for label, first, last in spans:
                is_right = kind.startswith(label) and first < end and last > start
                (right if is_right else wrong)[label] += 1
        self.recall = {key: found[key] / total[key] for key in total}
        self.precision = {label: right[label] / (right[label] + wrong[label]) for label in {**right, **wrong}}


def long_text(cases):
    path = pathlib.Path(__file__).parent.parent / "Tests/python/sample/squad_sample.jsonl"
    return "\n".join(part for passage, case in zip(passages(path), cases) for part in (passage, case[2]))


def speed(engine, text):
    """MB/s of one call for a long text; of libbertqa, of the C function."""
    data = text.encode()
    times = []
    for _ in range(3 if engine is own else 1):
        start = time.process_time()
        if engine is own:
            found = ctypes.c_void_p()
            assert _native.library().patterns(data, len(data), None, ctypes.byref(found)) == 0
            _native.library().entity_list_free(found)
        else:
            engine(text)
        times.append(time.process_time() - start)
    return len(data) / min(times) / 1e6


def names(seed):
    """Recall of the default model for names in the sentence forms, by locale."""
    cases = []
    for locale in LOCALES:
        fake, chance = Faker(locale), random.Random(seed)
        fake.seed_instance(seed)
        cases += [sample("PERSON", locale[-2:], fake.name(), fake, chance) for _ in range(VALUES_PER_LOCALE)]
    with bertqa.Context(task="entities") as context:

        def model(text):
            return [("PERSON", e.start, e.end) for e in context.entities(text, labels=["person"])]

        return Measured(model, cases).recall


def table(head, rows):
    print("| | " + " | ".join(head) + " |\n|---|" + "---|" * len(head))
    for name, cells in rows:
        print(f"| {name} | " + " | ".join(cells) + " |")


def report(engines, cases, wrong_texts, long_texts, show):
    phones = [case for case in cases if case[0].startswith("PHONE")]
    free = {name: Measured(engine, cases) for name, engine in engines.items()}
    given = {name: Measured(engine, phones, regional=True) for name, engine in engines.items()}
    falsely = {
        name: [(text, spans) for text in wrong_texts if (spans := engine(text))]
        for name, engine in engines.items()
    }
    if show:
        for title, misses in (("missed", free), ("missed with its region", given)):
            for miss in misses["libbertqa"].misses:
                print(title, *miss, sep=" | ")
        for one in falsely["libbertqa"]:
            print("wrong", *one, sep=" | ")
    rows = [
        (kind, [f"{one.recall[kind]:.3f}" for one in free.values()])
        for kind in free["libbertqa"].recall
        if isinstance(kind, str)
    ]
    rows += [
        (f"{kind}, region given", [f"{one.recall[kind]:.3f}" for one in given.values()])
        for kind in given["libbertqa"].recall
        if isinstance(kind, str)
    ]
    rows += [
        (f"precision of {label}", [f"{one.precision.get(label, 1):.3f}" for one in free.values()])
        for label in sorted(free["libbertqa"].precision)
    ]
    rows.append((f"wrong in {len(wrong_texts)} negatives", [str(len(texts)) for texts in falsely.values()]))
    if long_texts:
        rows.append(("MB/s", [f"{speed(engines[name], text):.2f}" for name, text in long_texts.items()]))
    table(list(engines), rows)
    print()
    regions = sorted({region for kind, region, *_ in cases if kind == "PHONE as written"})
    table(
        regions,
        [
            (f"{name}{title}", [f"{one[name].recall['PHONE as written', region]:.2f}" for region in regions])
            for name in engines
            for title, one in (("", free), (", region given", given))
        ],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--misses", action="store_true", help="print what is missed and what is found wrongly")
    parser.add_argument("--alone", action="store_true", help="without Presidio")
    parser.add_argument("--names", action="store_true", help="the default model's names, too")
    options = parser.parse_args()
    cases = list(samples(options.seed))
    engines = {"libbertqa": own} if options.alone else {"libbertqa": own, "Presidio": Presidio()}
    prose = long_text(cases)
    long_texts = {name: prose * 20 if name == "libbertqa" else prose[: 1 << 16] for name in engines}
    report(engines, cases, negatives(random.Random(options.seed)), long_texts, options.misses)
    if options.names:
        recall = names(options.seed)
        print(f"\nnames: {recall.pop('PERSON'):.2f}")
        print(", ".join(f"{region} {share:.2f}" for (_, region), share in recall.items()))


if __name__ == "__main__":
    main()
