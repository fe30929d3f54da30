"""bertqa.Collection: a database of documents that Python fills, searches and asks."""

import json
import shutil
import sqlite3

import pytest

import bertqa
from bertqa._native import library
from conftest import FIXTURES

TEXTS = {
    "lease": "Ann Smith signed the lease on 3 May. The rent is due on the first day of each month.",
    "boiler": "The heating costs 120 euros a month. Zo\u00eb Brown repaired the boiler.",
    "empty": "",
}


@pytest.fixture
def path(tmp_path):
    with bertqa.Collection(tmp_path / "notes.db") as notes:
        for name, text in TEXTS.items():
            notes.add(name, text, title=name.title(), fields={"length": len(text)})
    return tmp_path / "notes.db"


def test_asks_and_searches(path):
    with bertqa.Collection(path) as notes:
        result = notes.ask("Who repaired the boiler?", k=2)
        assert result.answer.text == "Zo\u00eb Brown" and not result.is_impossible and len(result.answers) == 2
        passage = result.passage(result.answer)
        assert (passage.name, passage.title, passage.fields) == ("boiler", "Boiler", {"length": 67})
        assert passage.text[result.answer.start : result.answer.end] == "Zo\u00eb Brown"
        assert TEXTS["boiler"].encode()[passage.start : passage.end].decode() == passage.text
        assert [hit.name for hit in notes.search("apartment contract")] == ["lease", "boiler"]
        assert [hit.name for hit in notes.search("apartment contract", path="b*")] == ["boiler"]
        assert [hit.name for hit in notes.search("lease", fields={"length": 67})] == ["boiler"]
        assert [hit.name for hit in notes.search("lease", fields={"length": "8*"}, path="*")] == ["lease"]
        assert notes.search("lease", fields={"length": 67, "year": 2024}) == []
        assert notes.ask("Who signed?", fields={"length": 67}).passages[0].name == "boiler"
        assert notes.search("boiler", path="nothing") == [] and notes.ask("Who?", path="nothing").answer is None
        assert notes.ask("What is the capital of Peru?").is_impossible
    with pytest.raises(ValueError, match="closed"):
        notes.search("x")


def test_documents_are_replaced_and_removed(path):
    with bertqa.Collection(path) as notes:
        notes.add("lease", "first")
        notes.add("lease", "Bob Jones signed the lease.")
        assert notes.ask("Who signed the lease?").answer.text == "Bob Jones"
        notes.remove("boiler")
        notes.remove("unknown")
        assert [hit.name for hit in notes.search("heating")] == ["lease"]
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    vectors = connection.execute("SELECT first, count FROM vectors").fetchall()
    passages = [id for (id,) in connection.execute("SELECT id FROM passages")]
    assert [first + i for first, count in vectors for i in range(count)] == passages
    connection.close()


def test_failures_leave_the_collection(path, tmp_path):
    with pytest.raises(ValueError, match="no collection"):
        sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE a(b)").connection.commit()
        bertqa.Collection(tmp_path / "other.db")
    with bertqa.Collection(path) as notes:
        with pytest.raises(ValueError, match="1 to 1000"):
            notes.search("x", k=0)
        with pytest.raises(TypeError):
            notes.add("x", 3)
        assert len(notes.search("heating")) == 2
    other = bertqa.Context(FIXTURES / "tiny-bert-embedder")
    with bertqa.Collection(path, embedder=other) as notes, pytest.raises(bertqa.WrongModel, match="another model"):
        notes.search("heating")


def test_words_only(tmp_path):
    with bertqa.Collection(tmp_path / "words.db", words_only=True) as notes:
        notes.add("a", TEXTS["lease"])
        assert notes.ask("Who signed the lease?").answer.text == "Ann Smith"
        assert notes.search("apartment") == []


def test_titles_count(tmp_path):
    """A passage is found by its document's title."""
    text = "Ann Smith signed on 3 May."
    with bertqa.Collection(tmp_path / "words.db", words_only=True) as notes:
        notes.add("a", text, title="The rental contract")
        assert [hit.text for hit in notes.search("contracts")] == [text]
        notes.add("a", text)
        assert notes.search("contracts") == []
    with (
        bertqa.Context(task="embed") as embedder,
        bertqa.Collection(tmp_path / "all.db", embedder=embedder) as notes,
    ):
        notes.add("a", text, title="The rental contract")
        [hit] = notes.search("apartment")
        question, passage = (
            embedder.embed(each, normalize=True) for each in ("apartment", f"The rental contract\n{text}")
        )
        cosine = sum(a * b for a, b in zip(question, passage))
        assert hit.score == pytest.approx(library().search_score(cosine, 0.0), abs=0.01)


def test_prompts_of_the_model(tmp_path):
    """The question is embedded as a query, and passages as documents."""
    directory = tmp_path / "model"
    shutil.copytree(FIXTURES / "tiny-bert-embedder", directory)
    prompts = {"query": "a king of france: ", "document": "the lazy dog "}
    (directory / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    with (
        bertqa.Context(directory) as embedder,
        bertqa.Collection(tmp_path / "notes.db", embedder=embedder) as notes,
    ):
        notes.add("a", "the river")
        [hit] = notes.search("over")

        def cosine(query, document):
            pair = ("over", query), ("the river", document)
            return sum(
                a * b
                for a, b in zip(*(embedder.embed(text, prompt_name=name, normalize=True) for text, name in pair))
            )

        # No word is the same: the score is that of the cosine, of which int8 keeps two digits.
        found = [
            library().search_score(cosine(*names), 0.0)
            for names in (("query", "document"), ("query", None), (None, None))
        ]
    assert hit.score == pytest.approx(found[0], abs=0.01)
    assert min(abs(other - found[0]) for other in found[1:]) > 0.1
