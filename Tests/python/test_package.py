"""What the package says of the library: names, versions, structs."""

import ctypes
import re
import subprocess


import bertqa
from bertqa import _errors, _native
from conftest import ROOT
from samples import HEADER, run_python


def test_public_names():
    assert bertqa.__all__ == sorted(bertqa.__all__)
    for name in bertqa.__all__:
        assert getattr(bertqa, name).__doc__, name


def test_versions():
    numbers = [re.search(rf"BERTQA_VERSION_{part} (\d+)", HEADER)[1] for part in ("MAJOR", "MINOR", "PATCH")]
    assert bertqa.version() == ".".join(numbers)
    assert bertqa.abi_version() == int(re.search(r"BERTQA_ABI_VERSION (\d+)", HEADER)[1])
    project = (ROOT / "examples" / "python" / "pyproject.toml").read_text()
    assert f'version = "{bertqa.version()}"' in project


def test_statuses_and_names_are_the_headers():
    statuses = {int(n): name for name, n in re.findall(r"BERTQA_ERROR_(\w+) = (\d+)", HEADER)}
    internal = next(n for n, name in statuses.items() if name == "INTERNAL")
    assert set(_errors.BY_STATUS) | {internal} == set(statuses)
    for number, error in _errors.BY_STATUS.items():
        assert error.status == number and error.__name__ in bertqa.__all__
        name = {"IO": "MODELIOERROR"}.get(statuses[number], statuses[number].replace("_", ""))
        assert error.__name__.upper() == name
    for prefix, names in [
        ("PRECISION", dict(enumerate(bertqa._context.PRECISIONS))),
        ("ISA", dict(enumerate(bertqa._context.INSTRUCTION_SETS))),
        ("TASK", dict(enumerate(bertqa._context.TASKS, 1))),
        ("POOLING", dict(enumerate(bertqa._embed.POOLINGS))),
        ("WINDOW_POOLING", dict(enumerate(bertqa._classify.WINDOW_POOLINGS))),
        ("PROBLEM", dict(enumerate(bertqa._classify.PROBLEM_TYPES[1:], 1))),
    ]:
        found = {int(n): name.lower() for name, n in re.findall(rf"BERTQA_{prefix}_(\w+) = (\d+)", HEADER)}
        assert found == names


def test_structs_are_the_headers(tmp_path):
    structs = {
        "bertqa_context_options": _native.ContextOptions, "bertqa_model_info": _native.ModelInfo,
        "bertqa_tokenize_options": _native.TokenizeOptions, "bertqa_answer_options": _native.AnswerOptions,
        "bertqa_answer_span": _native.AnswerSpan, "bertqa_answer_summary": _native.AnswerSummary,
        "bertqa_pair": _native.Pair, "bertqa_range": _native.Range, "bertqa_text": _native.TextPair,
        "bertqa_column": _native.Column,
        "bertqa_classify_options": _native.ClassifyOptions, "bertqa_label_score": _native.LabelScore,
        "bertqa_contribution": _native.Contribution, "bertqa_classify_summary": _native.ClassifySummary,
        "bertqa_train_options": _native.TrainOptions, "bertqa_training_report": _native.TrainingReport,
        "bertqa_embed_options": _native.EmbedOptions, "bertqa_example": _native.Example,
        "bertqa_labeler_options": _native.LabelerOptions, "bertqa_word": _native.Word,
        "bertqa_generate_options": _native.GenerateOptions, "bertqa_sequence_score": _native.SequenceScore,
    }  # fmt: skip
    assert set(structs) == set(re.findall(r"typedef struct (bertqa_\w+) \{", HEADER))
    lines, expected = [], []
    for name, struct in structs.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {ctypes.sizeof(struct)}")
        for field, _ in struct._fields_:
            member = getattr(struct, field)
            place = f"offsetof({name}, {field}), sizeof((({name} *)0)->{field})"
            lines.append(f'printf("{name}.{field} %zu %zu\\n", {place});')
            expected.append(f"{name}.{field} {member.offset} {member.size}")
    source = tmp_path / "layout.c"
    source.write_text(
        "#include <bertqa.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\nreturn 0;\n}\n"
    )
    subprocess.run(["cc", "-I", ROOT / "include", source, "-o", tmp_path / "layout"], check=True)
    output = subprocess.run([tmp_path / "layout"], check=True, capture_output=True, text=True).stdout
    assert output.splitlines() == expected


def test_unusable_libraries(tmp_path):
    source = tmp_path / "other.c"
    for content, message in [
        ("unsigned bertqa_abi_version(void) { return 2; }", "has ABI version 2; this package needs 1"),
        ("unsigned bertqa_abi_version(void) { return 1; }", "is not libbertqa, or one older than this package"),
        ("int nothing;", "is not libbertqa"),
        (None, "cannot load libbertqa"),
    ]:
        library = tmp_path / f"{len(message)}.so"
        if content:
            source.write_text(content)
            subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
        result = run_python("import bertqa; bertqa.Context()", BERTQA_LIBRARY=str(library))
        assert result.returncode == 1 and "ImportError: " in result.stderr and message in result.stderr
