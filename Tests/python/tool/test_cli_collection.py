"""`bertqa index`, `bertqa search` and `bertqa ask` of a collection."""

import gzip
import json
import os
import random
import resource
import sqlite3
import unicodedata

from cli import run
from indexed import HEATING, LEASE, ask, check_whole, indexed_notes, rows, written_notes  # noqa: F401


def test_a_model_that_is_missing_leaves_no_collection(notes, tmp_path):
    run("index", "-m", "no-such-model", tmp_path / "notes.db", notes, code=3)
    assert not (tmp_path / "notes.db").exists()


def test_answers_and_their_places(collection, notes):
    check_whole(collection)
    result = ask(collection, "Who signed the lease?")
    answer = result["answers"][0]
    assert answer["text"] == "Ann Smith" and not result["is_impossible"]
    assert answer["file"] == str(notes / "house" / "lease.md") and answer["line"] == 3
    assert answer["title"] == "The lease" and answer["name"] is None
    assert answer["sentence"]["text"] == "Ann Smith signed the lease on 3 May."
    start, end = (answer["passage_start"] + byte for byte in answer["bytes"])
    assert LEASE.encode()[start:end] == b"Ann Smith"
    answer = ask(collection, "Where did Carla win?")["answers"][0]
    assert (answer["text"], answer["name"], answer["line"]) == ("Oslo", "m2", None)
    output, _ = run("ask", collection, "Who repaired the boiler?")
    assert output.split("\t")[::3] == [f"{notes}/heating.txt:2", "Zo\u00eb Brown\n"]
    # Questions through a pipe, two answers each.
    output, _ = run("ask", "-k", "2", collection, input=b"Who signed the lease?\nWhat does the heating cost?\n")
    assert [line.split("\t")[1] for line in output.splitlines()] == ["Who signed the lease?"] * 2 + [
        "What does the heating cost?"
    ] * 2


def test_what_is_no_answer(collection):
    result = ask(collection, "What is the capital of Peru?", code=1)
    assert result["is_impossible"]
    assert "probably no answer" in run("ask", collection, "What is the capital of Peru?", code=1)[1]


def test_search(collection, notes):
    first = run("search", collection, "heating", "costs")[0].splitlines()[0].split("\t")
    assert first[1] == f"{notes}/heating.txt:1" and first[2].startswith("The heating costs 120 euros")
    # By meaning: no word is the same.
    hits = [
        json.loads(line)
        for line in run("search", "--json", "-k", "2", collection, "apartment contract")[0].splitlines()
    ]
    assert len(hits) == 2 and hits[0]["file"].endswith("lease.md") and hits[0]["score"] > hits[1]["score"]
    assert LEASE.encode()[slice(*hits[0]["bytes"])].decode() == hits[0]["text"]
    # Filters.
    paths = run("search", "--path", "*.jsonl.gz", collection, "heating")[0]
    assert paths.count("\n") == 2 and "heating.txt" not in paths
    assert run("search", "--path", "nothing", collection, "heating", code=1)[0] == ""
    assert ask(collection, "Who signed the lease?", "--path", "*heating*", code=1)["is_impossible"]
    for option in "--table", "--encoding":
        assert f"{collection} is a collection" in run("ask", option, "utf-8", collection, "Who?", code=2)[1]
    # The words of a question are no operators.
    run("search", collection, 'NEAR( AND "x" * -lease')


def test_only_what_changed_is_read(collection, notes):
    index = ["index", collection, "--id-field", "id", notes]
    assert run(*index)[0] == "0 new, 0 changed, 3 unchanged, 0 gone; passages: 0 read, 4 in all\n"
    os.utime(notes / "heating.txt")
    assert run(*index)[0].startswith("0 new, 0 changed, 3 unchanged, 0 gone; passages: 0 read")
    (notes / "heating.txt").write_text(HEATING.replace("Zo\u00eb Brown", "Tim Gray"))
    (notes / "house" / "lease.md").unlink()
    (notes / "new.txt").write_text("The garden has forty roses.")
    assert run(*index)[0] == "1 new, 1 changed, 1 unchanged, 1 gone; passages: 2 read, 4 in all\n"
    check_whole(collection)
    assert ask(collection, "Who repaired the boiler?")["answers"][0]["text"] == "Tim Gray"
    assert ask(collection, "How many roses has the garden?")["answers"][0]["text"] == "forty"
    # Without files only what is gone leaves.
    (notes / "new.txt").unlink()
    assert run("index", collection)[0].startswith("0 new, 0 changed, 0 unchanged, 1 gone")
    check_whole(collection)


def test_files_that_became_something_else(tmp_path):
    folder, path = tmp_path / "folder", tmp_path / "x.db"
    folder.mkdir()
    files = [folder / f"{number}.txt" for number in range(4)]
    for number, file in enumerate(files):
        file.write_text(f"Box {number} holds {number * 7} screws.")
    run("index", "--words-only", path, folder)
    for file in files[:3]:
        file.unlink()
    files[0].mkdir()
    (files[0] / "a.txt").write_text("The lamp is green.")
    os.mkfifo(files[1])
    files[2].symlink_to(files[2])
    assert run("index", "--words-only", path, folder, code=3) == (
        "1 new, 0 changed, 1 unchanged, 3 gone; passages: 1 read, 2 in all\n",
        f"bertqa: {files[2]}: Too many levels of symbolic links\n",
    )


def test_large_files_that_are_no_texts(tmp_path):
    """Neither is read beyond its first bytes: reading all of the larger one takes hours."""
    folder, path = tmp_path / "folder", tmp_path / "x.db"
    folder.mkdir()
    for name in "disk.img", "log.txt":
        (folder / name).write_text("The lamp is green.")
    run("index", "--words-only", path, folder)
    for name, size in ("disk.img", (1 << 31) - 1), ("log.txt", 1 << 43):
        os.truncate(folder / name, 0)
        os.truncate(folder / name, size)
    limit = 1 << 30
    output, errors = run(
        "index", "--words-only", path, folder, code=3,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    assert "disk.img: looks like a binary file" in errors and "log.txt has more than" in errors
    # What they were is no longer in the collection.
    assert output.endswith("passages: 0 read, 0 in all\n")


def test_other_options_read_files_again(tmp_path):
    """Those that concern a file. Problems say which option to change, and then it must count."""
    path, lines, text = tmp_path / "x.db", tmp_path / "lines.jsonl", tmp_path / "a.txt"
    lines.write_text('{"body": "The lamp is green.", "year": 2024}\n')
    text.write_text("The clock stopped at ten.")
    index = ["index", "--words-only", path, tmp_path]
    assert "no field 'text'" in run(*index, "--exclude", "x.db*", code=3)[1]
    body = [*index, "--text-field", "body", "--exclude", "x.db*"]
    assert run(*body)[0] == "0 new, 1 changed, 1 unchanged, 0 gone; passages: 1 read, 2 in all\n"
    assert "2 unchanged" in run(*body)[0]
    assert "1 changed, 1 unchanged" in run(*body, "--field", "year")[0]
    assert rows(path, "SELECT fields FROM documents WHERE fields IS NOT NULL") == [('{"year":"2024"}',)]
    os.utime(text)
    os.utime(lines)
    assert "2 unchanged" in run(*body, "--field", "year")[0]
    assert "1 changed, 1 unchanged" in run(*body, "--field", "year", "--convert", ".txt=cat {}")[0]
    assert "0 changed, 2 unchanged" in run(*body, "--field", "year", "--convert", ".txt=cat {}")[0]
    assert "2 changed, 0 unchanged" in run(*body, "--encoding", "latin1")[0]


def test_options_that_cannot_read_a_file_keep_its_text(tmp_path):
    """The bytes that were read with others are the same. Changed bytes that cannot be read are counted."""
    path, folder = tmp_path / "x.db", tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_bytes("Zo\u00eb wohnt in K\u00f6ln.".encode("latin-1"))
    (folder / "b.png").write_bytes(b"\x89PNG\r\n" + bytes(100))
    (folder / "c.jsonl").write_text('{"body": "The lamp is green."}\n')
    index = ["index", "--words-only", path, folder]
    options = ["--encoding", "latin1", "--convert", ".png=echo A picture.", "--text-field", "body"]
    assert run(*index, *options)[0].startswith("3 new")
    for _ in range(2):
        output, errors = run(*index, code=3)
        assert output == "0 new, 0 changed, 0 unchanged, 0 gone; passages: 0 read, 3 in all\n"
        lines = [line for line in errors.splitlines() if line.endswith("; what was read of it earlier stays")]
        assert [line.split(":")[1].split("/")[-1] for line in lines] == ["a.txt", "b.png", "c.jsonl"]
        for file in folder.iterdir():
            os.utime(file)
    assert "3 unchanged" in run(*index, *options)[0]
    for changed, rest in ("a.txt", 2), ("b.png", 1):
        (folder / changed).write_bytes((folder / changed).read_bytes() + b"\xff")
        output, errors = run(*index, code=3)
        assert output == f"0 new, 0 changed, 0 unchanged, 1 gone; passages: 0 read, {rest} in all\n"
        assert "0 gone" in run(*index, code=3)[0]
    assert "2 changed, 1 unchanged" in run(*index, *options)[0]


def test_problems_of_unchanged_files_are_told_again(tmp_path):
    """Nothing is computed again for it, until the file or its problems are others."""
    path, lines = tmp_path / "x.db", tmp_path / "a.jsonl"
    lines.write_text('{"text": "The lamp is green."}\n{broken\n{"other": 1}\n')
    output, errors = run("index", path, lines, code=3)
    assert output.startswith("1 new") and errors.count("\n") == 2
    for _ in range(2):
        assert run("index", path, lines, code=3) == (
            "0 new, 0 changed, 1 unchanged, 0 gone; passages: 0 read, 1 in all\n",
            errors,
        )
        os.utime(lines)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE files SET problems = 3")
    assert run("index", path, lines, code=3) == (
        "0 new, 1 changed, 0 unchanged, 0 gone; passages: 1 read, 1 in all\n",
        errors,
    )
    lines.write_text('{"text": "The lamp is green."}\n')
    assert "1 changed" in run("index", path, lines)[0]
    assert "1 unchanged" in run("index", path, lines)[0]
    check_whole(path)


def test_a_file_that_is_cut_off(tmp_path):
    """What it has stays, and is not read again."""
    path, file = tmp_path / "x.db", tmp_path / "a.jsonl.gz"
    texts = [f'{{"text": "Box {number} holds {random.random()} screws."}}\n' for number in range(4000)]
    whole = gzip.compress("".join(texts).encode())
    file.write_bytes(whole[:-20])
    output, errors = run("index", "--words-only", path, file, code=3)
    assert output.startswith("1 new") and errors.count("\n") == 1
    again, told = run("index", "--words-only", path, file, code=3)
    assert again.startswith("0 new, 0 changed, 1 unchanged, 0 gone; passages: 0 read")
    assert again.split()[-3:] == output.split()[-3:] and told == errors
    file.write_bytes(whole)
    assert "1 changed, 0 unchanged, 0 gone; passages: 4000 read" in run("index", "--words-only", path, file)[0]


def test_a_file_with_several_names(tmp_path):
    """It is one document, whichever name comes first."""
    path, folder = tmp_path / "x.db", tmp_path / "folder"
    folder.mkdir()
    (folder / "m.txt").write_text("The lamp is green.")
    (folder / "a.txt").symlink_to("m.txt")
    (folder / "z.txt").hardlink_to(folder / "m.txt")
    index = ["index", "--words-only", path]
    assert run(*index, folder)[0].startswith("1 new")
    for name in "a.txt", "m.txt", "z.txt":
        assert "1 unchanged, 0 gone; passages: 0 read, 1 in all" in run(*index, folder / name)[0]
    (folder / "a.txt").unlink()
    assert run(*index, folder)[0].startswith("1 new, 0 changed, 0 unchanged, 1 gone")
    (folder / "a.txt").write_text("The clock stopped at ten.")
    assert run(*index, folder)[0].startswith("1 new, 0 changed, 1 unchanged, 0 gone")
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to("m.txt")
    assert run(*index, folder)[0].endswith("1 gone; passages: 1 read, 1 in all\n")
    assert rows(path, "SELECT text FROM passages") == [("The lamp is green.",)]


def test_what_cannot_be_read_is_listed(collection, notes, tmp_path):
    (notes / "picture.png").write_bytes(b"\x89PNG\r\n" + bytes(100))
    (notes / "latin.txt").write_bytes("Die M\u00fchle geh\u00f6rt Ern\u00f6.".encode("latin-1") * 3)
    (notes / "wrong.jsonl").write_text('{"text": "The lamp is green."}\n{broken\n{"other": 1}\n')
    (notes / os.fsdecode(b"\xff.txt")).write_text("x")
    os.symlink(notes, notes / "loop")
    os.symlink("nowhere", notes / "gone.md")
    os.mkfifo(notes / "fifo")
    output, errors = run(
        "index", collection, notes, tmp_path / "missing", notes / os.fsdecode(b"\xff.txt"), notes / "fifo", "/dev/stdin",
        input=b"", code=3,
    )  # fmt: skip
    assert output.startswith("1 new")
    for part in (
        "picture.png: looks like a picture",
        "wrong.jsonl: line 2",
        "wrong.jsonl: line 3",
        "latin.txt: not valid UTF-8",
        "notes/\ufffd.txt: its name is not valid UTF-8\nbertqa: ",
        "gone.md: No such file",
        "missing: No such file",
        "notes/fifo: is neither a regular file nor a directory: pass -",
        "/dev/stdin: is neither a regular file nor a directory: pass -",
    ):
        assert part in errors, errors
    assert "gone.md" not in run("index", tmp_path / "some.db", "--include", "*.jsonl", notes, code=3)[1]
    assert errors.count("its name is not valid UTF-8") == 2
    assert ask(collection, "What colour is the lamp?")["answers"][0]["text"] == "green"
    check_whole(collection)
    run("index", collection, "--encoding", "latin1", notes / "latin.txt")
    assert ask(collection, "Who owns the M\u00fchle?", code=None)["answers"]


def test_patterns_converters_and_standard_input(tmp_path, notes):
    path = tmp_path / "chosen.db"
    assert run("index", path, "--include", "*.md", notes)[0].startswith("1 new")
    assert run("index", path, "--exclude", "house", "--exclude", "*.gz", notes)[0].startswith("1 new")
    # To Swift a quote with an accent is another character than a quote, but not to the shell.
    for name in "it's $HOME.rot", "it'\u0301; touch made; '\u0301.rot":
        odd = tmp_path / name
        odd.write_text("Gur xrl vf va gur qenjre.")
        converter = ".rot=tr A-Za-z N-ZA-Mn-za-m < {}"
        assert run("index", path, "--convert", converter, odd, cwd=tmp_path)[0].startswith("1 new")
        assert ask(path, "Where is the key?")["answers"][0]["text"] == "in the drawer"
    assert not (tmp_path / "made").exists()
    odd.write_text("changed")
    assert "'false' failed: exit status 1" in run("index", path, "--convert", ".rot=false", odd, code=3)[1]
    assert run("index", path, "-", input=b"The bicycle is in the cellar.")[0].startswith("1 new")
    assert ask(path, "Where is the bicycle?")["answers"][0]["file"] == "-"
    check_whole(path)


def test_words_only(tmp_path, notes):
    path = tmp_path / "words.db"
    run("index", "--words-only", path, notes)
    assert rows(path, "SELECT count(*) FROM vectors") == [(0,)]
    assert ask(path, "Who signed the lease?")["answers"][0]["text"] == "Ann Smith"
    assert run("search", path, "apartment contract", code=1)[0] == ""
    assert "has no vectors" in run("index", path, notes, code=3)[1]
    (notes / "places.txt").write_text(unicodedata.normalize("NFD", "Việt Nam"))
    run("index", "--words-only", path, notes)
    for question in "Việt", unicodedata.normalize("NFD", "Việt"), "viet":
        assert "places.txt" in run("search", path, question)[0]


def test_files_of_the_far_future(tmp_path):
    """Nanoseconds since 1970 do not fit into 64 bits after 2262."""
    (tmp_path / "late.txt").write_text("The clock stopped at ten.")
    os.utime(tmp_path / "late.txt", (1 << 34, 1 << 34))
    assert run("index", "--words-only", tmp_path / "x.db", tmp_path / "late.txt")[0].startswith("1 new")
    assert "1 unchanged" in run("index", "--words-only", tmp_path / "x.db", tmp_path / "late.txt")[0]
