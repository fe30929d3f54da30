"""Links of all documents, in the repository and in an installation."""

import os
import re
import subprocess

import pytest

from conftest import ROOT
from installation import files, make

GENERATED = (".build", ".venv", "build", ".git", ".pytest_cache")
LINK = re.compile(r"\]\(([^()\s]+)\)")
# The folders whose files comments and messages name by their paths from the root.
FOLDERS = ("Benchmarks", "Scripts", "Sources", "Tests", "bindings", "examples", "extensions", "training")
NAMED = re.compile(rf"(?<![\w/.$}}])(?:{'|'.join(FOLDERS)})/[\w./+-]+\.(?:py|sh|c|h|swift|md)(?![\w/*]|\.\w)")
WRITTEN = (".py", ".sh", ".c", ".cc", ".h", ".swift", ".md")


def prose(document):
    """A document without blocks of code and code spans."""
    text = re.sub(r"^(```+).*?^\1$", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(document):
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.*)$", document.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def links(directory):
    """(document, link) of each document below a directory, except links to other sites."""
    for document in sorted(directory.rglob("*.md")):
        parts = document.relative_to(directory).parts
        if not any(part.startswith(GENERATED) for part in parts) and not document.is_symlink():
            for link in LINK.findall(prose(document)):
                if "://" not in link:
                    yield document, link


def broken(directory):
    found = []
    count = 0
    for document, link in links(directory):
        count += 1
        path, _, anchor = link.partition("#")
        # A browser resolves names, not symbolic links.
        target = document if not path else type(document)(os.path.normpath(document.parent / path))
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(f"{document.relative_to(directory)}: {link}")
    assert count > 0
    return found


def test_in_the_repository():
    assert broken(ROOT) == []


def test_files_that_comments_name_exist():
    named = {
        (path, str(file.relative_to(ROOT)))
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.suffix in WRITTEN and file.is_file()
        for path in NAMED.findall(file.read_text(encoding="utf-8", errors="replace"))
    }
    assert len(named) > 50
    assert [pair for pair in sorted(named) if not (ROOT / pair[0]).exists()] == []


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """A moved installation, in which nothing leads back to the original place."""
    root = tmp_path_factory.mktemp("links")
    make("install", "/opt/qa", root / "staged")
    (root / "staged" / "opt" / "qa").rename(root / "moved")
    return root / "moved"


def test_where_they_are_installed(prefix):
    assert broken(prefix) == []
    # A link to a directory of examples leads to all of it; what was generated there is left out.
    installed = prefix / "share" / "doc" / "bertqa"
    tracked = subprocess.run(["git", "ls-files", "examples/c"], cwd=ROOT, capture_output=True, text=True).stdout
    for path in tracked.split() or ["examples/c/answer.c"]:
        assert (installed / path).read_bytes() == (ROOT / path).read_bytes()
    assert not [path for path in files(installed) if path.suffix in (".pyc", ".so") or "__pycache__" in path.parts]


def test_installed_documents_are_those_of_the_repository(prefix):
    installed = prefix / "share" / "doc" / "bertqa"
    for path in files(installed):
        assert (installed / path).exists(), path
        if (installed / path).is_file():
            assert (installed / path).read_bytes() == (ROOT / path).read_bytes()
