"""Completion in shells: the tool's answers against its help, and the shells' against the tool's."""

import os
import re
import subprocess

import pytest

from cli import COMMANDS, OPTIONS
from conftest import PREFIX, TOOL, clean_environment

SHARE = PREFIX / "share"
ENVIRONMENT = clean_environment() | {"PATH": f"{PREFIX / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def run(*command, code=0, **options):
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, env=ENVIRONMENT, **options)
    assert result.returncode == code, result.stderr
    return result


def complete(*words):
    """{candidate: meaning} from the tool."""
    lines = run(TOOL, "complete", "--", *words).stdout.splitlines()
    return dict((line + "\t").split("\t")[:2] for line in lines)


def help_of(command):
    return run(TOOL, command, "--help").stdout


# The tool


def test_commands():
    assert {"answer", "help", "complete"} <= set(COMMANDS)
    assert list(complete("")) == [*COMMANDS, "--help", "--version"]
    assert list(complete()) == list(complete(""))
    for command in COMMANDS:
        assert list(complete(command[:-1])) == [command]
        assert re.search(rf"^  {command} +{re.escape(complete('')[command])}$", run(TOOL, "--help").stdout, re.M)
    assert complete("no-such-command", "") == {}
    assert list(complete("help", "")) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_options_are_those_of_the_help(command):
    expected = {f"--{name}" for owner, name, *_ in OPTIONS if owner == command}
    options, _, examples = help_of(command).partition("\nExamples:\n")
    indented = "\n".join(line for line in options.splitlines() if line.startswith(" "))
    # Every option in the help text exists; an example may be about another command.
    assert expected == set(re.findall(r"(?<!-)--[a-z][a-z-]*", indented))
    if command != "complete":
        assert set(re.findall(r"(?<= )--[a-z][a-z-]*", examples.split("|")[0])) <= expected
    found = complete(command, "-")
    assert set(found) == expected and all(found.values())
    words = " ".join(help_of(command).split())
    assert all(meaning in words for meaning in found.values())
    for name in expected:
        assert name in complete(command, name[:-1])
        assert set(complete(command, "--json", name[:3])) >= {name}


@pytest.mark.parametrize("command, name, letter, value, optional", [option for option in OPTIONS if option[3]])
def test_values(command, name, letter, value, optional, tmp_path):
    files = {"FILE", "DIR", "CHECKPOINT"} & set(value.split("_"))
    forms = (
        [[f"--{name}="]]
        if optional
        else [[f"--{name}", ""], [f"--{name}="], *([[f"-{letter}", ""]] if letter else [])]
    )
    # The tool's own message for an invalid value. Nothing can be read there, and no file has this name.
    if files:
        choices = None
    else:
        tasks = (
            ["answer", "classify", "entities", "embed", "tokenize"]
            if command == "filter" and name != "task"
            else []
        )
        more = [[f"--task={task}"] for task in tasks] or [[]]
        error = "".join(run_with_wrong_value(command, name, tmp_path, options) for options in more)
        choices = re.search(rf"--{name} takes ([a-z0-9_, -]+), not '\?'", error)
        # Words, unlike "a whole number".
        choices = choices and " " not in choices[1].replace(", ", "") and choices[1].split(", ")
    for form in forms:
        found = list(complete(command, *form))
        if files:
            assert found == [":files"]
        elif choices:
            prefix = form[0] if form[-1] else ""
            assert found == [prefix + choice for choice in choices]
            assert list(complete(command, *form[:-1], form[-1] + choices[-1])) == [prefix + choices[-1]]
        else:
            assert found == []


def run_with_wrong_value(command, name, directory, options):
    # With what else the first line asks for: "--output DIR" of "bertqa train-classifier --output DIR [OPTION]...".
    usage = help_of(command).splitlines()[0].split(" [")[0]
    required = [
        part
        for option in re.findall(r"(-\S+) [A-Z]+", usage)
        if option != f"--{name}"
        for part in (option, "none")
    ]
    result = subprocess.run(
        [TOOL, command, *required, *options, f"--{name}=?"],
        capture_output=True,
        text=True,
        timeout=60,
        env=ENVIRONMENT,
        cwd=directory,
        stdin=subprocess.DEVNULL,
    )
    return result.stderr


def test_operands():
    for command in COMMANDS:
        usage = help_of(command).splitlines()[0].split()
        files = re.search(r"FILE|DIR", usage[-1]) is not None or "DB" in usage
        if command != "help":
            assert list(complete(command, "")) == ([":files"] if files else [])
            assert list(complete(command, "--", "--x")) == ([":files"] if files else [])


# The shells


LINES = [
    ["bertqa", ""],
    ["bertqa", "q"],
    ["bertqa", "answer", "--m"],
    ["bertqa", "answer", "--precision", ""],
    ["bertqa", "answer", "--precision", "b"],
    ["bertqa", "answer", "--question", "two words", "--isa", "avx"],
    ["bertqa", "help", ""],
    ["bertqa", "info", ""],
    ["bertqa", "nonsense", ""],
    ["bertqa", "answer", "--color=", ],
    ["bertqa", "answer", "--color=al"],
    ["bertqa", "answer", "n"],
    ["bertqa", "answer", "--model", "n"],
    ["bertqa", "answer", "--model=n"],
]  # fmt: skip


@pytest.fixture
def directory(tmp_path):
    for name in "name.txt", "notes two.txt", "other.txt":
        (tmp_path / name).touch()
    return tmp_path


def expected(line):
    """Returns the words that a shell must offer for the last word, plus files if the tool says so."""
    found = set(complete(*line[1:]))
    if found == {":files"}:
        option = line[-1].partition("=")[0] + "=" if line[-1].startswith("--") else ""
        return {option + name for name in ("name.txt", "notes two.txt")}
    return found


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_bash(line, directory):
    # bash itself splits words at "=" and replaces what is behind it.
    words = [part for word in line for part in re.split("(=)", word) if part or "=" not in word]
    script = """source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
      complete -p bertqa > /dev/null && _bertqa bertqa "${@: -1}"; printf '%s\\n' "${COMPREPLY[@]}" """
    completions = SHARE / "bash-completion" / "completions" / "bertqa"
    found = run("bash", "--norc", "-uc", script, "bash", completions, *words, cwd=directory).stdout
    option = line[-1].partition("=")[0] + "=" if "=" in line[-1] else ""
    assert {option + word for word in found.split("\n") if word} == expected(line)


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_fish(line, directory):
    script = "source $argv[1]; complete --do-complete $argv[2]"
    typed = " ".join(word.replace(" ", r"\ ") for word in line)
    completions = SHARE / "fish" / "vendor_completions.d" / "bertqa.fish"
    found = run("fish", "--no-config", "--command", script, completions, typed, cwd=directory).stdout
    offered = dict((row + "\t").split("\t")[:2] for row in found.splitlines())
    assert set(offered) == expected(line)
    meanings = complete(*line[1:])
    assert all(meaning == meanings.get(word, "") for word, meaning in offered.items())


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_zsh(line, directory):
    """The completion function, with zsh's own functions replaced by ones that print their arguments."""
    script = r"""
      setopt extendedglob  # as in every completion function
      _describe() { print -rl -- "${(@P)2}" }
      compset() { [[ $1 == -P && $words[CURRENT] == ${~2}* ]] && option=${(M)words[CURRENT]#${~2}} }
      _files() { local name; for name in ${words[CURRENT]#$option}*(N); do print -r -- $option$name; done }
      source_it() { local option; source $1 }
      completions=$1; shift; words=("${(@q)@}"); CURRENT=$#; source_it $completions
    """
    completions = SHARE / "zsh" / "site-functions" / "_bertqa"
    found = run("zsh", "-f", "-c", script, "zsh", completions, *line, cwd=directory).stdout
    rows = [row for row in found.splitlines() if row]
    assert {row.partition(":")[0] for row in rows} == expected(line)
    for word, meaning in complete(*line[1:]).items():
        assert word == ":files" or f"{word}:{meaning}" in rows


def test_zsh_finds_its_function():
    script = "fpath=($1 $fpath); autoload -Uz compinit; compinit -u -D; print $_comps[bertqa]"
    found = run("zsh", "-f", "-c", script, "zsh", SHARE / "zsh" / "site-functions").stdout
    assert found == "_bertqa\n"
