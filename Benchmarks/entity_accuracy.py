"""Precision, recall and F1 of entities, of exactly the right range and label, through the library.

usage: entity_accuracy.py DATA.jsonl... [--model DIR] [--precision P] [--max-seq-len N] [--threshold T]...
                          [--lines MARK | --around MARKS | --joined N] [--json]

DATA has one object a line: {"text", "entities": [{"start", "end", "label"}], "source"}, ranges in code points. A line of
the table for each source, and one for all; for each threshold: entities of a lower score are left out. With --lines, the
texts are in lines of about 40 characters that begin with MARK, such as "> " or "[10:{}] ", with their number for {}. With
--around, the entities stand between MARKS, such as "_{}_". With --joined, N texts of a source are lines of one.
"""

import argparse
import collections
import json

from accuracy import records

COLUMNS = ("source", "texts", "entities", "threshold", "precision", "recall", "F1")
Example = collections.namedtuple("Example", "text entities source")
Entity = collections.namedtuple("Entity", "start end label score")


def read(paths):
    """The examples of all files; entities have the score 1."""
    examples = []
    for path in paths:
        for record in records(path):
            entities = [Entity(e["start"], e["end"], e["label"], 1.0) for e in record["entities"]]
            examples.append(Example(record["text"], entities, record.get("source", path)))
    return examples


def in_lines(example, mark):
    """The example in lines that begin with a mark."""
    parts, moved = [mark.format(1)], [len(mark.format(1))]
    line, length = 1, 0
    for character in example.text:
        length += 1
        if character == " " and length > 40:
            line, length = line + 1, 0
            character = "\n" + mark.format(line)
        parts.append(character)
        moved.append(moved[-1] + len(character))
    entities = [e._replace(start=moved[e.start], end=moved[e.end - 1] + 1) for e in example.entities]
    return example._replace(text="".join(parts), entities=entities)


def around_entities(example, marks):
    """The example with these marks around its entities."""
    opening, closing = marks.split("{}")
    parts, entities, end = [], [], 0
    for number, entity in enumerate(sorted(example.entities), start=1):
        parts += [example.text[end : entity.start], opening, example.text[entity.start : entity.end], closing]
        end = entity.end
        moved = number * len(opening) + (number - 1) * len(closing)
        entities.append(entity._replace(start=entity.start + moved, end=end + moved))
    return example._replace(text="".join([*parts, example.text[end:]]), entities=entities)


def joined(examples, count):
    """The examples, of which so many of a source are lines of one."""
    result = []
    for source in dict.fromkeys(example.source for example in examples):
        part = [example for example in examples if example.source == source]
        for first in range(0, len(part), count):
            entities, start = [], 0
            for example in part[first : first + count]:
                entities += [e._replace(start=e.start + start, end=e.end + start) for e in example.entities]
                start += len(example.text) + 1
            text = "\n".join(example.text for example in part[first : first + count])
            result.append(Example(text, entities, source))
    return result


def scores(examples, found, threshold=0.0):
    """{source: (texts, entities, precision, recall, F1)}, and of all together under None.

    found: lists of Entity, one for each example. Precision is 1 where nothing was found, recall where nothing was to find.
    """
    counts = collections.defaultdict(lambda: [0, 0, 0, 0])
    for example, entities in zip(examples, found):
        right = {entity[:3] for entity in example.entities}
        given = {entity[:3] for entity in entities if entity.score >= threshold}
        for source in (example.source, None):
            for place, number in enumerate((1, len(right), len(given), len(right & given))):
                counts[source][place] += number
    result = {}
    for source, (texts, expected, given, both) in counts.items():
        precision, recall = both / given if given else 1.0, both / expected if expected else 1.0
        f1 = 2 * both / (expected + given) if expected + given else 1.0
        result[source] = texts, expected, precision, recall, f1
    return result


def found_by(context, examples, **options):
    """The entities that a context finds in each example with these options."""
    results = context.entities_batch([example.text for example in examples], **options)
    return [[Entity(e.start, e.end, e.label, e.score) for e in entities] for entities in results]


def main():
    import bertqa

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="+")
    parser.add_argument("--model", help="default: the library's default model for entities")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--threshold", type=float, action="append")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--lines", metavar="MARK")
    form.add_argument("--around", metavar="MARKS")
    form.add_argument("--joined", type=int, metavar="N")
    parser.add_argument("--max-seq-len", type=int, metavar="N")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    examples = read(arguments.data)
    if arguments.lines is not None:
        examples = [in_lines(example, arguments.lines) for example in examples]
    if arguments.around is not None:
        examples = [around_entities(example, arguments.around) for example in examples]
    if arguments.joined is not None:
        examples = joined(examples, arguments.joined)
    with bertqa.Context(arguments.model, task="entities", precision=arguments.precision) as context:
        found = found_by(context, examples, max_seq_len=arguments.max_seq_len)
    rows = [
        (source or "all", *line[:2], threshold, *(round(value, 4) for value in line[2:]))
        for threshold in arguments.threshold or [0.0]
        for source, line in sorted(scores(examples, found, threshold).items(), key=lambda item: item[0] or "~")
    ]
    if arguments.json:
        print(json.dumps([dict(zip(COLUMNS, row)) for row in rows]))
        return
    print("  ".join(f"{name:>10}" for name in COLUMNS))
    for row in rows:
        print("  ".join(f"{value!s:>10}" for value in row))


if __name__ == "__main__":
    main()
