#!/usr/bin/env python3
"""Checks that every layer of the library uses only the layers below it: see docs/architecture.md.

What a file uses is read off its source: names of types, and of functions and constants outside of types, that
some other file of BertQACore declares; and names of members that an extension in a higher layer adds to a type of
a lower one. Comments and the text of strings are left out, interpolated expressions are not. Each run first
plants steps upwards in a copy of the sources and fails unless they are found.

usage: Tests/layers.py    prints each step upwards; exit status 1 if there is one
"""

import collections
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORE = "Sources/BertQACore/"

# From the bottom up. Folders of one layer must not use each other, except SIBLINGS.
LAYERS = [
    ["Runtime"],
    ["Formats"],
    ["Text"],
    ["Model"],
    ["Kernels"],
    ["Encoder"],
    ["Answering", "Classification", "Embedding", "Entities", "WordCounts", "LanguageModel", "Search"],
    ["Context"],
    ["Training"],
]
# (user, used): a labeller and trained classifiers say what a classifier says.
SIBLINGS = {("Embedding", "Classification"), ("WordCounts", "Classification")}
RANK = {folder: rank for rank, layer in enumerate(LAYERS) for folder in layer}

# The imports that each target may have: no Foundation anywhere, the C header only in the C ABI.
IMPORTS = {
    "BertQACore": {"CBertQA", "Glibc", "Synchronization", "Swift"},
    "libbertqa": {"BertQACore", "CBertQA", "CBertQAHeader", "Glibc", "Synchronization"},
    "bertqa": {"BertQACore", "CCodecs", "CSystem", "Glibc", "Synchronization"},
}

KIND = r"(?:struct|class|enum|protocol|actor|typealias)"
DECLARED_TYPE = re.compile(rf"\b{KIND}\s+`?([A-Z]\w*)|\bassociatedtype\s+(\w+)")
GENERIC = re.compile(rf"\b(?:func\s+[^\s(<]+|init[?!]?|subscript|{KIND}\s+\w+)\s*<([^>{{]*)>")
MEMBER = re.compile(rf"\b(?:func|var|let|{KIND})\s+`?(\w+)")
IMPORT = re.compile(r"\bimport\s+(?:struct\s+|class\s+|enum\s+|protocol\s+|func\s+|var\s+)?(\w+)")
WORD = re.compile(r"(?<![\w`])[A-Za-z_]\w*")
FILE_ONLY = re.compile(r"\b(?:private|fileprivate)\b(?!\s*\(set\))")


def code(source):
    """The source with comments and the text of strings blanked: same length, same lines."""
    out = []
    # The current state: "code" with its open parentheses, or a string's delimiter; innermost last.
    stack = [["code", 0]]
    position = 0

    def blank(until):
        nonlocal position
        out.append(re.sub(r"[^\n]", " ", source[position:until]))
        position = until

    while position < len(source):
        kind, state = stack[-1]
        if kind == "string":
            hashes = state.count("#")
            interpolation = "\\" + "#" * hashes + "("
            if source.startswith(interpolation, position):
                blank(position + len(interpolation))
                stack.append(["code", 1])
            elif source.startswith(state, position):
                blank(position + len(state))
                stack.pop()
            elif hashes == 0 and source[position] == "\\":
                blank(position + 2)
            else:
                blank(position + 1)
            continue
        if source.startswith("//", position):
            end = source.find("\n", position)
            blank(len(source) if end < 0 else end)
            continue
        if source.startswith("/*", position):
            depth, end = 1, position + 2
            while depth and end < len(source):
                if source.startswith("/*", end):
                    depth, end = depth + 1, end + 2
                elif source.startswith("*/", end):
                    depth, end = depth - 1, end + 2
                else:
                    end += 1
            blank(end)
            continue
        opening = re.compile(r'(#*)("""|")').match(source, position)
        if opening:
            blank(opening.end())
            stack.append(["string", opening[2] + opening[1]])
            continue
        character = source[position]
        if len(stack) > 1:
            stack[-1][1] += (character == "(") - (character == ")")
            if stack[-1][1] == 0:
                blank(position + 1)
                stack.pop()
                continue
        out.append(character)
        position += 1
    return "".join(out)


def statements(text):
    """(depth, head, owner) of each declaration that opens a brace or ends a line, at depth 0 and 1.

    owner is the head of the declaration that a depth-1 line is in."""
    depth, owner, line = 0, "", ""
    for character in text:
        if character in "{}\n":
            if line.strip() and depth <= 1:
                yield depth, line.strip(), owner if depth else ""
            if character == "{":
                if depth == 0:
                    owner = line.strip()
                depth += 1
            elif character == "}":
                depth -= 1
            line = ""
        else:
            line += character


class File:
    def __init__(self, path, source):
        self.path = path
        self.folder = path[len(CORE) :].split("/")[0] if path.count("/") > 2 else "Runtime"
        self.code = code(source)
        self.declared = set()  # visible to other files
        self.members = []  # (extended type, name)
        for depth, head, owner in statements(self.code):
            if depth == 0:
                if not FILE_ONLY.search(head):
                    self.declared |= {m[1] for m in MEMBER.finditer(head)}
            elif (extended := re.search(r"\bextension\s+(\w+)", owner)) and not FILE_ONLY.search(owner + head):
                # The first name of a declaration: the parameters' types are on the same line.
                if member := MEMBER.search(head):
                    self.members.append((extended[1], member[1]))
        generics = (name for m in GENERIC.finditer(self.code) for name in re.findall(r"(\w+)\s*(?=[,:]|$)", m[1]))
        self.local = {m[1] or m[2] for m in DECLARED_TYPE.finditer(self.code)} | set(generics)
        self.local |= {m[1] for m in MEMBER.finditer(self.code)}

        self.names = list(self.read_names())

    def read_names(self):
        """(line number, name, whether a dot is before it)."""
        for match in WORD.finditer(self.code):
            before = self.code[max(0, match.start() - 1) : match.start()]
            after = self.code[match.end() : match.end() + 1]
            # A label of an argument is no use of a function of that name.
            if after == ":" and not match[0][0].isupper():
                continue
            yield self.code.count("\n", 0, match.start()) + 1, match[0], before == "."


def is_step(user, used):
    """True if folder `user` must not use folder `used`."""
    if user == used or (user, used) in SIBLINGS:
        return False
    return RANK[used] >= RANK[user]


@functools.cache
def imports(source):
    return IMPORT.findall(code(source))


@functools.cache
def parsed(path, source):
    return File(path, source)


def steps(sources):
    """Messages on what is wrong with {path: source}."""
    found = []
    files = []
    for path, source in sorted(sources.items()):
        target = path.split("/")[1]
        if path.endswith((".c", ".h")):
            for header in re.findall(r'^\s*#\s*include\s*[<"](bertqa\w*\.h)', source, re.M):
                found.append(f"{path}: the C code below the library includes {header}")
            continue
        for module in imports(source):
            if module not in IMPORTS[target]:
                found.append(f"{path}: {target} must not import {module}")
        if target == "BertQACore":
            file = parsed(path, source)
            if file.folder in RANK:
                files.append(file)
            else:
                found.append(f"{path}: {file.folder} is in no layer: Tests/layers.py lists them")
    homes = collections.defaultdict(set)
    for file in files:
        for name in file.declared:
            homes[name].add(file.folder)
    # Names of members count where no other folder has a member or variable of that name.
    owners = collections.defaultdict(set)
    for file in files:
        for name in file.local:
            owners[name].add(file.folder)
    members = {}
    for file in files:
        for extended, name in file.members:
            base = min((RANK[home] for home in homes.get(extended, ())), default=None)
            if base is not None and base < RANK[file.folder] and owners[name] == {file.folder}:
                members[name] = file.folder
    for file in files:
        for line, name, is_member in file.names:
            if name in file.local and name not in file.declared:
                continue
            if is_member:
                used = {members[name]} if name in members else set()
            else:
                used = homes.get(name, set()) | ({members[name]} if name in members else set())
            if used and all(is_step(file.folder, folder) for folder in used):
                found.append(f"{file.path}:{line}: {file.folder} uses {name} of {', '.join(sorted(used))}")
    return found


def read_sources():
    paths = [path for pattern in ("*.swift", "*.c", "*.h") for path in (ROOT / "Sources").rglob(pattern)]
    sources = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    # CCodecs', CSystem's and CBertQAHeader's shims are modules for others to import, not in a layer.
    kept = tuple(f"Sources/{target}/" for target in (*IMPORTS, "CBertQA"))
    return {path: source for path, source in sources.items() if path.startswith(kept)}


# File, its text, and what must be reported; None: nothing.
PLANTED = [
    ("Runtime/Planted.swift", "func f(_ x: QuestionAnswerer) {}", "Runtime uses QuestionAnswerer of Answering"),
    ("Text/Planted.swift", 'let f = "\\(Encoder.self)"', "Text uses Encoder of Encoder"),
    ("Model/Planted.swift", "struct P { var k: Kernels }", "Model uses Kernels of Kernels"),
    ("Formats/Planted.swift", "func f(_ x: [any Tokenizer]) {}", "Formats uses Tokenizer of Text"),
    ("Answering/Planted.swift", "func f(_ x: TextEmbedder?) {}", "Answering uses TextEmbedder of Embedding"),
    ("Answering/Planted.swift", "func f(_ x: Classification) {}", "Answering uses Classification of Classif"),
    ("Encoder/Planted.swift", "func f(_ a: Answer) { a.range(in: a) }", "Encoder uses Answer of Answering"),
    ("Encoder/Planted.swift", "func f() { g(Plan.planned) }", "Encoder uses planned of Context"),
    ("Planted/Planted.swift", "struct Planted {}", "Planted is in no layer"),
    ("Runtime/Planted.swift", "import Foundation", "BertQACore must not import Foundation"),
    ("../libbertqa/Planted.swift", "import bertqa_cli", "libbertqa must not import bertqa_cli"),
    ("../bertqa/Planted.swift", "import CBertQAHeader", "bertqa must not import CBertQAHeader"),
    ("../CBertQA/system/planted.c", '#include "bertqa.h"', "includes bertqa.h"),
    ("Embedding/Planted.swift", "func f(_ x: Classification) {}", None),
    ("Runtime/Planted.swift", '// Encoder\n/* Encoder /* */ Encoder */ let f = "Encoder \\\\(Encoder)"', None),
    ("Runtime/Planted.swift", 'let f = #"""\nEncoder "Encoder" \\(Encoder)\n"""#', None),
    ("Runtime/Planted.swift", "func f<Encoder>(_ x: Encoder, y: Other.Head) { enum Answer {} }", None),
]


def self_test(sources):
    for path, text, expected in PLANTED:
        normal = pathlib.PurePosixPath(CORE, path)
        path = str(normal).replace("BertQACore/../", "")
        planted = {**sources, path: text}
        planted[CORE + "Text/Plan.swift"] = "enum Plan {}"
        planted[CORE + "Context/Plan+Context.swift"] = "extension Plan {\n  static var planned: Int { 1 }\n}"
        found = [message for message in steps(planted) if message.startswith(path)]
        if expected is None:
            assert not found, f"planted in {path}, found without reason: {found}"
        else:
            assert any(expected in message for message in found), f"planted in {path}, not found: {expected}"


def main():
    sources = read_sources()
    self_test(sources)
    found = steps(sources)
    for message in found:
        print(message)
    if found:
        print(f"layers: {len(found)} steps upwards", file=sys.stderr)
        return 1
    print(f"layers: {len(sources)} files, no step upwards")
    return 0


if __name__ == "__main__":
    sys.exit(main())
