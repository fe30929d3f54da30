#!/usr/bin/env python3
"""Label the sentences of passages with a model that finds entities: more text to train the next one on.

training/README.md explains the recipe. Self-training: only sentences that the model is sure of are taken.
"""

import argparse
import json
import random
import re

from qa.examples import read_examples

# Sentences of other lengths, in characters, are headings and lists, or too long for a window of the training.
LENGTHS = range(41, 300)
# The part of the sentences without an entity that is taken: most have none.
EMPTY_SHARE = 0.3
BATCH = 256


def main():
    import bertqa

    arguments = parsed()
    choose = random.Random(arguments.seed)
    examples = [example for path in arguments.passages for example in read_examples(path)]
    passages = sorted({example.context for example in examples if example.source.startswith(arguments.source)})
    choose.shuffle(passages)
    with bertqa.Context(arguments.model, task="entities") as context, open(arguments.out, "w") as out:
        count = 0
        pending = sentences(passages, choose)
        while count < arguments.count and (batch := [text for text, _ in zip(pending, range(BATCH))]):
            for text, entities in zip(batch, context.entities_batch(batch)):
                if count < arguments.count and is_taken(entities, arguments.low, arguments.high, choose):
                    record = labelled(text, entities, arguments.high)
                    out.write(json.dumps(record) + "\n")
                    count += 1
    print(f"{count} sentences")


def sentences(passages, choose):
    """At most three of each passage."""
    for passage in passages:
        parts = [part for part in re.split(r"(?<=[.!?])\s+(?=[A-Z])", passage) if len(part) in LENGTHS]
        yield from choose.sample(parts, min(3, len(parts)))


def is_taken(entities, low, high, choose):
    """True if the model is sure of each entity, or that there is none."""
    if any(low < entity.score < high for entity in entities):
        return False
    return any(entity.score >= high for entity in entities) or choose.random() < EMPTY_SHARE


def labelled(text, entities, high):
    """The sentence as `finetune_entities.py` reads it."""
    kept = [
        {"start": entity.start, "end": entity.end, "label": entity.label}
        for entity in entities
        if entity.score >= high
    ]
    return {"text": text, "entities": kept, "source": "self-labelled"}


def parsed(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, metavar="DIR")
    parser.add_argument(
        "--passages",
        nargs="+",
        required=True,
        metavar="FILE",
        help="questions and their passages, as finetune_qa.py reads them",
    )
    parser.add_argument("--source", default="", help="only passages with a question of a source that begins so")
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--count", type=int, default=9000)
    parser.add_argument("--low", type=float, default=0.3, help="a score up to this is no entity")
    parser.add_argument("--high", type=float, default=0.75, help="one from this is an entity; between: not taken")
    parser.add_argument("--seed", type=int, default=5)
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
