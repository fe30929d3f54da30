"""Texts of books and scientific articles, which Debian's packages contain.

usage: long_texts.py FOLDER

Writes one file a text. Needs apt-get and dpkg-deb of Debian 12, and pdftotext of poppler-utils. The articles are vignettes
of R packages: articles of the Journal of Statistical Software, and others like them.
"""

import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as XML
import zlib
from pathlib import Path

# By the name that questions have: a package, and the file in it.
ARTICLES = {
    "coin": ("r-cran-coin", "coin/doc/LegoCondInf.pdf"),
    "countreg": ("r-cran-pscl", "pscl/doc/countreg.pdf"),
    "flexmix": ("r-cran-flexmix", "flexmix/doc/flexmix-intro.pdf"),
    "kernlab": ("r-cran-kernlab", "kernlab/doc/kernlab.pdf"),
    "maxtest": ("r-cran-coin", "coin/doc/MAXtest.pdf"),
    "object-sandwich": ("r-cran-sandwich", "sandwich/doc/sandwich-OOP.pdf"),
    "sandwich": ("r-cran-sandwich", "sandwich/doc/sandwich.pdf"),
    "spacetime": ("r-cran-spacetime", "spacetime/doc/jss816.pdf"),
    "tsp": ("r-cran-tsp", "TSP/doc/TSP.pdf"),
    "zoo": ("r-cran-zoo", "zoo/doc/zoo.pdf"),
}


def bible(folder):
    """The King James Version, a verse a paragraph."""
    program, data = unpacked("bible-kjv", folder), unpacked("bible-kjv-text", folder)
    command = [program / "usr/bin/bible", "-p", data / "usr/lib", "gen1:1-rev22:21"]
    return output(*command).decode()


def pride(folder):
    """Jane Austen's "Pride and Prejudice"."""
    # R's data base of objects: the length, then a character vector of lines, compressed.
    objects = (unpacked("r-cran-janeaustenr", folder) / R / "janeaustenr/data/Rdata.rdb").read_bytes()
    while objects:
        inflation = zlib.decompressobj()
        # Before each line: the type, an encoding, the length.
        lines = re.split(rb"\0[\0-\4][\0\x80]\t.{4}", inflation.decompress(objects[4:]), flags=re.DOTALL)[1:]
        if lines[0].startswith(b"PRIDE"):
            return b"\n".join(lines).decode()
        objects = inflation.unused_data
    raise SystemExit("r-cran-janeaustenr has no Pride and Prejudice")


def opticks(folder):
    """Isaac Newton's "Opticks", which tests of Go read."""
    (path,) = unpacked("golang-1.19-src", folder).rglob("src/testdata/Isaac.Newton-Opticks.txt")
    return path.read_text(encoding="utf-8")


def handbook(folder):
    """The Debian Administrator's Handbook, without its contents and index."""
    pages = unpacked("debian-handbook", folder) / "usr/share/doc/debian-handbook/html/en-US"
    parts, page = [], "preface.html"
    while page:
        root = XML.parse(pages / page).getroot()
        parts.append("".join(html_text(root)))
        links = {link.get("rel"): link.get("href") for link in root.iter(HTML + "link")}
        page = links.get("next")
    return re.sub(r"\n\s*\n\s*", "\n\n", "".join(parts))


BOOKS = {"bible": bible, "handbook": handbook, "opticks": opticks, "pride": pride}
R = "usr/lib/R/site-library"
HTML = "{http://www.w3.org/1999/xhtml}"


def html_text(element):
    """The pieces of an element's text; blank lines around paragraphs and headings."""
    name = element.tag.removeprefix(HTML)
    if (
        name in ("head", "script")
        or "docnav" in element.get("class", "")
        or element.get("id") in ("banner", "title")
    ):
        return
    block = "\n\n" if name in ("div", "p", "pre", "li", "tr", "dt", "dd", "h1", "h2", "h3", "h4", "h5") else ""
    yield block
    # Lines end anywhere in the source, except in listings.
    yield (element.text or "") if name == "pre" else re.sub(r"\s+", " ", element.text or "")
    for child in element:
        yield from html_text(child)
        yield (child.tail or "") if name == "pre" else re.sub(r"\s+", " ", child.tail or "")
    yield block


def output(*command):
    return subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE).stdout


def unpacked(package, folder):
    """The folder of the files of a package of Debian, named by its version; downloads it once."""
    found = list(folder.glob(f"{package}_*/"))
    if not found:
        with tempfile.TemporaryDirectory() as download:
            subprocess.run(["apt-get", "-q", "download", package], cwd=download, check=True, stdout=sys.stderr)
            (archive,) = Path(download).iterdir()
            found = [folder / archive.stem]
            # An interrupted extraction has another name.
            output("dpkg-deb", "--extract", archive, folder / f".{archive.stem}")
            (folder / f".{archive.stem}").rename(found[0])
    return found[0]


def text(name, folder):
    """The text of this name, made once."""
    folder = Path(folder)
    path = folder / f"{name}.txt"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        if name in BOOKS:
            made = BOOKS[name](folder)
        else:
            package, file = ARTICLES[name]
            made = output("pdftotext", unpacked(package, folder) / R / file, "-").decode()
        path.write_text(made, encoding="utf-8")
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    for each in [*BOOKS, *ARTICLES]:
        print(f"{each}: {len(text(each, sys.argv[1]))} characters")
