"""The HTML in notebooks: _repr_html_ of results and of a training's report."""

import copy
import html
import html.parser
import pickle
import re
import xml.etree.ElementTree
from dataclasses import replace

import pytest

import bertqa
from samples import ANSWER, FOX, WHO

HOSTILE = "<script>alert(1)</script> & \"'</mark>\0\x1b[31m\ud800"


class Page(html.parser.HTMLParser):
    """Fails if elements do not match. Keeps the text, and that of every mark."""

    def __init__(self, source):
        super().__init__()
        self.open, self.tags, self.text, self.marks = [], [], "", []
        self.feed(source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "mark":
            self.marks.append("")
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if "mark" in self.open:
            self.marks[-1] += data


def page(value):
    source = value._repr_html_()
    source.encode("utf-8")  # as a notebook's file is written
    assert not re.search("[\0-\x08\x0b\x0c\x0e-\x1f]", source)
    found = Page(source)
    assert not {tag for tag, _ in found.tags} & {"script", "style", "link", "img", "iframe"}
    return found


def test_the_answers_are_marked_in_the_document(context):
    result = context.answer(WHO, FOX)
    found = page(result)
    assert found.marks == [result.answer.text] and FOX in found.text
    assert f"{100 * result.answer.probability:.1f} %" in found.text
    assert page(result.answer).marks == [result.answer.text] and result.answer.sentence in page(result.answer).text


@pytest.mark.parametrize("kind", [str, bytes])
def test_every_text_is_escaped(tiny, kind):
    text = f"é😀 {HOSTILE} the river has seen it {HOSTILE}"
    given = text if kind is str else text.encode("utf-8", "replace") + b"\xff"
    result = tiny.answer("who", given, top_k=5, max_answer_len=20)
    found = page(result)
    assert len(found.marks) == len(result.answers) > 1
    assert found.text.startswith("é😀 <script>alert(1)</script> & \"'</mark>\ufffd\ufffd[31m")
    for answer in result.answers:
        assert "alert" not in str(dict(page(answer).tags))
        shown = answer.text.decode("utf-8", "replace") if kind is bytes else answer.text
        assert re.sub("[\0\x1b\ud800]", "\ufffd", shown) in found.marks


@pytest.mark.parametrize("kind", [str, bytes])
def test_line_ends_stay_and_noncharacters_do_not(context, kind):
    text = f"It rained.\r\n\x85\ufdd0\ufffe\U0001fffe\U0010ffff\U0001fffd.\r\n{FOX}"
    result = context.answer(WHO, text if kind is str else text.encode())
    assert "It rained.\r\n" + "\ufffd" * 5 + "\U0001fffd.\r\n" in page(result).text


@pytest.mark.parametrize("kind", [str, bytes])
def test_long_documents_are_shown_around_their_answers(context, kind):
    far = "Nothing of note was écrit here. " * 500
    text = far + "The bridge was built by Ada Brown in 1901. " + far + "It was painted by Carl Green. " + far
    given = text if kind is str else text.encode()
    result = context.answer("Who built the bridge?", given, top_k=3)
    source = result._repr_html_()
    found = page(result)
    assert "Ada Brown" in found.marks and len(source) < 6000 < len(text)
    gaps = [int(gap.replace(",", "")) for gap in re.findall(r"\[… ([\d,]+) …\]", found.text)]
    assert len(gaps) >= 2 and sum(gaps) + 6000 > len(given) > sum(gaps)
    assert "\ufffd" not in found.text
    assert page(result.answer).marks == ["Ada Brown"] and result.answer.sentence_start > 0
    # The best answer stands out.
    styles = {at["title"].split(":")[0]: at["style"] for tag, at in found.tags if tag == "mark"}
    assert len(set(styles.values())) == 2 and list(styles.values()).count(styles["answer 1"]) == 1
    # Neighbouring answers share their surroundings; nothing is shown twice.
    assert found.text.count("was painted by") <= 1
    # Nothing before an answer at the beginning is left out, least of all the answer.
    first = context.answer(WHO, (FOX + " " + far) if kind is str else (FOX + " " + far).encode())
    assert page(first).marks == [ANSWER] and page(first).text.startswith(FOX)
    none = replace(result, answers=[])._of(given)
    assert len(none._repr_html_()) < 2000 and page(none).text.count("does not seem to say") == 1


@pytest.mark.parametrize("kind", [str, bytes])
def test_long_sentences_are_cut_around_their_answers(context, kind):
    """A result without its document shows the sentences. In bytes, 300 before and after are inside a character."""
    text, before, after = "x" + "é" * 999, "é" * 999 + "x", "é" * 999
    if kind is bytes:
        text, before, after = text.encode(), before.encode(), after.encode()
    result = context.answer(WHO, FOX if kind is str else FOX.encode())
    answer = replace(
        result.answer, text=text, start=len(before), sentence=before + result.answer.text + after, sentence_start=0
    )
    found = page(replace(result, answers=[answer])).text
    assert re.fullmatch(f"xé+… [0-9.]+ % – …é+x{ANSWER}é+…", found) and 400 < len(found) < 1000


def test_many_answers_are_cut(tiny):
    text = " ".join(f"the river has seen {number}" for number in range(2000))
    result = tiny.answer("who", text, top_k=1000)
    assert len(result.answers) > 100
    found = page(result)
    assert len(found.marks) == 20 and f"and {len(result.answers) - 20:,} more" in found.text


def test_no_answer_is_said_plainly(context):
    result = context.answer("What is the capital of France?", "It rained all day.")
    found = page(result)
    assert result.is_impossible and "does not seem to say. The best guess:" in found.text
    assert "This document does not seem to say." in page(context.answer("Who?", "")).text


def test_copies_are_without_the_document(tiny):
    """A pickle of a result must not contain the whole document."""
    document = "the river " * 5000
    result = tiny.answer("who", document)
    pickled = pickle.dumps(result)
    assert len(pickled) < 2000 + len(result.answer.sentence)
    for other in pickle.loads(pickled), copy.copy(result):
        assert other == result and hash(other) == hash(result)
        assert result.answer.text in page(other).text


LABELS = ["sport", "money", f"{HOSTILE} and a long name", "words"]


def report(labels=LABELS, confusion=None, **fields):
    count = len(labels)
    if confusion is None:
        confusion = [
            [90 if i == j else 12_345 if (i, j) == (1, 2) else 0 for j in range(count)] for i in range(count)
        ]
    nan = float("nan")
    values = {
        "text_count": 12_705, "features": "words", "vocabulary_size": 1000, "iterations": 17, "is_converged": True, "loss": 0.1,
        "accuracy": 0.875, "macro_f1": 0.75, "calibration_error": 0.01, "confusion": confusion,
        "other_accuracy": None, "other_macro_f1": None,
        "labels": [bertqa.TrainingLabel(label, 90 + i, 0.5, 0.25, nan if i else 0.333) for i, label in enumerate(labels)],
    }  # fmt: skip
    return bertqa.TrainingReport(**{**values, **fields})


def test_a_report_has_its_labels_and_a_picture():
    source = report()._repr_html_()
    found = page(report())
    for text in "12,705 texts", "accuracy 0.875", "macro F1 0.750", "sport", "0.500", "0.250", "0.333":
        assert text in found.text
    assert "Not converged" not in found.text and "Not converged" in page(report(is_converged=False)).text
    cells = [attributes for tag, attributes in found.tags if tag == "rect"]
    assert len(cells) == 16 and [float(cell["fill-opacity"]) for cell in cells[:2]] == [0.8, 0]
    # 12,345 of 12,435 texts with label 1 were taken for label 2: the darkest cell off the diagonal.
    assert cells[6]["fill-opacity"] == f"{12_345 / 12_435 * 0.8:.3f}" and "12k" in found.text
    assert "money classified as " in found.text and "12,345 of 12,435" in found.text
    # A notebook's page may be read as XML.
    svg = source[source.index("<svg") : source.index("</svg>") + 6]
    xml.etree.ElementTree.fromstring(svg)


def test_reports_of_any_size_can_be_shown():
    many = [f"label {i}" for i in range(1000)]
    confusion = [[5 if i == j else 3 if (i, j) == (8, 4) else 0 for j in range(1000)] for i in range(1000)]
    found = page(report(many, confusion))
    assert "label 8 taken for label 4" in found.text and "and 800 more" in found.text
    assert not any(tag == "rect" for tag, _ in found.tags)
    nan = float("nan")
    plain = page(report(confusion=[], accuracy=nan, macro_f1=nan, calibration_error=nan, labels=[]))
    assert "precision" not in plain.text and "nan" not in plain.text.lower()


def test_a_real_report(tmp_path):
    texts = ["the match ended in a draw", "shares of the bank fell sharply"] * 10
    trained = bertqa.train_classifier(texts, ["sport", "money"] * 10, tmp_path / "model", folds=2)
    found = page(trained)
    assert "20 texts" in found.text and sum(tag == "rect" for tag, _ in found.tags) == 4
    assert hash(trained) == hash(copy.deepcopy(trained))
    without = bertqa.train_classifier(texts, ["sport", "money"] * 10, tmp_path / "none", folds=0)
    assert "accuracy" not in page(without).text
