"""bertqa.redact and bertqa.Pseudonyms: what replaces entities, and how it is brought back."""

import concurrent.futures
import copy
import hashlib
import hmac
import os
import pickle
import stat
import threading

import pandas
import polars
import pyarrow
import pytest

import bertqa
from conftest import FIXTURES

TEXT = "Zoë <ann@x.org> wrote to bob@x.org, then ann@x.org called +49 30 901820; see [EMAIL_1]."
KEY = b"0123456789abcdef"


@pytest.fixture
def found():
    return bertqa.patterns(TEXT)


def test_masks(found):
    assert bertqa.redact(TEXT, found, mask=0) == (
        "Zoë <***@*.***> wrote to ***@*.***, then ***@*.*** called +** ** ******; see [EMAIL_1]."
    )
    assert "***@*.org>" in bertqa.redact(TEXT, found, mask=3) and "*** ***820;" not in bertqa.redact(TEXT, found)
    # At most half of a value stays.
    assert "+** ** **1820;" in bertqa.redact(TEXT, found, mask=4)
    assert "+** ** 901820;" not in bertqa.redact(TEXT, found, mask=100)

    def masked(text, keep=0):
        return bertqa.redact(text, [bertqa.Entity(text, "A", 0, len(text), (0, 0), (0, 0), 1.0)], mask=keep)

    # One star for a character with its marks, also of other scripts and of several code points.
    assert masked("Jose\u0301 \U0001f469\u200d\U0001f4bb-٣٤") == "**** *-**"
    assert (
        masked("山田", 1) == "*田"
        and masked("a", 1) == "*"
        and masked("078\u201105\u20111120", 4) == "***‑**‑1120"
    )
    assert masked("\ud800b", 1).endswith("b")


@pytest.mark.parametrize("marks", ["\u0301", "\u20d0", "\u0301\u20d0", "\U0001d167\u20d0"])
def test_no_code_point_is_cut(marks):
    """Of a character that is too long to be replaced as a whole."""
    text = "a" + marks * 4000
    for place in range(2000, 2010):
        found = [bertqa.Entity(text[place], "A", place, place + 1, (0, 0), (0, 0), 1.0)]
        before, after = bertqa.redact(text, found).split("[A]")
        assert text.startswith(before) and len(before) < place
        assert text.endswith(after) and len(after) < len(text) - place


def test_hashes_are_hmac(found):
    digest = hmac.new(KEY, b"ann@x.org", hashlib.sha256).hexdigest()[:32]
    text = bertqa.redact(TEXT, found, key=KEY)
    assert text.count(f"[EMAIL_{digest}]") == 2 and "@" not in text
    assert bertqa.redact(TEXT, found, key=KEY + b"x") != text
    long = b"a" * 200_000 + b"@x.org"
    key = bytes(range(256))
    [whole] = [bertqa.Entity(long, "L", 0, len(long), (0, 0), (0, 0), 1.0)]
    assert bertqa.redact(long, [whole], key=key) == (
        b"[L_" + hmac.new(key, long, hashlib.sha256).hexdigest()[:32].encode() + b"]"
    )
    with pytest.raises(bertqa.InvalidArgument, match="16"):
        bertqa.redact(TEXT, found, key=b"short")


def test_pseudonyms_restore_the_text(found, tmp_path):
    names = bertqa.Pseudonyms()
    text = bertqa.redact(TEXT, found, pseudonyms=names)
    assert text == "Zoë <[EMAIL_1]> wrote to [EMAIL_2], then [EMAIL_1] called [PHONE_1]; see [LITERAL_1]."
    assert names.names()["[EMAIL_1]"] == "ann@x.org" and len(names) == 4
    # The text had something like a name: it comes back, too.
    assert names.names()["[LITERAL_1]"] == "[EMAIL_1]" and names.restore(text) == TEXT
    assert names.restore(text.encode()) == TEXT.encode()
    assert names.restore("about [EMAIL_2] and [EMAIL_9]") == "about bob@x.org and [EMAIL_9]"
    other = "Write to bob@x.org or eve@x.org"
    assert bertqa.redact(other, bertqa.patterns(other), pseudonyms=names) == "Write to [EMAIL_2] or [EMAIL_3]"
    path = tmp_path / "names.jsonl"
    names.save(path)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    again = bertqa.Pseudonyms.load(path)
    assert again.names() == names.names() and again.restore(text) == TEXT
    assert bertqa.redact("eve@x.org", bertqa.patterns("eve@x.org"), pseudonyms=again) == "[EMAIL_3]"
    for wrong in [
        "EMAIL_1",
        "[EMAIL]",
        "[_1]",
        "[EMAIL_]",
        "[EMAIL_0]",
        "[EMAIL_1x]",
        "[E]_1]",
        "[EMAIL_" + "1" * 20 + "]",
    ]:
        with pytest.raises(bertqa.InvalidArgument):
            bertqa.Pseudonyms({wrong: "a"})


def test_labels_of_any_kind_make_names_that_restore():
    text = "abc def"
    for label in ["B-PER", "a_1", "x]y[", "[", "日本" * 40, "\n", "_"]:
        names = bertqa.Pseudonyms()
        whole = [bertqa.Entity("abc", label, 0, 3, (0, 3), (0, 3), 1.0)]
        redacted = bertqa.redact(text, whole, pseudonyms=names)
        assert redacted.endswith("_1] def") and names.restore(redacted) == text, label
        assert bertqa.Pseudonyms(names.names()).restore(redacted) == text


def test_everywhere():
    text = "Zoë: call 80991098 or ask ANN SMITH. Ann  Smith's number: 80991098."
    found = bertqa.patterns(text, regions=["DK"])[:1] + [
        bertqa.Entity("Ann  Smith", "PER", 37, 47, (0, 0), (0, 0), 0.75)
    ]
    every = bertqa.everywhere(text, found)
    assert [(e.label, e.text, e.score) for e in every] == [
        ("PHONE", "80991098", 1), ("PER", "ANN SMITH", 0.75), ("PER", "Ann  Smith", 0.75), ("PHONE", "80991098", 1),
    ]  # fmt: skip
    assert all(text[e.start : e.end] == e.text for e in every)
    assert bertqa.redact(text, every) == "Zoë: call [PHONE] or ask [PER]. [PER]'s number: [PHONE]."
    assert [e.text for e in bertqa.everywhere(text.encode(), bertqa.patterns(text.encode(), regions=["DK"]))] == [
        b"80991098"
    ] * 2
    with pytest.raises(bertqa.InvalidArgument):
        bertqa.everywhere("a", found)


TEXTS = ["ann@x.org", None, "", "no", "bob@x.org, ann@x.org", "ann@x.org"]
REDACTED = ["[EMAIL_1]", None, "", "no", "[EMAIL_2], [EMAIL_1]", "[EMAIL_1]"]


def test_columns():
    for make in pyarrow.array, polars.Series, pandas.Series, list:
        names = bertqa.Pseudonyms()
        column = bertqa.redact_column(make(TEXTS), ["email"], pseudonyms=names)
        rows = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
        assert [None if pandas.isna(row) else row for row in rows] == REDACTED
        found = bertqa.patterns_column(make(TEXTS), "email")
        rows = found.to_pylist() if hasattr(found, "to_pylist") else list(found)
        assert len(rows) == 6
    found = bertqa.patterns_column(pyarrow.array(TEXTS))
    found.validate(full=True)
    one = {"label": "EMAIL", "text": "ann@x.org", "start": 0, "end": 9, "score": 1.0}
    assert found.to_pylist()[:4] == [[one], None, [], []]
    assert len(found.to_pylist()[4]) == 2
    with bertqa.Context(FIXTURES / "tiny-bert-entities") as context:
        assert found.type == bertqa.entities_column(context, pyarrow.array(["a"])).type
        text = "In Paris, King Rivière of France wrote to ann@x.org."
        expected = bertqa.redact(text, context.entities(text, labels=["PER"]) + bertqa.patterns(text))
        for labels in ["PER"], iter(["PER"]):
            assert bertqa.redact_column([text] * 2, context=context, labels=labels).to_pylist() == [expected] * 2
    twice = "tel. 80991098, 80991098"
    assert bertqa.redact_column([twice], repeats=True, mask=2).to_pylist() == ["tel. ******98, ******98"]
    with bertqa.Context(FIXTURES / "tiny-bert-entities") as context:
        for wrong in (
            {"kinds": ["x"]}, {"regions": ["Denmark"]}, {"labels": ["PER"]}, {"mask": -1}, {"key": b"short"},
            {"context": context, "labels": ["x"]},
        ):  # fmt: skip
            with pytest.raises(bertqa.InvalidArgument) as caught:
                bertqa.redact_column(["a"], **wrong)
            assert caught.value.item is None  # the row is not at fault
    with pytest.raises(bertqa.TooLarge) as caught:
        bertqa.redact_column(["a", None, "a@b.de " * 10_000], max_bytes=1000)
    assert caught.value.item == 2


def test_threads_share_names():
    names = bertqa.Pseudonyms()
    texts = [f"write to a{number % 50}@x.org" for number in range(400)]
    results = [None] * len(texts)

    def work(start):
        for index in range(start, len(texts), 4):
            results[index] = bertqa.redact(texts[index], bertqa.patterns(texts[index]), pseudonyms=names)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [names.restore(result) for result in results] == texts and len(names) == 50


def test_what_does_not_go_together(found):
    with pytest.raises(TypeError, match="only one of"):
        bertqa.redact(TEXT, found, "x", mask=1)
    with pytest.raises(bertqa.InvalidArgument):
        bertqa.redact(TEXT, found, mask=-1)
    with pytest.raises(TypeError, match="mask is 1.0, but must be an integer"):
        bertqa.redact(TEXT, found, mask=1.0)
    with pytest.raises(TypeError):
        bertqa.redact(TEXT, found, keep=1)
    with pytest.raises(TypeError, match="pseudonyms must be of type Pseudonyms, not dict"):
        bertqa.redact(TEXT, found, pseudonyms={})
    with pytest.raises(TypeError, match="rules must be of type Rules, not list"):
        bertqa.redact_column([TEXT], rules=[{"name": "A", "expression": "a"}])
    for key in 32, "0123456789abcdef":
        with pytest.raises(TypeError, match="key: expected bytes"):
            bertqa.redact(TEXT, found, key=key)
    for copied in copy.deepcopy, pickle.dumps:
        with pytest.raises(
            TypeError, match=r"a Pseudonyms object cannot be pickled or deep-copied: pass its names\(\)"
        ):
            copied(bertqa.Pseudonyms())
    with pytest.raises(bertqa.Cancelled):
        bertqa.redact(TEXT, found, cancel=lambda: True)
    # Any text, and entities of texts with surrogates, which UTF-8 lacks.
    text = "\ud800 ann@x.org"
    assert bertqa.redact(text, bertqa.patterns(text)) == "\ud800 [EMAIL]"


@pytest.mark.parametrize(
    "line",
    [
        b"{", b"[]", b"3", b'{"name": "[A_1]"}', b'{"name": 3, "value": "x"}', b'{"name": "A", "value": "x"}',
        b'{"name": "[A_1]", "value": "Zo\xeb"}', b"[" * 100_000,
    ],
    ids=lambda line: repr(line[:40]),
)  # fmt: skip
def test_files_of_names_that_are_none(tmp_path, line):
    path = tmp_path / "names.jsonl"
    path.write_bytes(b'{"name": "[B_1]", "value": "Bob"}\n' + line)
    assert bertqa.Pseudonyms.load(path).names() == {"[B_1]": "Bob"}  # the last line was not finished
    path.write_bytes(line + b"\n")
    with pytest.raises(bertqa.InvalidArgument, match="names.jsonl: .*name"):
        bertqa.Pseudonyms.load(path)


def test_threads_save_at_the_same_time(tmp_path):
    path = tmp_path / "names.jsonl"
    names = bertqa.Pseudonyms({f"[PER_{number}]": f"Ann {number}" for number in range(1, 200)})
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for saved in [pool.submit(names.save, path) for _ in range(40)]:
            saved.result()
    assert bertqa.Pseudonyms.load(path).names() == names.names()
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("names", [5, ["ab"], [("[PER_1]", None)], {"[PER_1]": 1}, [("[PER_1]",)]])
def test_what_is_no_names(names):
    with pytest.raises(TypeError, match="^names (is|has) .*must be a dict or pairs"):
        bertqa.Pseudonyms(names)


def test_a_name_has_one_value(tmp_path):
    pairs = [("[PER_1]", "Ann"), ("[PER_1]", "Bob")]
    with pytest.raises(bertqa.InvalidArgument, match="has another value"):
        bertqa.Pseudonyms(pairs)
    path = tmp_path / "names.jsonl"
    bertqa.Pseudonyms(pairs[:1]).save(os.fsencode(path))
    bertqa.Pseudonyms(pairs[1:]).save(tmp_path / "more")
    path.write_bytes(path.read_bytes() + (tmp_path / "more").read_bytes())
    with pytest.raises(bertqa.InvalidArgument, match="names.jsonl: .*has another value"):
        bertqa.Pseudonyms.load(path)


def test_entities_of_another_text_are_refused():
    """Also where their range lies in the text: what they were found in would stay."""
    text = "Zoë Ångström, card 4111 1111 1111 1111."
    found, of_bytes = bertqa.patterns(text), bertqa.patterns(text.encode())
    for other, entities in (text.encode(), found), (text + " tail", of_bytes), (" " + text, found):
        for call in (
            lambda: bertqa.redact(other, entities),
            lambda: bertqa.everywhere(other, entities),
            lambda: bertqa.apply_lists(other, entities, allow=["x"]),
        ):
            with pytest.raises(bertqa.InvalidArgument, match="another text") as caught:
                call()
            assert "4111" not in str(caught.value)
