"""The package's description of the library: names, versions, structs, functions, types, help."""

import ctypes
import os
import pickle
import pydoc
import re
import shutil
import signal
import subprocess
import sys

import pytest

import bertqa
from bertqa import _abi, _arrow, _call, _errors
from conftest import FIXTURES, PACKAGE, PREFIX, ROOT
from samples import FOX, HEADER, VERSION, WHO, run_python

EXPERIMENTAL = (ROOT / "include" / "bertqa_experimental.h").read_text()
#: Both headers without their comments.
DECLARED = re.sub(r"/\*.*?\*/", "", HEADER + EXPERIMENTAL, flags=re.S)


def test_public_names():
    assert bertqa.__all__ == sorted(bertqa.__all__)
    for name in bertqa.__all__:
        public = getattr(bertqa, name)
        assert public.__doc__ and public.__module__ == "bertqa", name


def test_imports_are_lazy():
    """Importing bertqa loads only what most programs need; pipelines load no numpy. Some builds of Python have no
    sqlite3."""
    result = run_python(f"""
import sys

sys.modules["sqlite3"] = None
import bertqa

assert not {{"bertqa.pipelines", "shutil", "bz2", "lzma"}} & set(sys.modules)
tiny = {str(FIXTURES / "tiny-bert")!r}
bertqa.pipeline("question-answering", tiny)(question="Who?", context="Ann.")
assert not {{"numpy", "torch", "transformers"}} & set(sys.modules)
try:
    bertqa.Collection(":memory:")
except ImportError as error:
    print(error.name)
""")
    assert (result.stdout.strip(), result.returncode) == ("sqlite3", 0), result.stderr


def test_versions():
    assert bertqa.__version__ == bertqa.version() == VERSION
    assert bertqa.abi_version() == int(re.search(r"BERTQA_ABI_VERSION (\d+)", HEADER)[1])
    project = (PACKAGE / "pyproject.toml").read_text()
    assert f'version = "{bertqa.version()}"' in project


def test_statuses_and_names_are_the_headers():
    statuses = {int(n): name for name, n in re.findall(r"BERTQA_ERROR_(\w+) = (\d+)", DECLARED)}
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
        ("AGGREGATION", dict(enumerate(bertqa._entities.AGGREGATIONS))),
        ("PATTERN", {1 << bit: name for bit, name in enumerate(bertqa._entities.PATTERNS)}),
        ("REPLACEMENT", dict(enumerate(bertqa._redaction.REPLACEMENTS))),
        ("POOLING", dict(enumerate(bertqa._embed.POOLINGS))),
        ("WINDOW_POOLING", dict(enumerate(bertqa._classify.WINDOW_POOLINGS))),
        ("PROBLEM_TYPE", dict(enumerate(bertqa._classify.PROBLEM_TYPES[1:], 1))),
        ("ALGORITHM", dict(enumerate(bertqa._train.ALGORITHMS))),
        ("STOP", dict(enumerate(bertqa._sequence.STOPS[1:], 1))),
    ]:
        found = {int(n): name.lower() for name, n in re.findall(rf"BERTQA_{prefix}_(\w+) = (\d+)", DECLARED)}
        assert found == names


def test_structs_are_the_headers(tmp_path):
    """Names, sizes and offsets of all fields agree with those of a C program."""
    structs = {f"bertqa_{name}": struct for name, struct in _abi.STRUCTS.items()}
    assert set(structs) == set(re.findall(r"typedef struct (bertqa_\w+) \{", DECLARED))
    structs |= {"struct ArrowSchema": _arrow.ArrowSchema, "struct ArrowArray": _arrow.ArrowArray}
    lines, expected = [], []
    for name, struct in structs.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {ctypes.sizeof(struct)}")
        [body] = re.findall(rf"{name.replace('struct ', '')} {{(.*?)\n}}", DECLARED, re.S)
        fields = re.findall(r"(\w+)\)?(?:\([^)]*\))?;", body)
        assert [field[0] for field in struct._fields_] == fields
        for field in fields:
            member = getattr(struct, field)
            place = f"offsetof({name}, {field}), sizeof((({name} *)0)->{field})"
            lines.append(f'printf("{name}.{field} %zu %zu\\n", {place});')
            expected.append(f"{name}.{field} {member.offset} {member.size}")
    source = tmp_path / "layout.c"
    source.write_text(
        "#include <bertqa_experimental.h>\n#include <stdio.h>\nint main(void) {\n"
        + "\n".join(lines)
        + "\nreturn 0;\n}\n"
    )
    subprocess.run(["cc", "-I", ROOT / "include", source, "-o", tmp_path / "layout"], check=True)
    output = subprocess.run([tmp_path / "layout"], check=True, capture_output=True, text=True).stdout
    assert output.splitlines() == expected


def test_functions_are_the_headers():
    """Each function once, with the same number of parameters and the same size of the result."""
    declared = re.findall(
        r"^([\w \*]+?[ \*])bertqa_(\w+)\(([^)]*)\);", DECLARED.replace("BERTQA_MUST_CHECK ", ""), re.M
    )
    names = [name for _, name, _ in declared]
    assert len(names) > 100 and sorted(names) == sorted(set(names)) == sorted(_abi.FUNCTIONS)
    sizes = {
        "uint32_t": 4,
        "int32_t": 4,
        "bertqa_status": 4,
        "bertqa_stop": 4,
        "uint64_t": 8,
        "size_t": 8,
        "double": 8,
    }
    for result, name, parameters in declared:
        kind, arguments = _abi.FUNCTIONS[name]
        parameters = [] if parameters == "void" else parameters.split(",")
        assert len(arguments) == len(parameters), name
        if result.strip() == "void":
            assert kind is None, name
        else:
            size = 8 if "*" in result else sizes[result.strip()]
            assert ctypes.sizeof(kind) == size, name
        for argument, parameter in zip(arguments, parameters, strict=True):
            # Texts are bytes objects, and arrays are pointers to their elements.
            if "*" in parameter or "bertqa_column" in parameter:
                assert ctypes.sizeof(argument) == (16 if "bertqa_column" in parameter else 8), (name, parameter)
            elif "size_t" in parameter or "int64_t" in parameter:
                assert argument in (ctypes.c_size_t, ctypes.c_uint64, ctypes.c_int64), (name, parameter)
            else:
                assert ctypes.sizeof(argument) == (8 if parameter.split()[0] == "double" else 4), (name, parameter)


OPTIONS = {
    bertqa.AnswerOptions: _abi.AnswerOptions, bertqa.ClassifyOptions: _abi.ClassifyOptions,
    bertqa.EntitiesOptions: _abi.EntitiesOptions, bertqa.EmbedOptions: _abi.EmbedOptions, bertqa.TrainOptions: _abi.TrainOptions,
    bertqa.GenerateOptions: _abi.GenerateOptions, bertqa.CallOptions: None,
}  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: options.__name__)
def test_help_explains_every_option(options):
    """The help has a line or more for each option that starts with its name and states its default."""
    struct = OPTIONS[options]
    fields = set() if struct is None else set(_call._kinds(struct))
    if options is bertqa.GenerateOptions:
        fields |= {"on_word"}
    assert set(options.__annotations__) == fields | set(_call.COMMON)
    text = pydoc.render_doc(options, renderer=pydoc.plaintext)
    for name in options.__annotations__:
        found = re.search(rf"^ \|  {name}: (.*(?:\n \|      .*)*)", text, re.M)
        assert found and re.search("default|at least", found[1]), name
        assert len(found[1]) > 30, name


def test_help_explains_every_argument_of_a_context():
    text = pydoc.render_doc(bertqa.Context, renderer=pydoc.plaintext)
    for name in "model", "task", "threads", "precision", "isa", "tokenizer_only", "load", "log", "dir_fd":
        found = re.search(rf"^ \|  {name}: (.*(?:\n \|      .*)*)", text, re.M)
        assert found and "default" in found[1], name


def test_results_name_their_fields_in_their_help():
    for name in bertqa.__all__:
        kind = getattr(bertqa, name)
        for field in getattr(kind, "__dataclass_fields__", {}):
            plain = {"text", "start", "end", "label", "logit", "start_logit", "end_logit"}
            sizes = {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"}
            sizes |= {"max_position_embeddings"}
            assert field in plain | sizes or re.search(rf"\b{field}\b", kind.__doc__), f"{name}.{field}"


def test_reprs_are_one_line_whatever_the_size(tiny):
    long = "a\nb " * 10_000
    result = tiny.answer("who", long, top_k=1000)
    with bertqa.Context(task="predict") as play:
        prediction = play.predict("O", top_k=1000)
        shown = [prediction, play.generate("O", max_words=300, temperature=1.0), play.rank("O", [long])[0]]
        shown += [play, play.info, prediction.state, play.likelihood("O")]
    with bertqa.Context(FIXTURES / "tiny-bert-embedder") as embedder:
        shown += [bertqa.Labeler(embedder, {long: "a", "b": "b"}), embedder.embed(["a"])]
    shown += [bertqa.EntityList([], 0), bertqa.patterns("a@example.org " * 1000)]
    shown += [result, result.answer, tiny.tokenize(long), tiny.info, tiny, tiny.prepare(long)]
    for value in shown:
        text = repr(value)
        assert "\n" not in text and len(text) <= 1000, text
        assert type(value).__name__ in text
    assert (
        repr(bertqa.LabelScore("sport", 1, 0.5, 2.0))
        == "LabelScore(label='sport', id=1, probability=0.5, logit=2.0)"
    )


def test_results_are_values(tiny):
    """Equal and hashable, also with a NaN: the probability of a regression, the perplexity of one word."""
    notes = bertqa.Collection(":memory:", context=tiny, words_only=True)
    notes.add("fox", FOX, fields={"year": 2024, "tags": ["a", {"b": None}]})
    regression, embedder = (bertqa.Context(FIXTURES / f"tiny-bert-{name}") for name in ("regression", "embedder"))
    with bertqa.Context(task="predict") as play, bertqa.Context(task="classify") as topics:
        made = [
            lambda: tiny.answer("who", FOX, top_k=3), lambda: tiny.tokenize(FOX), lambda: bertqa.patterns("a@b.org"),
            lambda: play.predict("O", top_k=3), lambda: play.generate("O", max_words=3), lambda: play.info,
            lambda: play.rank("O", ["Romeo"])[0], lambda: play.likelihood("O Romeo"),
            lambda: play.likelihood("O"), lambda: regression.classify(FOX),
            lambda: embedder.embed([FOX, "a"]), lambda: embedder.embed_tokens(FOX),
            lambda: topics.classify("The striker scored twice.", contributions=2),
            lambda: notes.search(FOX)[0], lambda: notes.ask(FOX),
        ]  # fmt: skip
        for make in made:
            first, second = make(), make()
            assert first == second and len({first, second}) == 1 and first is not second
            assert pickle.loads(pickle.dumps(first)) == first != make
        assert embedder.embed([FOX]) != embedder.embed(["a"])
        assert len({tiny.answer("who", FOX), tiny.answer("who", FOX + " Bob slept."), play.info, topics.info}) == 4


PROGRAM = """
import bertqa

context = bertqa.Context()
result = context.answer("Who?", "Ann.", top_k=2, cancel=lambda: False)
if result.answer:
    text: str = result.answer.text
for answer in context.answer("Who?", b"Ann.").answers:
    data: bytes = answer.sentence
first: str = context.answer_batch([("Who?", "Ann.")])[0].answers[0].text
for found in context.answer_batch([("Who?", "Ann.")], return_exceptions=True):
    print(found.item if isinstance(found, bertqa.BertQAError) else found.is_impossible)
for streamed in context.answer_stream([("Who?", b"Ann.")], batch_size=2, top_k=2):
    streamed_text: bytes = streamed.answers[0].text
prepared: str = context.prepare("Ann.").answer("Who?").answers[0].text
label: "str | None" = context.classify(("a", "pair")).label
word: bytes = context.classify_batch([b"text"])[0].contributions[0].text
found_text: bytes = context.entities(b"Ann.", labels=["PER"])[0].text
lists: "list[bertqa.EntityList[str]]" = context.entities_batch(["Ann."])
redacted: str = bertqa.redact("Ann.", lists[0] + bertqa.patterns("Ann."), "X")
vector: "list[float]" = context.embed("text").tolist()
vectors: "list[list[float]]" = context.embed(["text", "another"]).tolist()
entities: "list[bertqa.Entity[str]]" = context.entities("text")[1:]
likeliest: str = context.rank("O", ["Romeo", "computer"])[0].text
"""


def test_types(tmp_path):
    """The package, and programs that use it, pass mypy --strict, which finds the errors of one that does not."""
    shutil.copytree(PACKAGE / "bertqa", tmp_path / "bertqa", ignore=shutil.ignore_patterns("__pycache__"))
    assert (tmp_path / "bertqa" / "py.typed").exists()
    shutil.copy(PACKAGE / "pyproject.toml", tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(
        PROGRAM + "number: int = first\ncontext.answer('Who?', 'Ann.', topk=1)\nresult.answer.text\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull]
    result = subprocess.run(
        [*command, "bertqa", "program.py", "wrong.py"], cwd=tmp_path, capture_output=True, text=True
    )
    errors = [line for line in result.stdout.splitlines() if "error:" in line]
    assert len(errors) == 3 and all(line.startswith("wrong.py:") for line in errors), result.stdout + result.stderr


def test_python_m_is_the_tool(tmp_path):
    def run(*arguments, **environment):
        return subprocess.run(
            [sys.executable, "-m", "bertqa", *arguments], input=FOX, capture_output=True, text=True,
            env=os.environ | environment,
        )  # fmt: skip

    result = run("answer", "-q", WHO)
    assert (result.returncode, result.stdout) == (0, "The quick brown fox\n")
    assert (
        run("no-such-command").returncode
        == subprocess.run([PREFIX / "bin/bertqa", "no-such-command"], capture_output=True).returncode
    )
    # A closed pipe ends it as it ends the tool itself.
    command = [sys.executable, "-m", "bertqa", "filter", "--task", "tokenize"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.close()
        process.stdin.write(b'{"text": "a"}\n')
    assert process.returncode == -signal.SIGPIPE
    alone = tmp_path / "libbertqa.so.1"
    alone.symlink_to(tmp_path / "nowhere")
    result = run("--help", BERTQA_LIBRARY=str(alone), PATH=str(tmp_path))
    assert result.returncode == 1 and "make install" in result.stderr


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
