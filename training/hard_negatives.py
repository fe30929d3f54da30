#!/usr/bin/env python3
"""Find passages that compete with the right one: for each question, the best passages of the collection without its answer.

BM25 and the cosine of an embedding model rank the passages; reciprocal ranks fuse the two (Cormack et al. 2009).
training/README.md explains the use.
"""

import argparse
import json
import sys

from common.files import whole
from common.options import count
from qa.examples import read_examples
from qa.passages import Collection
from qa.tools import tools


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="+", help="questions: SQuAD's JSON, or JSON lines; also .xz")
    parser.add_argument("--embed", required=True, metavar="DIR", help="an embedding model")
    parser.add_argument("--out", required=True, metavar="FILE", help='JSON lines {"id", "passages"}')
    parser.add_argument("--count", type=count, default=4, help="passages for each question")
    arguments = parser.parse_args()
    bertqa, _, _ = tools()
    examples = [example for path in arguments.data for example in read_examples(path)]
    with bertqa.Context(arguments.embed) as context:
        collection = Collection(examples, context)
    with whole(arguments.out) as part, open(part, "w", encoding="utf-8") as file:
        for example, passages in zip(examples, collection.competing(arguments.count), strict=True):
            print(json.dumps({"id": example.id, "passages": passages}), file=file)
    print(f"{len(examples)} questions, {len(collection.passages)} passages", file=sys.stderr)


if __name__ == "__main__":
    main()
