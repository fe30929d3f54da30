"""The demo's server, without a browser: permissions, refusals and answers."""

import concurrent.futures
import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading

import pytest

import bertqa
from bertqa.demo import __main__ as program
from bertqa.demo import _server
from bertqa.demo._server import Server
from bertqa.demo._tasks import LAST_TEXT, Tasks, candidate_questions
from conftest import FIXTURES
from demo_page import asked_documents
from filtering import wait_for
from samples import ANSWER, FOX, WHO

MAIN = [sys.executable, "-m", "bertqa.demo"]


@pytest.fixture(scope="module")
def server():
    with Server(Tasks([("fox.txt", FOX), ("two", "🦊 x\r\ny")], {})) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def send(server, method, path, body=None, **changed):
    """Returns (status, headers, body). `changed`: headers by name; None removes all."""
    headers = {"Host": server.hosts[0]}
    if method == "POST":
        headers |= {"Origin": f"http://{server.hosts[0]}", "Content-Type": "application/json",
                    "X-Bertqa-Token": server.token, "Sec-Fetch-Site": "same-origin"}  # fmt: skip
        headers["Content-Length"] = str(len(body))
    headers |= {name.replace("_", "-"): value for name, value in changed.items()}
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                connection.putheader(name, one)
    connection.endheaders(body)
    response = connection.getresponse()
    result = response.status, response.headers, response.read()
    connection.close()
    return result


def post(server, name, **request):
    body = json.dumps({"page": "test", **request}).encode()
    status, _, data = send(server, "POST", f"/{server.key}/{name}", body)
    return status, json.loads(data)


def test_a_collection_is_asked(tmp_path):
    path = tmp_path / "notes.db"
    lines = [f"Box {number} holds {number * 7} screws, and its lid is green \U0001f98a." for number in range(60)]
    with bertqa.Collection(path) as notes:
        notes.add("boxes", "\n\n".join(lines), title="Boxes")
        notes.add("fox", FOX)
        passages = notes.document(notes.search("box 33", k=1)[0].id)
        assert len(passages) > 2 and [p.start for p in passages] == sorted(p.start for p in passages)
        assert notes.document(99) == []
    with Server(Tasks([("text", FOX), program._document(str(path))], {})) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            assert post(server, "documents")[1] == {
                "names": ["text", "notes.db"],
                "largest": 8 << 20,
                "collections": [1],
            }
            assert (
                post(server, "document", index=1)[0] == post(server, "collection", index=0, question="x")[0] == 400
            )
            status, found = post(server, "collection", index=1, question=WHO)
            assert status == 200 and not found["impossible"] and len(found["hits"]) == len(passages) + 1
            [best] = [hit for hit in found["hits"] if hit["id"] == found["best"]]
            assert best["text"] == FOX and best["place"] == "fox" and best["answers"][0]["text"] == ANSWER
            for hit in found["hits"]:
                shown = post(server, "passage", index=1, id=hit["id"])[1]
                units = shown["text"].encode("utf-16-le")
                assert units[2 * shown["start"] : 2 * shown["end"]].decode("utf-16-le") == hit["text"]
            shown = post(server, "passage", index=1, id=passages[0].id)[1]["text"]
            assert shown == "\n\n".join(lines)
            for id in 99, "1", 1 << 63, None:
                assert post(server, "passage", index=1, id=id)[0] == 400
            # Whatever another program has done to it is told, and the page's server makes no new collection.
            connection = sqlite3.connect(path)
            connection.execute("DELETE FROM passages").connection.commit()
            connection.close()
            status, found = post(server, "collection", index=1, question=WHO)
            assert status == 500 and "is missing" in found["error"]
            path.write_bytes(b"")
            status, found = post(server, "collection", index=1, question=WHO)
            assert status == 500 and "no longer there" in found["error"] and path.stat().st_size == 0
            path.unlink()
            status, found = post(server, "collection", index=1, question=WHO)
            assert status == 500 and "no longer there" in found["error"] and not path.exists()
        finally:
            server.shutdown()
            thread.join()


def test_only_the_models_that_are_needed_are_loaded(tmp_path):
    for name, words_only in ("words.db", True), ("vectors.db", False):
        with bertqa.Collection(tmp_path / name, words_only=words_only) as notes:
            notes.add("fox", FOX)
    documents = [(path.name, path) for path in (tmp_path / "words.db", tmp_path / "vectors.db")]
    none = str(tmp_path / "none")
    request = {"page": "x", "question": WHO, "id": 1}
    tasks = Tasks(documents, {"embed": none})
    found = tasks.run("collection", {**request, "index": 0})
    assert found["hits"][0]["answers"][0]["text"] == ANSWER
    with pytest.raises(bertqa.ModelNotFoundError):
        tasks.run("collection", {**request, "index": 1})
    for index in range(2):
        assert (
            Tasks(documents, {"answer": none, "embed": none}).run("passage", {**request, "index": index})["text"]
            == FOX
        )


def test_the_page_and_its_headers(server):
    for name, kind in ("", "text/html"), ("page.css", "text/css"), ("page.js", "text/javascript"):
        status, headers, body = send(server, "GET", f"/{server.key}/{name}")
        assert status == 200 and headers["Content-Type"] == f"{kind}; charset=utf-8"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
        assert "bertqa" in headers["Server"] and "Python" not in headers["Server"]
        # No external asset: nothing of another host is named.
        assert not re.search(rb"(https?:)?//[a-z]", body.replace(b"// ", b"").replace(b"http-equiv", b""))
        assert b"{{token}}" not in body
        assert (server.token.encode() in body) == (name == "")


@pytest.mark.parametrize("name", ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("])
def test_the_script_never_reads_a_text_as_html(name):
    assert name not in (_server.HERE / "page.js").read_text()


def test_only_browsers_of_this_machine_are_served(server):
    page = f"/{server.key}/"
    assert send(server, "GET", page, Host=f"localhost:{server.server_port}")[0] == 200
    for host in None, "evil.example", f"evil.example:{server.server_port}", "127.0.0.1", "127.0.0.1:1", "":
        status, _, body = send(server, "GET", page, Host=host)
        assert status == 403 and server.token.encode() not in body
    assert send(server, "GET", page, Host=[server.hosts[0], "evil.example"])[0] == 400


def test_only_who_knows_the_key_is_served(server):
    for path in "/", "/x/", f"/{server.key}", f"/{server.key[:-1]}/", "//", f"/{server.key}/../{server.key}/":
        status, _, body = send(server, "GET", path)
        assert status == 404 and server.token.encode() not in body and server.key.encode() not in body
    for name in "_server.py", "../__init__.py", "example.txt", "%2e%2e/__init__.py", "page.html/":
        assert send(server, "GET", f"/{server.key}/{name}")[0] == 404


@pytest.mark.parametrize(
    "changed",
    [
        {"Origin": None}, {"Origin": "null"}, {"Origin": "http://evil.example"}, {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, {"X_Bertqa_Token": None},
        {"X_Bertqa_Token": "x"}, {"X_Bertqa_Token": "\u00e9"}, {"Host": "evil.example"},
    ],
    ids=str,
)  # fmt: skip
def test_requests_of_other_pages_are_refused(server, changed):
    body = b'{"page": "x"}'
    assert send(server, "POST", f"/{server.key}/documents", body)[0] == 200
    status, _, data = send(server, "POST", f"/{server.key}/documents", body, **changed)
    assert status == 403 and b"fox" not in data and json.loads(data)["error"]


def test_requests_are_bounded(server, monkeypatch):
    path = f"/{server.key}/answer"
    for body, changed, status in [
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b"\xff", {}, 400),
        (b"[" * 100_000, {}, 400),
        (b'{"page": 1}', {}, 400),
        (b'{"page": "x", "text": "a"}', {}, 400),
        (b"{}", {"Content_Type": "text/plain"}, 415),
        (b"{}", {"Content_Length": None}, 411),
        (b"{}", {"Content_Length": "-1"}, 411),
        (b"{}", {"Content_Length": "\u00b2"}, 411),
        (b"{}", {"Content_Length": str(_server.LARGEST_REQUEST + 1)}, 413),
        (b"{}", {"Content_Length": "9" * 5000}, 413),
        (b"{}", {"Content_Length": ["2", "2"]}, 400),
    ]:
        found, _, data = send(server, "POST", path, body, **changed)
        assert found == status and json.loads(data)["error"], (body[:20], changed)
    assert send(server, "POST", f"/{server.key}/run", b'{"page": "x"}')[0] == 404
    # No text that the page accepts is refused, however JSON spells it.
    assert post(server, "next", text="\0" * post(server, "documents")[1]["largest"])[0] == 200
    # A request that never comes does not keep its thread.
    monkeypatch.setattr(_server._Handler, "timeout", 0.2)
    with socket.create_connection(("127.0.0.1", server.server_port)) as slow:
        assert slow.recv(100) == b""


def test_answers_are_the_librarys(server, context):
    text = "Zoë 🦊 is here. " + FOX
    status, found = post(server, "answer", text=text, question=WHO)
    result = context.answer(WHO, text, top_k=5)
    assert status == 200 and found["impossible"] is result.is_impossible is False
    assert set(found) == {"impossible", "answers"}  # the page uses no other value
    assert [(a["start"], a["end"]) for a in found["answers"]] == [a.utf16_range for a in result.answers]
    units = text.encode("utf-16-le")
    best = found["answers"][0]
    assert units[2 * best["start"] : 2 * best["end"]].decode("utf-16-le") == best["text"] == "The quick brown fox"
    assert best["probability"] == result.answer.probability
    assert post(server, "answer", text=FOX, question="What is the capital of France?")[1]["impossible"] is True
    assert post(server, "answer", text="", question="")[1]["answers"] == []
    assert post(server, "answer", text="\ud800 " + FOX, question=WHO)[0] == 200


def test_documents(server):
    assert post(server, "documents")[1] == {"names": ["fox.txt", "two"], "largest": 8 << 20, "collections": []}
    assert post(server, "document", index=1)[1] == {"text": "🦊 x\r\ny"}
    for index in -1, 2, "0", None, 1.0:
        assert post(server, "document", index=index)[0] == 400


def test_suggested_questions_are_those_that_have_answers(server, context):
    text = Tasks([], {}).run("document", {"page": "x", "index": 0})["text"]
    questions = post(server, "suggest", text=text)[1]["questions"]
    assert "When was the American writer Mark Twain born?" in questions and len(questions) <= 5
    assert set(questions) <= set(candidate_questions(text))
    for question in questions:
        assert not context.answer(question, text, max_windows=1).is_impossible
    assert post(server, "suggest", text="no statement")[1] == {"questions": []}
    assert len(candidate_questions("Ann is the x. " * 9 + "A is the x. " * 100_000)) == 2


def test_classification(server):
    text = "🏃 The striker scored twice in the second half and the crowd sang until midnight."
    found = post(server, "classify", text=text)[1]
    assert found["labels"][0]["label"] == "sport" and not found["tooShort"]
    units = text.encode("utf-16-le")
    words = {units[2 * w["start"] : 2 * w["end"]].decode("utf-16-le"): w["weight"] for w in found["words"]}
    assert words["striker"] > 0 and set(words) <= set(re.findall(r"\w+", text))
    assert post(server, "classify", text="")[1] == {"tooShort": True, "labels": [], "words": []}


def test_a_model_without_contributions_classifies(server):
    models = [path for path in FIXTURES.glob("*classif*") if (path / "config.json").exists()]
    models = [path for path in models if "Bert" in (path / "config.json").read_text()]
    assert models
    found = Tasks([], {"classify": str(models[0])}).run("classify", {"page": "x", "text": FOX})
    assert found["labels"] and found["words"] == []


def test_a_model_of_numbers_is_named():
    """JSON has no NaN, the probability of its one label."""
    tasks = Tasks([], {"classify": str(FIXTURES / "tiny-bert-regression")})
    with pytest.raises(bertqa.InvalidArgument, match="computes numbers.*--classify-model"):
        tasks.run("classify", {"page": "x", "text": FOX})


def test_next_words_are_the_librarys(server):
    found = post(server, "next", text="O Romeo")[1]
    with bertqa.Context(task="predict") as play:
        expected = play.predict("Romeo", play.predict("O").state, top_k=8)
    assert [(w["word"], w["probability"]) for w in found["words"]] == [
        (w.text, w.probability) for w in expected.words
    ]
    assert found["separator"] == " " and found["unknown"] is False
    assert post(server, "next", text=" ")[1]["words"] == []
    assert post(server, "next", text="O xyzzyx")[1]["unknown"] is True


def test_the_end_of_a_long_text_is_read(server):
    end = "O Romeo, " * (LAST_TEXT // 9)
    whole = post(server, "next", text="night " * 9000 + "star-cross'd " + end)[1]
    assert whole["words"] == post(server, "next", text=end)[1]["words"] != []


def test_a_new_question_ends_the_one_before():
    tasks, began, outcome = Tasks([], {}), threading.Event(), []

    class Slow:
        def answer(self, question, cancel, **options):
            began.set()
            if question == "slow":
                while not cancel():
                    pass
                raise bertqa.Cancelled("cancelled")
            return bertqa.Context().answer(question, FOX, cancel=cancel)

    tasks._prepared[FOX] = Slow()

    def first():
        try:
            tasks.run("answer", {"page": "a", "text": FOX, "question": "slow"})
        except bertqa.Cancelled:
            outcome.append("cancelled")

    thread = threading.Thread(target=first)
    thread.start()
    began.wait()
    # Another page, and another kind of request, leave it alone.
    tasks.run("answer", {"page": "b", "text": FOX, "question": WHO})
    tasks.run("documents", {"page": "a"})
    assert thread.is_alive() and not outcome
    assert tasks.run("answer", {"page": "a", "text": FOX, "question": WHO})["answers"]
    thread.join()
    assert outcome == ["cancelled"] and tasks._running == {}


def test_an_older_request_that_comes_late_ends_none():
    """Each request has its own thread, which may be late."""
    tasks, newer = Tasks([], {}), []
    request = {"page": "a", "text": FOX, "question": WHO}

    class Late:
        def answer(self, question, cancel, **options):
            with pytest.raises(bertqa.Cancelled):
                tasks.run("answer", {**request, "number": 6})
            newer.append(cancel())
            return bertqa.Context().answer(question, FOX, cancel=cancel)

    tasks._prepared[FOX] = Late()
    assert tasks.run("answer", {**request, "number": 7})["answers"]
    assert newer == [False] and tasks._running == {}
    with pytest.raises(bertqa.InvalidArgument):
        tasks.run("answer", {**request, "number": "8"})


def test_a_text_is_tokenized_once():
    """Also for two requests at the same time."""
    tasks, prepared, second = Tasks([], {}), [], threading.Event()

    class Slow:
        def prepare(self, text, cancel):
            prepared.append(text)
            if len(prepared) > 1:
                second.set()
            second.wait(0.3)
            return object()

    tasks._contexts["answer"] = Slow()
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        documents = list(threads.map(lambda number: tasks._prepare(FOX, lambda: False), range(2)))
    assert prepared == [FOX] and documents[0] is documents[1]


def test_one_context_and_few_documents_are_kept(server):
    tasks = Tasks([], {})
    contexts = [tasks.context("answer") for _ in range(2)]
    for number in range(7):
        tasks.run("answer", {"page": "a", "text": f"{FOX} {number}", "question": WHO})
    assert contexts[0] is contexts[1] is tasks.context("answer") and len(tasks._prepared) == 4


def test_the_program(tmp_path):
    file = tmp_path / "a text.txt"
    file.write_bytes(b"\xef\xbb\xbf" + FOX.encode())
    process = subprocess.Popen([*MAIN, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    url = process.stdout.readline().strip()
    port, key = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]{20,})/", url).groups()
    connection = http.client.HTTPConnection("127.0.0.1", int(port))
    connection.request("GET", f"/{key}/")
    assert b"<!doctype html>" in connection.getresponse().read()
    taken = subprocess.run([*MAIN, "--port", port], capture_output=True, text=True)
    assert taken.returncode == 1 and "in use" in taken.stderr
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and errors == "" and key not in output


def test_a_program_that_cannot_begin():
    with open("/dev/full", "w") as full:
        ended = subprocess.run(MAIN, stdout=full, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 1
    assert ended.stderr == "bertqa.demo: cannot write standard output: No space left on device\n"
    ended = subprocess.run(MAIN, env=os.environ | {"BERTQA_LIBRARY": "nowhere"}, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.startswith("bertqa.demo: cannot load libbertqa (nowhere") and ended.stderr.count("\n") == 1


def test_a_program_that_is_ended_while_it_begins(monkeypatch, capsys):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(program.Tasks, "context", interrupted)
    assert program.main([]) == 130 and capsys.readouterr() == ("", "")


def test_pipes_and_equal_names(tmp_path):
    """A pipe has its text only once. Files of the same name are told apart by their paths."""
    text = "".join(f"Box {number} holds {number * 7} screws.\n" for number in range(1000))
    for folder in "a", "b":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "notes.txt").write_text(folder)
    read, write = os.pipe()
    process = subprocess.Popen(
        [*MAIN, "-", f"/dev/fd/{read}", "a/notes.txt", "b/notes.txt"], cwd=tmp_path, pass_fds=[read], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    os.close(read)
    with process:
        process.stdin.write(text)
        process.stdin.close()
        with open(write, "w") as pipe:
            pipe.write(text)
        assert asked_documents(process) == [
            ("Standard input", text), (str(read), text), ("a/notes.txt", "a"), ("b/notes.txt", "b"),
        ]  # fmt: skip


def test_texts_of_a_program_that_has_read_the_files(tmp_path):
    (tmp_path / "notes.txt").write_text("raw")
    read, write = os.pipe()
    process = subprocess.Popen(
        [*MAIN, f"--texts={read},-", "page.html", "notes.txt"], cwd=tmp_path, pass_fds=[read], text=True,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    os.close(read)
    with process:
        with open(write, "w") as pipe:
            pipe.write("read")
        assert asked_documents(process) == [("page.html", "read"), ("notes.txt", "raw")]


def test_a_browser_that_ends_before_the_page(tmp_path):
    """Such as a program that $BROWSER names, for which Python waits."""
    script, seen = tmp_path / "browser", tmp_path / "seen"
    fetch = "import os, sys, urllib.request; data = urllib.request.urlopen(sys.argv[1]).read(); "
    fetch += "open(sys.argv[2] + '.tmp', 'wb').write(data); os.rename(sys.argv[2] + '.tmp', sys.argv[2])"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{fetch}" "$1" "{seen}"\n')
    script.chmod(0o755)
    environment = {**os.environ, "BROWSER": str(script)}
    with subprocess.Popen([*MAIN, "--browser"], env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            wait_for(seen.exists)
            assert b"<!doctype html>" in seen.read_bytes()
        finally:
            process.kill()


def test_the_program_says_what_is_wrong(tmp_path, capsys, monkeypatch):
    binary, large = tmp_path / "bin\x1b[2J\r\n\x9bary", tmp_path / "large"
    binary.write_bytes(b"abc\xff")
    large.write_bytes(b"12345")
    monkeypatch.setattr(program, "LARGEST", 4)
    for arguments, message in [
        ([str(binary)], "bin [2J ary: not a text in UTF-8: invalid start byte at byte 3"),
        ([str(large)], "larger than"),
        ([str(tmp_path / "none")], "No such file"),
        (["--classify-model", str(tmp_path / "none")], "none"),
        (["--embed-model", str(tmp_path / "none")], "none"),
    ]:
        assert program.main(arguments) == 1
        assert message in capsys.readouterr().err
    for port in "65536", "-1", "x", "\u00b2", "x\x1b]0;y\x07z":
        with pytest.raises(SystemExit):
            program.main(["--port", port])
        port = re.sub("[\x1b\x07]", " ", port)
        assert f"{port} is not a port: 0 to 65535" in capsys.readouterr().err


def test_a_file_that_only_begins_as_a_database(tmp_path, capsys):
    path = tmp_path / "notes.db"
    path.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 16)
    assert program.main([str(path)]) == 1
    assert capsys.readouterr().err.startswith("bertqa.demo: ")
