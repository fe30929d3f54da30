#!/usr/bin/env python3
"""Writes the contents of a build as SPDX 2.3 in JSON: library, tool, linked components, and default models.

usage: Scripts/sbom.py PREFIX OUTPUT_DIRECTORY
PREFIX: the tree that `make` stages. The file, libbertqa-VERSION-linux-MACHINE.spdx.json, is reproducible; its time is
$SOURCE_DATE_EPOCH.
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[1]
NONE = "NOASSERTION"
#: How model cards name licences, and SPDX.
LICENCES = {
    "Apache-2.0": "Apache-2.0",
    "MIT": "MIT",
    "CC0 1.0": "CC0-1.0",
    "CC BY 4.0": "CC-BY-4.0",
    "CC BY-SA 3.0": "CC-BY-SA-3.0",
    "CC BY-SA 4.0": "CC-BY-SA-4.0",
}


def version(prefix):
    header = (prefix / "include" / "bertqa.h").read_text()
    return ".".join(re.findall(r"^#define BERTQA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header, re.M))


def identifier(*parts):
    return "SPDXRef-" + "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", part) for part in parts)


def licence_of(card):
    """Returns the text of the card's bullet "**Licence…**" or of its section "Licence"; the last one counts."""
    text = card.read_text()
    found = re.search(r"^- \*\*Licence[^*]*\*\*: (.*)$", text, re.M) or re.search(
        r"^## Licence\n(.*?)(?=^## |\Z)", text, re.M | re.S
    )
    names = re.findall("|".join(map(re.escape, LICENCES)), found[1]) if found else []
    if not names:
        raise SystemExit(f'sbom.py: {card}: no licence that SPDX knows, in "**Licence**" or "## Licence"')
    return LICENCES[names[-1]]


class Document:
    def __init__(self):
        self.packages, self.files, self.relationships = [], [], []

    def relate(self, one, kind, other):
        self.relationships.append({"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other})

    def add_package(self, name, version, licence, purpose, files=None, **more):
        """files: (path in the package, local path, licence) of each; None if they are not analysed."""
        package = {
            "SPDXID": identifier("Package", name),
            "name": name,
            "versionInfo": version,
            "downloadLocation": NONE,
            "licenseConcluded": licence,
            "licenseDeclared": licence,
            "copyrightText": NONE,
            "primaryPackagePurpose": purpose,
            "filesAnalyzed": files is not None,
            **more,
        }
        self.packages.append(package)
        if files is not None:
            digests = []
            for inside, path in files:
                data = path.read_bytes()
                digests.append(hashlib.sha1(data).hexdigest())
                file = {
                    "SPDXID": identifier("File", name, inside),
                    "fileName": f"./{inside}",
                    "checksums": [
                        {"algorithm": "SHA1", "checksumValue": digests[-1]},
                        {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()},
                    ],
                    "licenseConcluded": licence,
                    "licenseInfoInFiles": [NONE],
                    "copyrightText": NONE,
                }
                self.files.append(file)
                self.relate(package["SPDXID"], "CONTAINS", file["SPDXID"])
            # SPDX 2.3, 7.9: the files' SHA1 sums in order.
            code = hashlib.sha1("".join(sorted(digests)).encode()).hexdigest()
            package["packageVerificationCode"] = {"packageVerificationCodeValue": code}
            package["licenseInfoFromFiles"] = [NONE]
        return package["SPDXID"]


def regular_files(directory):
    """Yields (path relative to the directory, path) of each file, without links."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
    return [(str(path.relative_to(directory)), path) for path in paths]


def needed(binary):
    """Returns {library: newest version of its symbols} for the libraries that the dynamic loader loads."""
    text = subprocess.run(
        ["readelf", "--dynamic", "--version-info", "--wide", binary], check=True, capture_output=True, text=True
    ).stdout
    libraries = dict.fromkeys(re.findall(r"\(NEEDED\).*\[(.*?)\]", text), "")
    for name, part in re.findall(r"File: (\S+) +Cnt: \d+\n((?:.*Name: .*\n)*)", text):
        versions = re.findall(r"Name: [A-Z]+_(\d[\d.]*)", part)
        libraries[name] = max(versions, key=lambda version: [int(part) for part in version.split(".")], default="")
    return libraries


#: Of libraries of the system, by the beginnings of their names.
SYSTEM_LICENCES = {
    "libc.so": "LGPL-2.1-or-later",
    "libm.so": "LGPL-2.1-or-later",
    "ld-linux": "LGPL-2.1-or-later",
    "libstdc++.so": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libgcc_s.so": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libedit.so": "BSD-3-Clause",
    "libgmime-": "LGPL-2.1-or-later",
    "libmd4c.so": "MIT",
    "libpcre2-8.so": "BSD-3-Clause",
    "libsqlite3.so": "blessing",
    "libxml2.so": "MIT",
    "libz.so": "Zlib",
    "libzstd.so": "BSD-3-Clause",
}


def system_licence(library):
    for beginning, licence in SYSTEM_LICENCES.items():
        if library.startswith(beginning):
            return licence
    raise SystemExit(f"sbom.py: {library}: add its licence to SYSTEM_LICENCES")


#: What the library has tables of (NOTICE).
DATA = [
    (
        "libphonenumber",
        re.search(r'PINNED = "(.*)"', (ROOT / "Scripts" / "generate-phone-plans.py").read_text())[1],
        "Apache-2.0",
        "The numbering plans of regions.",
    ),
    ("unicode-character-database", "any", "Unicode-3.0", "Properties of characters."),
]


def loaded_by_tool():
    """Returns the names of the libraries that the tool opens at run time. The binary does not contain all of them:
    Swift's compiler turns short strings into numbers in its code."""
    sources = sorted((ROOT / "Sources" / "bertqa").rglob("*.swift"))
    return sorted({name for path in sources for name in re.findall(r'"(lib[\w.+-]+\.so\.\d+)"', path.read_text())})


def made(prefix):
    document = Document()
    number = version(prefix)
    main = document.add_package(
        "libbertqa", number, "Apache-2.0", "LIBRARY",
        # The files to run and compile against. The rest is documentation or contains installation paths.
        [file for file in regular_files(prefix) if re.match(r"bin/|include/|lib/.*\.so", file[0])],
        summary="The library, the tool bertqa, the extension of SQLite and the headers.",
    )  # fmt: skip
    document.relate("SPDXRef-DOCUMENT", "DESCRIBES", main)

    swift = re.search(r"Swift version (\S+)", (prefix / "swift-version").read_text())[1]
    runtime = document.add_package(
        "swift-runtime", swift, "Apache-2.0 WITH Swift-exception", "LIBRARY",
        summary="Swift's standard library and runtime: libswiftCore and what it links, with parts of LLVM's support library.",
        externalRefs=[
            {
                "referenceCategory": "SECURITY",
                "referenceType": "cpe23Type",
                "referenceLocator": f"cpe:2.3:a:apple:swift:{swift}:*:*:*:*:*:*:*",
            }
        ],
    )  # fmt: skip
    document.relate(main, "STATIC_LINK", runtime)
    tools = document.add_package(
        "swift-toolchain", swift, "Apache-2.0 WITH Swift-exception", "APPLICATION",
        summary="The compilers swiftc and clang.",
    )  # fmt: skip
    document.relate(tools, "BUILD_TOOL_OF", main)

    for name, release, licence, summary in DATA:
        data = document.add_package(name, release, licence, "SOURCE", summary=summary)
        document.relate(main, "CONTAINS", data)

    libraries = {}
    for binary in prefix / "lib" / "libbertqa.so.1", prefix / "bin" / "bertqa":
        for name, newest in needed(binary).items():
            libraries[name] = max(
                libraries.get(name, ""), newest, key=lambda text: [int(p) for p in text.split(".") if p]
            )
    for name, newest in sorted(libraries.items()):
        library = document.add_package(
            name, newest or "any", system_licence(name), "LIBRARY",
            comment="Of the system that it runs on, not part of this; the version is the oldest that has all symbols.",
        )  # fmt: skip
        document.relate(main, "DYNAMIC_LINK", library)

    for name in loaded_by_tool():
        library = document.add_package(
            name, "any", system_licence(name), "LIBRARY",
            comment="Of the system that it runs on, not part of this; the tool opens it when it needs it.",
        )  # fmt: skip
        document.relate(library, "OPTIONAL_DEPENDENCY_OF", main)

    for model in sorted((prefix / "share" / "bertqa" / "models").iterdir()):
        files = regular_files(model)
        # A model is identified by its manifest.
        digest = hashlib.sha256((model / "SHA256SUMS").read_bytes()).hexdigest()
        package = document.add_package(
            model.name, digest[:16], licence_of(model / "MODEL_CARD.md"), "FILE", files,
            summary=(model / "MODEL_CARD.md").read_text().splitlines()[0].lstrip("# "),
            comment="The version is that of its SHA256SUMS, the first 16 digits of its SHA-256.",
        )  # fmt: skip
        document.relate(main, "DEPENDS_ON", package)

    contents = {"packages": document.packages, "files": document.files, "relationships": document.relationships}
    machine = subprocess.run(
        [ROOT / "Scripts" / "architecture.sh", prefix / "bin" / "bertqa"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    name = f"libbertqa-{number}-linux-{machine}"
    # One namespace for each content, without a host name.
    namespace = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(contents, sort_keys=True))
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return name, {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{namespace}",
        "creationInfo": {"created": created, "creators": ["Organization: the libbertqa authors", f"Tool: sbom.py-{number}"]},
        **contents,
    }  # fmt: skip


def main():
    prefix, output = map(pathlib.Path, sys.argv[1:3])
    name, document = made(prefix)
    path = output / f"{name}.spdx.json"
    path.write_text(json.dumps(document, indent=1) + "\n")
    print(path)


if __name__ == "__main__":
    main()
