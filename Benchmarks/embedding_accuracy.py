"""How close an embedding model's int8 form is to its f32 vectors, through the library.

usage: embedding_accuracy.py REFERENCE_DIR DATA.jsonl... [--model DIR] [--precision P]... [--isa I] [--limit N]

REFERENCE_DIR is the model before it was quantised, read with precision f32. DATA has one object a line with the text in
"context", .xz too; the texts are the first different ones of each file, N in all. For each precision of the int8 form:
the cosine between the two vectors of a text, and for how many texts the nearest other text is the same one in both
forms.
"""

import argparse

import numpy

from accuracy import passages


def read(paths, limit):
    """The first `limit` different paragraphs of all files together, an equal part of each file."""
    return list(dict.fromkeys(text for path in paths for text in passages(path)[: limit // len(paths)]))


def vectors(directory, texts, **options):
    """Vectors of length 1, [texts, floats], and the context's info."""
    import bertqa

    with bertqa.Context(directory, task="embed", **options) as context:
        return numpy.array(context.embed(texts, normalize=True), dtype="f8"), context.info


def cosines(rows):
    """Between each two texts; -1 of a text with itself."""
    found = rows @ rows.T
    numpy.fill_diagonal(found, -1)
    return found


def comparison(reference, other):
    """Compares two forms' vectors [texts, floats]. Returns the mean and the smallest cosine, the share of texts
    with the same nearest neighbour and, for the others, the largest difference between the reference's cosines
    with the two neighbours."""
    same = (reference * other).sum(axis=1)
    exact = cosines(reference)
    nearest, found = exact.argmax(axis=1), cosines(other).argmax(axis=1)
    rows = numpy.arange(len(exact))
    lost = exact[rows, nearest] - exact[rows, found]
    return same.mean(), same.min(), (nearest == found).mean(), lost.max()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reference")
    parser.add_argument("data", nargs="+")
    parser.add_argument("--model", help="the int8 form; default: the library's default embedding model")
    parser.add_argument("--precision", action="append", help="of the int8 form; default: auto, bf16 and f32")
    parser.add_argument("--isa", default="auto")
    parser.add_argument("--limit", type=int, default=1000, help="this many paragraphs; default 1000")
    arguments = parser.parse_args()

    texts = read(arguments.data, arguments.limit)
    reference, info = vectors(arguments.reference, texts, precision="f32", isa=arguments.isa)
    print(f"{len(texts)} paragraphs; reference {info.directory}, isa {info.isa}")
    print("precision  mean cosine  least cosine  same nearest  cosine lost by another nearest")
    for precision in arguments.precision or ["auto", "bf16", "f32"]:
        found, info = vectors(arguments.model, texts, precision=precision, isa=arguments.isa)
        mean, least, same, lost = comparison(reference, found)
        name = info.precision if precision == "auto" else precision
        print(f"{name:9}  {mean:11.5f}  {least:12.5f}  {100 * same:10.1f} %  {lost:30.4f}", flush=True)


if __name__ == "__main__":
    main()
