#!/usr/bin/env python3
"""Makes the page screenshots in docs/images with chromium: the demo, with a text and with a collection, an answer page,
and a training report.

usage: screenshots.py TOOL LABELLED.jsonl DIRECTORY    (with bindings/python and Tests/python/package in PYTHONPATH)
LABELLED: texts and labels for `bertqa train-classifier`.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

import bertqa
import browser
from bertqa.demo._server import Server
from bertqa.demo._tasks import Tasks

ROOT = pathlib.Path(__file__).resolve().parents[1]


def main():
    tool, labelled, directory = (os.path.abspath(argument) for argument in sys.argv[1:])
    page = browser.Browser()
    page.scheme("light")
    demo(page, [], "Who found the comet in 1758?", pathlib.Path(directory, "demo.png"))
    with tempfile.TemporaryDirectory() as scratch:
        database = pathlib.Path(scratch, "docs.db")
        with bertqa.Collection(database) as collection:
            for file in sorted((ROOT / "docs").glob("*.md")):
                text = file.read_text()
                collection.add(f"docs/{file.name}", text, title=text.partition("\n")[0].lstrip("# "))
        question = "Which library decodes mail?"
        demo(page, [("docs.db", database)], question, pathlib.Path(directory, "collection.png"))
        file = pathlib.Path(scratch, "page.html")
        command = [tool, "answer", "-q", "What killed the crew of Apollo 1?", "-q", "When was Skylab launched?"]
        document = "examples/documents/apollo.txt"
        subprocess.run([*command, "--html", file, document], cwd=ROOT, check=True, capture_output=True)
        shoot(page, file, (760, 640), pathlib.Path(directory, "answers.png"))
        command = [tool, "train-classifier", labelled, "-o", pathlib.Path(scratch, "model"), "--html", file]
        subprocess.run([*command, "--algorithm", "naive_bayes", "--calibrate"], check=True, capture_output=True)
        shoot(page, file, (560, 960), pathlib.Path(directory, "training.png"))
    page.close()


def demo(page, documents, question, path):
    with Server(Tasks(documents, {})) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        size(page, 1000, 640)
        page.open(server.url)
        page.wait("document.activeElement.id === 'question'" if documents else "at('suggested').children.length")
        page.run("at('document').style.setProperty('scroll-behavior', 'auto')")
        page.run(f"at('question').value = {json.dumps(question)}; answer()")
        page.wait("document.querySelector('mark') !== null")
        page.run("scrollTo(0, 0)")
        page.screenshot(path)
        server.shutdown()
        thread.join()


def shoot(page, file, extent, path):
    size(page, *extent)
    page.open(file.as_uri())
    page.run("document.querySelector('mark')?.scrollIntoView({block: 'center'})")
    page.screenshot(path)


def size(page, width, height):
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)


if __name__ == "__main__":
    main()
