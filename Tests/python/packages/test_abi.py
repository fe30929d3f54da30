"""The ABI that the header declares against the baseline of Tests/abi; docs/abi.md says what may change."""

import re
import subprocess

import pytest

from conftest import ROOT

HEADER = ROOT / "include" / "bertqa.h"
ABI = ROOT / "Tests" / "abi"


def dump(header, output):
    """Returns the ABI of a header, as abidw writes it."""
    subprocess.run([ABI / "baseline.sh", header, output], check=True)
    return output


def compare(old, new):
    """Returns abidiff's report and its exit status, which is 0 if it found only additions."""
    options = ["--no-architecture", "--no-added-syms", "--suppressions", old.with_suffix(".suppr")]
    result = subprocess.run(["abidiff", *options, old, new], capture_output=True, text=True)
    assert result.stderr == "" and not result.returncode & 3, result.stderr
    return result.returncode, result.stdout


@pytest.fixture(scope="module")
def current(tmp_path_factory):
    return dump(HEADER, tmp_path_factory.mktemp("abi") / "current.abi")


def test_nothing_was_taken_away_or_changed(current):
    code, report = compare(ABI / "libbertqa.abi", current)
    assert code == 0, report


def test_experimental_changes_are_deliberate(tmp_path):
    """They are allowed, but CHANGELOG must mention them, and `make abi-baseline` must have run."""
    experimental = HEADER.with_name("bertqa_experimental.h")
    code, report = compare(ABI / "experimental.abi", dump(experimental, tmp_path / "experimental.abi"))
    assert code == 0, report


# Changes of the header by regular expression. Of a struct that begins with struct_size the end may move.
MORE = r"  int32_t more;\n  void *and_more;\n"
ADDITIONS = {
    "function": (r"(?=void bertqa_context_free)", "int32_t bertqa_more(int32_t more);\n"),
    "member at the end of options": (r"(?=} bertqa_answer_options;)", MORE),
    "a name for a reserved member": (r"int32_t reserved;(?=\n} bertqa_tokenize_options;)", "int32_t named;"),
    "member at the end of a result": (r"(?=} bertqa_answer_span;)", MORE),
    "value of an enumeration": (r"(?<=BERTQA_ERROR_DEADLINE_EXCEEDED = 10)", ", BERTQA_ERROR_MORE = 11"),
    "struct": (
        r"(?=void bertqa_context_free)",
        "typedef struct bertqa_more {\n  size_t struct_size;\n  int x;\n} bertqa_more;\nvoid bertqa_f(bertqa_more *);\n",
    ),
    "comment": (r"default 0: 30", "default 0: thirty"),
}
BREAKS = {
    "function removed": (r"void bertqa_context_free\(.*?\);", ""),
    "parameter of another type": (r"(bertqa_context_vocabulary_id\([^)]*)size_t length", r"\1int32_t length"),
    "parameter added": (r"(void bertqa_context_free\(.*?)\)", r"\1, int32_t more)"),
    "result of another type": (r"size_t bertqa_answers_count", "int32_t bertqa_answers_count"),
    "member of options removed": (r"  int32_t max_answer_len;", ""),
    "member of options renamed": (r"int32_t max_answer_len;", "int32_t max_answer_length;"),
    "member of options of another type": (
        r"float no_answer_threshold;(?=[^}]*} bertqa_answer_options)",
        "int32_t no_answer_threshold;",
    ),
    "member of options inserted": (r"(?=  int32_t doc_stride;)", "  int32_t more;\n"),
    "member of a result inserted": (r"(?=  float start_logit;)", "  int32_t more;\n"),
    "end of a fixed struct": (r"(?=} bertqa_answer_pair;)", MORE),
    "end of a nested struct": (r"(?=} bertqa_range;)", MORE),
    "fixed struct made to grow": (r"(?<=typedef struct bertqa_answer_pair {)", "\n  size_t struct_size;"),
    "value of an enumeration changed": (r"BERTQA_ERROR_INTERNAL = 9", "BERTQA_ERROR_INTERNAL = 10"),
    "value of an enumeration removed": (r"  BERTQA_ERROR_TOO_LARGE = 8,", ""),
    "status of another size": (r"typedef int32_t bertqa_status", "typedef int64_t bertqa_status"),
    "callback with another parameter": (r"(\(\*bertqa_cancel_function\)\(void \*user)", r"\1, int32_t more"),
    "change behind an addition": (
        r"float no_answer_threshold;([^}]*)(?=} bertqa_answer_options)",
        rf"double no_answer_threshold;\1{MORE}",
    ),
}


@pytest.mark.parametrize("change", [*ADDITIONS, *BREAKS])
def test_abidiff_tells_additions_from_breaks(change, current, tmp_path):
    pattern, replacement = (ADDITIONS | BREAKS)[change]
    header, count = re.subn(pattern, replacement, HEADER.read_text(), count=1, flags=re.S)
    assert count == 1
    (tmp_path / "bertqa.h").write_text(header)
    code, report = compare(current, dump(tmp_path / "bertqa.h", tmp_path / "new.abi"))
    assert (code != 0) == (change in BREAKS), report
