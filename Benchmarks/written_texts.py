#!/usr/bin/env python3
"""Asks the same questions about the same texts, written as plain text, in wrapped lines, as Markdown, as subtitles ...
docs/collections.md quotes it.

usage: written_texts.py FILE [COUNT]          asks COUNT questions of each source that has so many, 400 by default

FILE: JSON lines with "context", "question", "answers" and "source". Needs the tool of `make`, libxml2, MD4C and
pandoc.
"""

import html
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import textwrap
import unicodedata

from accuracy import scores
from collection import questions
from staged import TOOL

NAMES = re.compile(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)*")
draw = random.Random()


def some(pattern, share, change, text):
    """Changes a share of the pattern's matches."""
    return re.sub(pattern, lambda match: change(match[0]) if draw.random() < share else match[0], text)


def wrapped(text, indent="", width=72):
    lines = textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def hyphenated(text):
    """Some line ends divide a word."""
    return some(r"(?<= )[a-z]{4}(?=[a-z]{4,} )", 0.1, lambda word: word + "-\n", text)


def typographic(text):
    text = re.sub(r'(^|[\s(])"', r"\1“", text).replace('"', "”").replace("'", "’")
    text = some(" ", 0.2, lambda space: "\u00a0", text)
    return some(r"\b[a-z]{4}(?=[a-z]{3})", 0.3, lambda start: start + "\u00ad", text)


def markdown(text):
    """A sixth of the names are links to other notes, and one word in thirty is in bold type."""
    text = some(NAMES, 0.15, lambda name: f"[{name}]({name.lower().replace(' ', '-')}.md)", text)
    return some(r"(?<= )[a-z]+(?= )", 0.03, lambda word: f"**{word}**", text)


def linked(text):
    """Two fifths of the names are links to an encyclopedia."""
    address = "https://en.wikipedia.org/wiki/"
    return some(NAMES, 0.4, lambda name: f"[{name}]({address}{name.replace(' ', '_')})", text)


def page(text):
    text = some(NAMES, 0.4, lambda name: f"<a href=/wiki/{name.replace(' ', '_')}>{name}</a>", html.escape(text))
    return f"<!DOCTYPE html><title>A text</title><p>{text}</p>\n"


def marked(mark):
    """Makes lines that begin with a mark, which may have their number."""

    def document(text):
        return "".join(f"{mark.format(n)}{line}\n" for n, line in enumerate(wrapped(text).splitlines(), start=1))

    return document


def spoken(text):
    """As a recogniser of speech writes it."""
    return re.sub(r"[^\w\s'-]", "", text).lower()


def time(seconds):
    return f"00:{seconds // 60:02}:{seconds % 60:02},000"


def subtitles(text):
    lines = textwrap.wrap(text, 40)
    return "".join(
        f"{n}\n{time(3 * n - 3)} --> {time(3 * n)}\n{line}\n\n" for n, line in enumerate(lines, start=1)
    )


def written(form):
    """Makes documents of notes as pandoc writes them."""

    def document(text):
        command = ["pandoc", "-s", "-f", "markdown-smart", "-t", form, "-o", "-"]
        return subprocess.run(command, input=markdown(text).encode(), stdout=subprocess.PIPE, check=True).stdout

    return document


DOCUMENTS = [(".tex", "latex"), (".docx", "docx"), (".odt", "odt"), (".epub", "epub"), (".ipynb", "ipynb")]
SPOKEN = r".srt=sed -E '/^[0-9]*\r?$/d; /-->/d' {}"
# (what the text is like, how it is made, the ending of its file, what `--convert` gets, if anything)
FORMS = [
    ("plain", str, ".txt", None),
    ("wrapped lines", wrapped, ".txt", None),
    ("wrapped lines, CR LF", lambda text: wrapped(text).replace("\n", "\r\n"), ".txt", None),
    ("words divided at line ends", hyphenated, ".txt", None),
    ("curly quotes, no-break spaces, soft hyphens", typographic, ".txt", None),
    ("quoted mail", lambda text: wrapped(text, "> "), ".txt", None),
    ("double-spaced", lambda text: wrapped(text).replace("\n", "\n\n"), ".txt", None),
    ("lines that end in CR CR LF", lambda text: wrapped(text).replace("\n", "\r\r\n"), ".txt", None),
    ("Markdown of notes, as text", markdown, ".txt", None),
    ("Markdown of notes", markdown, ".md", None),
    ("Markdown with many links, as text", linked, ".txt", None),
    ("Markdown with many links", linked, ".md", None),
    ("HTML, as text", lambda text: page(text).removeprefix("<!DOCTYPE html>"), ".txt", None),
    ("HTML", page, ".html", None),
    ("subtitles, as text", subtitles, ".srt", None),
    ("subtitles by sed", subtitles, ".srt", SPOKEN),
    ("LaTeX, as text", written("latex"), ".txt", None),
    ("lower case without punctuation", spoken, ".txt", None),
    ("lines of a log", marked("2026-05-03 10:{:02}:11 INFO  "), ".txt", None),
    ("lines of a chat", marked("[10:{:02}] <ann> "), ".txt", None),
    ("numbered lines", marked("{:4}  "), ".txt", None),
    ("lines with a comment's mark", marked(";; "), ".txt", None),
    *(
        (f"{end} by pandoc", written(form), end, f"{end}=pandoc -t plain --wrap=none {{}}")
        for end, form in DOCUMENTS
    ),
]


def comparable(answer):
    """Without what only the form of the text made of it."""
    answer = answer.replace("-\n", "").replace("\u00ad", "").translate(str.maketrans("“”’", '""\''))
    return unicodedata.normalize("NFKC", answer)


def asked(folder, asks, made, ending, converter):
    """Mean F1 of the answers about a collection of the asks' contexts."""
    texts = {context: number for number, context in enumerate(dict.fromkeys(context for _, context, _ in asks))}
    draw.seed(1)
    notes = pathlib.Path(folder) / "notes"
    notes.mkdir()
    for text, number in texts.items():
        content = made(text)
        (notes / f"{number}{ending}").write_bytes(content if isinstance(content, bytes) else content.encode())
    database = pathlib.Path(folder) / "notes.db"
    options = ["--convert", converter] if converter else []
    subprocess.run([TOOL, "index", *options, database, notes], check=True, stdout=subprocess.DEVNULL)
    lines = "".join(" ".join(question.split()) + "\n" for question, _, _ in asks)
    output = subprocess.run(
        [TOOL, "ask", "--json", database], input=lines, encoding="utf-8", stdout=subprocess.PIPE
    ).stdout
    total = 0.0
    for (_, _, answers), line in zip(asks, output.splitlines(), strict=True):
        found = json.loads(line)["answers"]
        total += scores(comparable(found[0]["text"] if found else ""), [answer["text"] for answer in answers])[1]
    return 100 * total / len(asks)


def main(path, count="400"):
    asks = [ask for every in questions([path], int(count)).values() for ask in every]
    print("| the texts are | F1 |\n|---|---|")
    for name, made, ending, converter in FORMS:
        with tempfile.TemporaryDirectory() as folder:
            print(f"| {name} | {asked(folder, asks, made, ending, converter):.1f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
