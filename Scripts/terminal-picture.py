#!/usr/bin/env python3
"""Makes docs/images/terminal.svg: commands with the terminal output of bin/bertqa.

usage: terminal-picture.py TOOL OUT.svg    (in the root of the checkout)
"""

import html
import os
import pathlib
import pty
import re
import subprocess
import sys

COMMANDS = [
    'bertqa answer -q "What killed the crew of Apollo 1?" examples/documents/apollo.txt',
    'bertqa answer -q "When was Skylab launched?" examples/documents/apollo.txt',
    'bertqa classify "The striker scored twice in the second half and the crowd sang."',
    'echo "Ann Smith flew to Oslo, card 4111 1111 1111 1111." | bertqa entities --patterns all --labels person --redact',
    'bertqa generate "But soft"',
]
COLUMNS = 96
WIDTH, HEIGHT = 7.8, 19
# The tool uses one kind of escape sequence: answers are bold, underlined and green.
PARTS = re.compile(r"\x1b\[([\d;]*)m")
STYLE = """
  rect { fill: #f6f8fa } text { fill: #1f2328; font: 13px ui-monospace, monospace; white-space: pre }
  .prompt { fill: #6e7781 } .answer { fill: #116329; font-weight: bold; text-decoration: underline }
  @media (prefers-color-scheme: dark) {
    rect { fill: #161b22 } text { fill: #e6edf3 } .prompt { fill: #8b949e } .answer { fill: #7ee787 }
  }"""


def shown(tool, command):
    """Returns the lines that a command leaves on a terminal."""
    main, child = pty.openpty()
    environment = {
        **os.environ,
        "TERM": "xterm",
        "COLUMNS": "500",
        "PATH": f"{pathlib.Path(tool).parent}:/usr/bin:/bin",
    }
    process = subprocess.Popen(["sh", "-c", command], stdout=child, stderr=child, env=environment)
    os.close(child)
    output = b""
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:  # the last writer has closed
            break
        if not part:
            break
        output += part
    os.close(main)
    if process.wait() != 0:
        raise SystemExit(f"{command}: {output.decode()}")
    # The progress line is erased before the result is written.
    text = output.decode().rpartition("\x1b[K")[2]
    return text.replace("\r\n", "\n").strip("\r\n").split("\n")


def spans(line):
    """Returns (text, is highlighted) for the parts of a line with escape sequences."""
    parts, bold = [], False
    for index, part in enumerate(PARTS.split(line)):
        if index % 2:
            bold = part not in ("", "0")
        elif part:
            parts.append((part, bold))
    return parts


def wrapped(parts):
    """Splits a line into rows of at most COLUMNS characters at spaces."""
    rows, row, room = [], [], COLUMNS
    for text, bold in parts:
        for word in re.findall(r"\S+\s*|\s+", text):
            if len(word.rstrip()) > room:
                rows.append(row)
                row, room = [("    ", False)], COLUMNS - 4
            row.append((word, bold))
            room -= len(word)
    return [*rows, row]


def main():
    tool, out = sys.argv[1:]
    rows = []
    for command in COMMANDS:
        rows += [[(text, "prompt") for text, _ in row] for row in wrapped([("$ " + command, False)])]
        for line in shown(tool, command):
            for row in wrapped(spans(line)):
                rows.append([(text, "answer" if bold else "") for text, bold in row])
        rows.append([])
    rows.pop()
    longest = max(sum(len(text) for text, _ in row) for row in rows)
    width, height = round(longest * WIDTH) + 32, len(rows) * HEIGHT + 26
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">',
        f"<style>{STYLE}\n</style>",
        '<rect width="100%" height="100%" rx="8"/>',
    ]
    for number, row in enumerate(rows):
        parts = "".join(
            f'<tspan class="{kind}">{html.escape(text)}</tspan>' if kind else html.escape(text)
            for text, kind in row
        )
        if parts:
            lines.append(f'<text x="16" y="{number * HEIGHT + 27}" xml:space="preserve">{parts}</text>')
    pathlib.Path(out).write_text("\n".join(lines) + "\n</svg>\n", encoding="utf-8")


if __name__ == "__main__":
    main()
