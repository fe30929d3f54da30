"""Random calls of a Collection: it has the documents of a dict that is changed in the same way."""

import json
import random
import sqlite3

import pytest

import bertqa
from conftest import FEWER, FIXTURES

NAMES = ["a", "b", "", "*", "\u00e4", "x/y", "a\0b"]
WORDS = [*'fox dog jumps Zo\u00eb \u65e5\u672c \U0001f600 " * OR NEAR'.split(), "\0", "\n\n", "\u2028"]
TITLES = [None, "", "  ", "A title", "\0", "a\nb"]
# Each value as a field and as what a search asks for.
VALUES = [None, True, False, 0, 1, 1.5, 10**30, "1", "", "a b", [], [1, {"b": None}], {}, {"b": [True]}]
SEED_COUNT = 200


@pytest.fixture(scope="module")
def contexts():
    with (
        bertqa.Context(FIXTURES / "tiny-bert") as context,
        bertqa.Context(FIXTURES / "tiny-bert-embedder") as embedder,
    ):
        yield {"context": context, "embedder": embedder}


def has_value(value, wanted):
    """True if a field has a wanted value. Texts and numbers are compared as SQLite spells them, so 1 is also "1" and
    true."""
    if wanted is None or isinstance(wanted, (bool, list, dict)):
        return type(value) is type(wanted) and value == wanted
    if value is None or isinstance(value, (list, dict)):
        return False
    spelled = [str(int(one)) if isinstance(one, bool) else str(one) for one in (value, wanted)]
    return spelled[0] == spelled[1]


def check(path, expected):
    """Compares the database with the documents: {name: (text, title, fields)}."""
    database = sqlite3.connect(path)
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    database.execute("INSERT INTO words(words, rank) VALUES ('integrity-check', 1)")
    documents = database.execute("SELECT id, name, title, fields FROM documents").fetchall()
    assert sorted(name for _, name, _, _ in documents) == sorted(expected)
    for id, name, title, fields in documents:
        text, given, values = expected[name]
        assert title == (given if given and given.strip() else None) and json.loads(fields or "{}") == (
            values or {}
        )
        parts = database.execute("SELECT start, end, text FROM passages WHERE document = ? ORDER BY id", (id,))
        parts = parts.fetchall()
        between, last = b"", 0
        for start, end, part in parts:
            assert text.encode()[start:end].decode() == part and end > last
            # Those of a sentence longer than a window overlap.
            between += text.encode()[last:start]
            last = end
        between += text.encode()[last:]
        assert not between.decode().replace("\0", "").strip()
    ids = [id for (id,) in database.execute("SELECT id FROM passages ORDER BY id")]
    blocks = database.execute("SELECT first, count FROM vectors ORDER BY first").fetchall()
    if database.execute("SELECT count(*) FROM model").fetchone()[0]:
        assert [first + i for first, count in blocks for i in range(count)] == ids
    database.close()


@pytest.mark.parametrize("seed", range(SEED_COUNT // FEWER))
def test_any_calls(seed, contexts, tmp_path):
    generator, path, expected = random.Random(seed), tmp_path / "any.db", {}
    choose = generator.choice
    options = {**contexts, "words_only": choose([False, True])}
    collection = bertqa.Collection(path, **options)

    def text():
        return " ".join(generator.choices(WORDS, k=choose([0, 1, 3, 30, 300])))

    for _ in range(generator.randrange(5, 40)):
        name = choose(NAMES)
        action = choose(["add", "add", "add", "remove", "search", "ask", "fail", "reopen", "check"])
        if action == "add":
            fields = choose([None, {}, {"y": choose(VALUES)}, {'k.e"y': choose(VALUES), "y": choose(VALUES)}])
            expected[name] = text(), choose(TITLES), fields
            collection.add(name, expected[name][0], title=expected[name][1], fields=fields)
        elif action == "remove":
            collection.remove(name)
            expected.pop(name, None)
        elif action == "search":
            word, key = choose(WORDS), choose(["y", 'k.e"y'])
            for value in VALUES:
                hits = collection.search(word, k=1000, fields={key: value})
                assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
                found = {hit.name for hit in hits}
                right = {
                    name for name, (_, _, fields) in expected.items()
                    if fields and key in fields and has_value(fields[key], value)
                }  # fmt: skip
                assert found <= right, value
                # Vectors find any text.
                if not options["words_only"]:
                    assert found >= {name for name in right if "fox" in expected[name][0]}, value
        elif action == "ask":
            result = collection.ask(text(), passages=choose([1, 20]), path=choose([None, "*", "a", "[*]"]))
            for answer in result.answers:
                assert result.passage(answer).text[answer.start : answer.end] == answer.text
        elif action == "fail":
            for wrong in (
                {"text": b"\xff"},
                {"text": None},
                {"fields": {"a": {1}}},
                {"title": 3},
                {"title": "\ud800"},
            ):
                with pytest.raises((bertqa.InvalidArgument, TypeError), match="."):
                    collection.add(name, **{"text": "fox", **wrong})
            with pytest.raises(ValueError, match="1 to 1000"):
                collection.search("fox", k=0)
        elif action == "reopen":
            collection.close()
            collection = bertqa.Collection(path, **options)
        else:
            collection.flush()
            check(path, expected)
    collection.close()
    check(path, expected)
