"""Pages that the tool writes: `answer --html`, `train-classifier --html`."""

import html.parser
import json
import re

import pytest

from cli import APOLLO, FOX, run, run_json
from samples import WHO

HOSTILE = "</pre><script>alert(1)</script> & <b>\"q\" 'a'</b> \x00\x07\u202e\ufffe The quick brown fox jumps over the dog."
VOID = {"meta", "br", "rect"}


class Page(html.parser.HTMLParser):
    """The contents of a page: text by element, marks, links and names. Elements must be closed in order."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.source = path.read_text(encoding="utf-8")
        self.open, self.elements, self.texts, self.marks, self.ids, self.links = [], set(), {}, [], [], []
        self.feed(self.source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.elements.add(tag)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if "href" in attributes:
            self.links.append(attributes["href"])
        if tag == "mark":
            self.marks.append([attributes.get("title"), ""])
        if tag not in VOID:
            self.open.append(tag)
        self.begins_pre = tag == "pre"
        if tag == "pre":
            self.texts.setdefault("pre", []).append("")

    def handle_startendtag(self, tag, attributes):
        self.elements.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "pre" in self.open:
            # HTML ignores a line break right after <pre>.
            self.texts["pre"][-1] += data.removeprefix("\n") if self.begins_pre else data
            self.begins_pre = False
        if "mark" in self.open:
            self.marks[-1][1] += data
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(
            data
        ) if "pre" not in self.open else None


def assert_stands_alone(page):
    """No script, nothing from other hosts, dark and light."""
    assert not page.elements & {"script", "img", "iframe", "link", "object", "form"}
    assert "main" in page.elements
    assert "default-src 'none'" in page.source and not re.search(r"url\(|@import|https?://", page.source)
    assert "color-scheme: light dark" in page.source and "prefers-color-scheme: dark" in page.source


def test_answers_are_highlighted_in_their_documents(tmp_path):
    page_file = tmp_path / "out.html"
    questions = ["-q", WHO, "-q", "What did the fox jump over?"]
    output, errors = run("answer", *questions, "-k", "2", "--html", page_file, FOX, APOLLO)
    assert output == run("answer", *questions, "-k", "2", FOX, APOLLO)[0]
    page = Page(page_file)
    assert_stands_alone(page)
    assert page.texts["pre"] == [FOX.read_text(), APOLLO.read_text()]
    assert "does not seem to say" not in page.source
    assert [text for text in page.texts["h2"] if text in questions] == questions[1::2]
    records = run_json("answer", *questions, "-k", "2", FOX, APOLLO)
    count = sum(len(record["answers"]) for record in records)
    assert sorted(page.links) == sorted(f"#{name}" for name in page.ids) and len(page.ids) == count
    # An answer that overlaps another one has several marks.
    best = f"{WHO} ({records[0]['answers'][0]['probability']:.4f})"
    assert "".join(text for title, text in page.marks if best in title) == "The quick brown fox"


def test_overlapping_answers_of_several_questions(tmp_path):
    page_file = tmp_path / "out.html"
    questions = [f"-q{word} jumped over the dog?" for word in ("Who", "What", "Which animal", "What fox")]
    run("answer", *questions, "-k", "5", "--html", page_file, FOX)
    page = Page(page_file)
    assert page.texts["pre"] == [FOX.read_text()] and len(set(page.ids)) == len(page.ids)
    assert any(";" in title for title, _ in page.marks)
    # Answers that begin together are targets in the same mark.
    marks = re.findall(r"<mark [^>]*>((?:<span id=\S+></span>)*)", page.source)
    assert sum(names.count("<span") for names in marks) == len(page.ids)
    assert any(names.count("<span") > 1 for names in marks)


def test_hostile_texts_names_and_questions(tmp_path):
    document = tmp_path / "<img src=x onerror=alert(1)>&.txt"
    document.write_bytes(b"\n" + HOSTILE.encode() + b"\xff\xfe")
    page_file = tmp_path / "out.html"
    run("answer", "-q", '<script>alert("2")</script>' + WHO, "--force", "--html", page_file, document)
    page = Page(page_file)
    assert_stands_alone(page)
    shown = re.sub("[\x00\x07\ufffe]", "\ufffd", HOSTILE) + "\ufffd\ufffd"
    assert page.texts["pre"] == ["\n" + shown]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe]", page.source)


def test_what_is_no_answer_and_failures(tmp_path):
    page_file = tmp_path / "out.html"
    run("answer", "-q", "What is the capital of Peru?", "--html", page_file, FOX, code=1)
    assert "The text does not seem to say." in page_file.read_text()
    before = page_file.read_bytes()
    assert "cannot write" in run("answer", "-q", WHO, "--html", tmp_path / "no" / "out.html", FOX, code=4)[1]
    run("answer", "-q", WHO, "--html", page_file, "--top-k", "0", FOX, code=2)
    assert page_file.read_bytes() == before
    # The page has the documents that could be read.
    run("answer", "-q", WHO, "--html", page_file, tmp_path / "missing", FOX, code=3)
    assert Page(page_file).texts["pre"] == [FOX.read_text()]


ANIMALS = [("the dog barks and runs after sticks", "dog"), ("a cat purrs and sleeps in warm places", "cat & <co>")]


@pytest.mark.parametrize("folds", [5, 0])
def test_a_training_report(tmp_path, folds):
    data = tmp_path / "data.jsonl"
    rows = [
        {"text": f"{text} number{i % 7} word{i % 3}", "label": label} for i in range(20) for text, label in ANIMALS
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page_file = tmp_path / "report.html"
    arguments = ["train-classifier", data, "--folds", str(folds), "--html", page_file]
    output = run(*arguments, "-o", tmp_path / "model")[0]
    assert output == run("train-classifier", data, "--folds", str(folds), "-o", tmp_path / "again")[0]
    page = Page(page_file)
    assert_stands_alone(page)
    if folds == 0:
        assert "There was no cross-validation" in page.source and "svg" not in page.elements
        return
    assert "svg" in page.elements and page.source.count('class="right"') == 2 == page.source.count('class="wrong"')
    assert "dog predicted as dog: 20 of 20" in page.source and "cat &amp; &lt;co&gt;" in page.source
    cells = re.findall(r'<td class="number">([^<]*)</td>', page.source)
    [report] = run_json("train-classifier", data, "-o", tmp_path / "third")
    for name in "precision", "recall":
        for value in report[name]:
            assert f"{value:.4f}" in cells


def test_a_training_report_of_texts_held_out(tmp_path):
    data, held = tmp_path / "data.jsonl", tmp_path / "held.jsonl"
    rows = [json.dumps({"text": f"{text} a{i % 7}", "label": label}) for i in range(20) for text, label in ANIMALS]
    data.write_text("\n".join(rows))
    held.write_text("\n".join(rows[:6] + [json.dumps({"text": ANIMALS[0][0], "label": "wolf"})]))
    page_file = tmp_path / "report.html"
    run("train-classifier", data, "--holdout", held, "--html", page_file, "-o", tmp_path / "model")
    page = Page(page_file)
    assert page.texts["h2"] == ["Cross-validation", "Texts held out"]
    assert "wolf predicted as dog: 1 of 1" in page.source and "dog predicted as dog: 3 of 3" in page.source


def test_a_report_that_cannot_be_written(tmp_path):
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in ANIMALS * 5))
    errors = run("train-classifier", data, "-o", tmp_path / "m", "--html", tmp_path / "no" / "a.html", code=4)[1]
    assert "cannot write" in errors and not (tmp_path / "m").exists()
