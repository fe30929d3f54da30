"""`bertqa index` reads Markdown without its marks, by MD4C, and keeps the numbers of its lines."""

import random

import pytest

from cli import environment, needs_md4c, run
from indexed import ask, rows


@needs_md4c
def test_answer_in_markdown(tmp_path):
    path, note = tmp_path / "notes.db", tmp_path / "lease.md"
    note.write_text(
        "# The **lease**\n\n[Ann](people/ann.md) _Smith_\nsigned the [lease](lease.pdf).\n\n- Rent: `900` &euro;\n"
    )
    run("index", path, note)
    answer = ask(path, "Who signed the lease?")["answers"][0]
    assert (answer["text"], answer["title"], answer["line"]) == ("Ann Smith", "The lease", 3)


@needs_md4c
@pytest.mark.parametrize(
    "markdown, text",
    [
        ('a [b](c "d") [e][f] <http://x.org> [[g|h]] i\n\n[f]: http://y.org', "a b e http://x.org h i"),
        ("*a* __b__ ***c*** ~~d~~ `` e`f `` g_h_i 5 * 3 * 2 \\*j\\*", "a b c d e`f g_h_i 5 * 3 * 2 *j*"),
        ("a ![b **c**](d.png) [![e](f)](g) h", "a   h"),
        ("a&amp;b &lt;c&gt; &#8364;&#x20AC; &copy; &Eacute; &x; &#0;", "a&b <c> €€ © É &x; &#0;"),
        ("a<br>b <b>c</b>d <!-- e --> f < g", "a b cd  f < g"),
        ("<p align=center>\n<b>a</b><i>b</i> <!-- c\n--> d\n</p>\n\ne *f*", "ab \n d\n\n\ne f"),
        (
            "<table><tr><td>a</td><td>b<br/>c&amp;&nbsp;d</td></tr>\n<script>e</script><p>f</table>",
            "a b c&\u00a0d \nf",
        ),
        ("a\n\n<style>\nb\n\nc</style>\n<H1>d</H1><a href='e'>f</a>, g", "a\n\n\n\n\n\nd f, g"),
        ("Title\n=====\n\n## Two ##\n\ntext", "# Title\n\n\n## Two\n\ntext"),
        ("* a\n  b\n    + c\n\n3) d\n1) e\n\n- [x] f", "- a\nb\n  - c\n\n3) d\n4) e\n\n- [x] f"),
        ("> a **b\n> c** d\n>\n> - e", "a b\nc d\n\n- e"),
        ("a\n```py\n  b = *c*\n\n```\n    \n    d\n      e", "a\n\n  b = *c*\n\n\n\nd\n  e"),
        ("| a | **b** |\n|---|---|\n| [c](d) | e |", "| a | b |\n|---|---|\n| c | e |"),
        ("a  \n*b*\r\nc\\\nd", "a\nb\r\nc\nd"),
        ("---\ntitle: '*A*'\nby: Ann\n---\n*b*", "---\ntitle: '*A*'\nby: Ann\n---\nb"),
        ("---\n# c\nby: *A*\n---\n*b*", "---\n# c\nby: *A*\n---\nb"),
        ("---\n\nA: *a*\n\n---\n*b*", "A: a\n\n\nb"),
        ("---\n*a* and [b](c)\n\n---\nd", "a and b\n\n\nd"),
        ('<SCRIPT>a > b</Script > c\n\n<p title=\'d > "e\' id=x>f\n\ng <i title="h>">i</i>', "c\n\nf\n\ng i"),
        (
            "a[^1] *b*\n\n[^1]: *Deprecated.*\n[^x-2]: http://x.org\n\n[c]: d",
            "a[^1] b\n\n[^1]: Deprecated.\n[^x-2]: http://x.org",
        ),
        ("<h1><button>a</button></h1>\n\n<dt>b <button>c</button></dt>", "a \n\nb"),
        ("<h1>[1]\n<sup>2</sup>\n<button>a</button><button>c</button></h1>\n\n<p>d</p>", "[1]\n\u00b2\na \n\nd"),
        ("10<sup>23</sup> m<sup>-2</sup> 1<sup>st</sup> H<sub>2</sub>O", "10\u00b2\u00b3 m\u207b\u00b2 1st H2O"),
        ("&dollar;5 &deg C\n\n<p>&deg C &check; &ne;</p>", "$5 &deg C\n\n\u00b0 C \u2713 \u2260"),
        ("a\0b `c\0d`", "a b c d"),
    ],
)
def test_text_of_markdown(tmp_path, markdown, text):
    (tmp_path / "note.md").write_text(markdown, newline="")
    run("index", "--words-only", tmp_path / "x.db", tmp_path / "note.md")
    assert rows(tmp_path / "x.db", "SELECT text FROM passages") == [(text.strip(),)]


@needs_md4c
def test_lines_of_markdown(tmp_path):
    """Of random marks and words in random order; each word stands once."""
    draw = random.Random(7)
    marks = [
        "**",
        "_",
        "`",
        "[",
        "](x)",
        "](x\n'y')",
        "![",
        "<b>",
        "<p>",
        "\n<script>",
        "</script>",
        "<!--",
        "-->",
        "&amp;",
        "\\",
        "\n```\n",
        "\n    ",
    ]
    marks += [
        "\n",
        "\n\n",
        "\r\n",
        "  \n",
        "\n- ",
        "\n1. ",
        "\n> ",
        "\n# ",
        "\n---\n",
        "\n| a |\n|---|\n",
        "[x]: y",
        "~~",
    ]
    lines = {}
    for number in range(150):
        parts = [draw.choice(marks) if draw.random() < 0.6 else f" w{number}x{n} " for n in range(120)]
        text = "".join(parts)
        (tmp_path / f"{number}.md").write_text(text, newline="")
        for line, content in enumerate(text.split("\n"), start=1):
            lines.update((word, line) for word in content.split() if word.startswith("w"))
    run("index", "--words-only", tmp_path / "x.db", tmp_path)
    found = 0
    for line, text in rows(tmp_path / "x.db", "SELECT line, text FROM passages"):
        for offset, content in enumerate(text.split("\n")):
            for word in content.split():
                if word in lines:
                    assert lines[word] == line + offset
                    found += 1
    assert found > 3000


def test_markdown_without_the_library(tmp_path):
    """It is read as text, with a note, and again when the library is there."""
    path, note, broken = tmp_path / "x.db", tmp_path / "a.md", tmp_path / "broken"
    note.write_text("# The *lamp*\n\nIt is **green**.\n")
    broken.mkdir()
    (broken / "libmd4c.so.0").write_bytes(b"no library")
    output, errors = run("index", "--words-only", path, note, env=environment(LD_LIBRARY_PATH=str(broken)))
    assert output.startswith("1 new") and "libmd4c0" in errors and len(errors.splitlines()) == 1
    assert rows(path, "SELECT text FROM passages") == [("# The *lamp*\n\nIt is **green**.",)]
    output, errors = run("index", "--words-only", path, note)
    if not needs_md4c.args[0]:
        assert output.startswith("0 new, 1 changed") and errors == ""
        assert rows(path, "SELECT text FROM passages") == [("# The lamp\n\nIt is green.",)]
