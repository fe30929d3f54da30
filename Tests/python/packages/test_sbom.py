"""The bill of materials, `make sbom`: the rules of SPDX 2.3 that matter, and that it is of this build."""

import hashlib
import json
import re
import subprocess
import sys

import pytest

from conftest import PREFIX, ROOT, clean_environment

SCRIPT = ROOT / "Scripts" / "sbom.py"
MODELS = PREFIX / "share" / "bertqa" / "models"
IDENTIFIER = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")
# The licences and exceptions of SPDX's lists that occur here.
EXPRESSION = re.compile(
    r"NOASSERTION|(Apache-2\.0|MIT|CC0-1\.0|CC-BY-4\.0|CC-BY-SA-[34]\.0|LGPL-2\.1-or-later|Zlib|Unicode-3\.0|BSD-3-Clause|blessing|GPL-3\.0-or-later)"
    r"( WITH (Swift-exception|GCC-exception-3\.1))?"
)
RELATIONSHIPS = {
    "DESCRIBES",
    "CONTAINS",
    "STATIC_LINK",
    "DYNAMIC_LINK",
    "DEPENDS_ON",
    "BUILD_TOOL_OF",
    "OPTIONAL_DEPENDENCY_OF",
}
PURPOSES = {"LIBRARY", "APPLICATION", "FILE", "SOURCE"}


def made(directory, **environment):
    environment = clean_environment() | {"SOURCE_DATE_EPOCH": "1700000000"} | environment
    subprocess.run([sys.executable, SCRIPT, PREFIX, directory], check=True, capture_output=True, env=environment)
    [path] = directory.glob("*.spdx.json")
    return path.read_bytes()


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    return json.loads(made(tmp_path_factory.mktemp("sbom")))


def violations(document):
    """Returns the violations of SPDX 2.3 as sentences."""
    wrong = []
    expected = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT"}
    wrong += [f"{key} is not {value}" for key, value in expected.items() if document.get(key) != value]
    if not re.fullmatch(r"https?://[^\s#]+", document.get("documentNamespace", "")):
        wrong.append("the namespace is no address without a fragment")
    creation = document.get("creationInfo", {})
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", creation.get("created", "")):
        wrong.append("created is no time in UTC")
    creators = creation.get("creators", [])
    if not creators or not all(re.match(r"(Person|Organization|Tool): \S", creator) for creator in creators):
        wrong.append("creators")

    elements = [*document["packages"], *document["files"]]
    identifiers = [element["SPDXID"] for element in elements]
    wrong += [f"{name} is no identifier" for name in identifiers if not IDENTIFIER.fullmatch(name)]
    wrong += [f"{name} occurs twice" for name in set(identifiers) if identifiers.count(name) > 1]
    for element in elements:
        name = element["SPDXID"]
        licences = [element["licenseConcluded"], *element.get("licenseInfoInFiles", [])]
        licences += [*element.get("licenseInfoFromFiles", []), element.get("licenseDeclared", "NOASSERTION")]
        wrong += [f"{name}: licence {text}" for text in licences if not EXPRESSION.fullmatch(text)]
        if not element.get("copyrightText"):
            wrong.append(f"{name}: copyrightText")

    contained = {package["SPDXID"]: [] for package in document["packages"]}
    for relationship in document["relationships"]:
        ends = [relationship["spdxElementId"], relationship["relatedSpdxElement"]]
        wrong += [f"{end} is not there" for end in ends if end not in {*identifiers, "SPDXRef-DOCUMENT"}]
        if relationship["relationshipType"] not in RELATIONSHIPS:
            wrong.append(f"{relationship['relationshipType']} is no relationship")
        if relationship["relationshipType"] == "CONTAINS":
            contained[ends[0]].append(ends[1])
    if "DESCRIBES" not in {relationship["relationshipType"] for relationship in document["relationships"]}:
        wrong.append("nothing is described")

    digests = {}
    for file in document["files"]:
        sums = {checksum["algorithm"]: checksum["checksumValue"] for checksum in file["checksums"]}
        digests[file["SPDXID"]] = sums.get("SHA1", "")
        if not re.fullmatch(r"[0-9a-f]{40}", sums.get("SHA1", "")) or not re.fullmatch(
            r"[0-9a-f]{64}", sums.get("SHA256", "")
        ):
            wrong.append(f"{file['SPDXID']}: checksums")
        if not file["fileName"].startswith("./"):
            wrong.append(f"{file['SPDXID']}: fileName")
        if sum(file["SPDXID"] in files for files in contained.values()) != 1:
            wrong.append(f"{file['SPDXID']} is not in one package")
    for package in document["packages"]:
        name = package["SPDXID"]
        if (
            not package.get("name")
            or not package.get("downloadLocation")
            or package.get("primaryPackagePurpose") not in PURPOSES
        ):
            wrong.append(f"{name}: name, downloadLocation or purpose")
        code = package.get("packageVerificationCode", {}).get("packageVerificationCodeValue")
        sums = "".join(sorted(digests.get(file, "") for file in contained[name]))
        if package["filesAnalyzed"] != bool(contained[name]):
            wrong.append(f"{name}: filesAnalyzed")
        if code != (hashlib.sha1(sums.encode()).hexdigest() if contained[name] else None):
            wrong.append(f"{name}: packageVerificationCode")
    return wrong


def test_it_is_valid(document):
    assert violations(document) == []


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda d: d.update(dataLicense="MIT"), "dataLicense"),
        (lambda d: d["creationInfo"].update(created="today"), "created"),
        (lambda d: d["packages"][0].update(licenseDeclared="Apache"), "licence Apache"),
        (lambda d: d["packages"][1].update(SPDXID="SPDXRef-a b"), "no identifier"),
        (lambda d: d["files"].pop(), "is not there"),
        (lambda d: d["files"][0]["checksums"].pop(0), "checksums"),
        (lambda d: d["files"][0]["checksums"][0].update(checksumValue="0" * 40), "packageVerificationCode"),
        (lambda d: d["files"].append(d["files"][0]), "occurs twice"),
        (lambda d: d["relationships"].pop(0), "is not in one package"),
        (lambda d: d["relationships"][-1].update(relationshipType="HAS"), "no relationship"),
    ],
)
def test_the_rules_find_what_is_wrong(document, change, message):
    copy = json.loads(json.dumps(document))
    change(copy)
    assert any(message in sentence for sentence in violations(copy))


def test_it_is_of_this_build(document):
    """Every binary and every model file has the bytes that are installed."""
    packages = {package["name"]: package for package in document["packages"]}
    binary, *_ = [path for path in (PREFIX / "lib").glob("libbertqa.so.1.*")]
    paths = {"./bin/bertqa": PREFIX / "bin" / "bertqa", f"./lib/{binary.name}": binary}
    paths["./lib/bertqa_sqlite.so"] = PREFIX / "lib" / "bertqa_sqlite.so"
    paths |= {f"./include/{path.name}": path for path in (PREFIX / "include").iterdir()}
    files = {file["SPDXID"]: file for file in document["files"]}
    for name, package in packages.items():
        inside = {
            files[relation["relatedSpdxElement"]]["fileName"]: files[relation["relatedSpdxElement"]]
            for relation in document["relationships"]
            if (relation["spdxElementId"], relation["relationshipType"]) == (package["SPDXID"], "CONTAINS")
            and relation["relatedSpdxElement"] in files
        }
        if (MODELS / name).is_dir():
            expected = {
                f"./{path.relative_to(MODELS / name)}": path
                for path in (MODELS / name).rglob("*")
                if path.is_file()
            }
        else:
            expected = paths if name == "libbertqa" else {}
        assert set(inside) == set(expected), name
        for path, file in inside.items():
            found = {checksum["algorithm"]: checksum["checksumValue"] for checksum in file["checksums"]}
            data = expected[path].read_bytes()
            assert found == {"SHA1": hashlib.sha1(data).hexdigest(), "SHA256": hashlib.sha256(data).hexdigest()}
    assert {path.name for path in MODELS.iterdir()} <= set(packages)
    assert packages["topics-words"]["licenseDeclared"] == "CC-BY-SA-4.0"
    assert packages["qa-minilm-l6"]["licenseDeclared"] == packages["libbertqa"]["licenseDeclared"] == "Apache-2.0"


def test_what_is_linked(document):
    """Swift's runtime with its version, and each library that the binaries need."""
    packages = {package["SPDXID"]: package for package in document["packages"]}
    linked = {
        kind: {packages[relation["relatedSpdxElement"]]["name"] for relation in document["relationships"] if relation["relationshipType"] == kind}
        for kind in ("STATIC_LINK", "DYNAMIC_LINK")
    }  # fmt: skip
    text = subprocess.run(
        ["readelf", "-d", PREFIX / "lib" / "libbertqa.so.1", PREFIX / "bin" / "bertqa"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert linked["DYNAMIC_LINK"] == set(re.findall(r"\(NEEDED\).*\[(.*?)\]", text))
    assert linked["STATIC_LINK"] == {"swift-runtime"}
    optional = {
        packages[relation["spdxElementId"]]["name"]
        for relation in document["relationships"]
        if relation["relationshipType"] == "OPTIONAL_DEPENDENCY_OF"
    }
    # Short names are not in the binary.
    text = (PREFIX / "bin" / "bertqa").read_bytes()
    named = {name.decode() for name in re.findall(rb"lib[\w.+-]+\.so\.\d+(?=\0)", text)} - linked["DYNAMIC_LINK"]
    assert len(named) > 3 and named | {"libz.so.1", "libzstd.so.1", "libedit.so.2"} == optional
    [runtime] = [package for package in document["packages"] if package["name"] == "swift-runtime"]
    compiler = subprocess.run(["swiftc", "--version"], check=True, capture_output=True, text=True).stdout
    assert f"Swift version {runtime['versionInfo']} " in compiler
    [numbers] = [package for package in document["packages"] if package["name"] == "libphonenumber"]
    notice = (ROOT / "NOTICE").read_text()
    assert "libphonenumber" in notice and "UNICODE LICENSE V3" in notice
    assert numbers["versionInfo"] in (ROOT / "Scripts" / "generate-phone-plans.py").read_text()


def test_it_is_the_same_twice(tmp_path):
    for name in "a", "b":
        (tmp_path / name).mkdir()
    first = made(tmp_path / "a", TZ="UTC")
    assert first == made(tmp_path / "b", TZ="Asia/Tokyo")
    assert b'"created": "2023-11-14T22:13:20Z"' in first
    assert made(tmp_path / "b", SOURCE_DATE_EPOCH="1") != first
    assert not re.search(rb"/(home|root|tmp|work|usr)/", first)
