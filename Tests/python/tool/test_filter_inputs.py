"""Inputs of `bertqa filter`: formats by file name, several files, and files compressed with gzip and zstd."""

import gzip
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import zlib

import pytest

from conftest import TOOL
from filtering import DONE, RECORD, SLOW, TOKENS, compact, environment, finish, run, start, wait_for
from following import Follower, compress

ROW = b"a b\n"
TABLE = b"text\n" + ROW
DONE_TABLE = b"text,bertqa_ids,bertqa_error\na b,1037 1038,\n"


def zstd(data, *options):
    return subprocess.run(["zstd", "-qc", *options], input=data, capture_output=True, check=True).stdout


def unzstd(data):
    return subprocess.run(["zstd", "-dqc"], input=data, capture_output=True, check=True).stdout


CODECS = [
    pytest.param(".gz", gzip.compress, gzip.decompress, id="gzip"),
    pytest.param(
        ".zst",
        zstd,
        unzstd,
        id="zstd",
        marks=pytest.mark.skipif(not shutil.which("zstd"), reason="zstd files: needs zstd"),
    ),
]


# By name


@pytest.mark.parametrize(
    "name, data, expected",
    [
        ("in.jsonl", RECORD, DONE),
        ("in.ndjson", RECORD, DONE),
        ("in.json", RECORD, DONE),
        ("in", RECORD, DONE),
        ("in.csv", TABLE, DONE_TABLE),
        ("IN.CSV", TABLE, DONE_TABLE),
        ("in.tsv", TABLE, DONE_TABLE.replace(b",", b"\t")),
        ("in.csv.gz", gzip.compress(TABLE, mtime=0), DONE_TABLE),
        ("in.tsv.gz", gzip.compress(TABLE, mtime=0), DONE_TABLE.replace(b",", b"\t")),
        ("in.jsonl.GZ", gzip.compress(RECORD, mtime=0), DONE),
    ],
)
def test_the_format_is_that_of_the_name(name, data, expected, tmp_path):
    (tmp_path / name).write_bytes(data)
    assert run(*TOKENS, tmp_path / name) == (expected, [])


def test_length_prefixed_records_are_compressed_by_name(tmp_path):
    """Their first four bytes can have any value, so the contents do not tell."""
    record = RECORD.rstrip()
    data = len(record).to_bytes(4, "big") + record
    whole, _ = run(*TOKENS, "--format=length-prefixed", input=data)
    (tmp_path / "in.gz").write_bytes(gzip.compress(data))
    assert run(*TOKENS, "--format=length-prefixed", tmp_path / "in.gz")[0] == whole
    # A record of 529 million bytes, by its length.
    run(*TOKENS, "--format=length-prefixed", "--quiet", input=gzip.compress(data), code=1)


def test_a_followed_file_is_compressed_by_its_new_name(tmp_path):
    def append(*numbers):
        records = [b'{"n":%d,"text":"a@b.de"}' % number for number in numbers]
        with follower.log.open("ab") as file:
            file.write(b"".join(len(record).to_bytes(4, "big") + record for record in records))

    follower = Follower(tmp_path / "followed", "--format=length-prefixed", name="app.log")
    append(0, 1)
    follower.up()
    follower.has([0, 1])
    with follower.halted():
        append(2)
        follower.rotate()
        append(3, 4)
        follower.rotate()
        compress(follower.rotated()[0])
        append(5)
    follower.has(range(6))
    assert follower.messages() == []
    follower.down()


def test_an_option_outweighs_the_name(tmp_path):
    source = tmp_path / "in.csv"
    source.write_bytes(RECORD)
    assert run(*TOKENS, "--format=jsonl", source)[0] == DONE
    source = tmp_path / "in.txt"
    source.write_bytes(TABLE)
    assert run(*TOKENS, "--format=csv", source)[0] == DONE_TABLE


# Several files


def test_files_are_read_one_after_the_other(tmp_path):
    names = [tmp_path / name for name in ("a.jsonl", "empty.jsonl", "b.jsonl", "c.jsonl.gz")]
    # A last line without its end is a record of its own.
    for name, data in zip(names, [RECORD * 2 + RECORD[:-1], b"", b"\n{}\n" + RECORD, gzip.compress(RECORD)]):
        name.write_bytes(data)
    output, errors = run(*TOKENS, *names, "--on-error=drop", code=1)
    assert output == DONE * 3 + b"\n" + DONE * 2
    assert errors == [f"bertqa: {names[2]}: line 2: there is no field 'text'"]


def test_a_large_record_without_its_end_stays_apart(tmp_path):
    """Its last part is empty, or not."""
    first, second, letters = tmp_path / "first", tmp_path / "second", tmp_path / "letters"
    second.write_bytes(b"bad\n")
    for size in 2000, 1 << 16, (1 << 16) + 1, 200_000:
        first.write_bytes(b"x" * size)
        letters.unlink(missing_ok=True)
        options = ["--max-record-bytes=1000", "--on-error=pass", f"--on-error=dead-letter={letters}"]
        output, _ = run(*TOKENS, *options, first, second, code=1)
        assert output == letters.read_bytes() == b"x" * size + b"\nbad\n"


def test_an_empty_fifo_is_the_first_input(tmp_path):
    fifo, source = tmp_path / "fifo", tmp_path / "in"
    os.mkfifo(fifo)
    source.write_bytes(RECORD)
    writer = subprocess.Popen(["sh", "-c", ': > "$0"', fifo])
    assert run(*TOKENS, fifo, source)[0] == DONE
    assert writer.wait() == 0


def test_standard_input_is_one_of_several(tmp_path):
    source = tmp_path / "in"
    source.write_bytes(RECORD)
    assert run(*TOKENS, source, "-", source, input=RECORD * 2)[0] == DONE * 4


def test_tables_name_their_columns_once(tmp_path):
    names = [tmp_path / f"{n}.csv" for n in range(3)]
    for name in names:
        name.write_bytes(b"\xef\xbb\xbf" + TABLE)
    # The mark of the first file alone is in the output.
    assert run(*TOKENS, *names)[0] == b"\xef\xbb\xbf" + DONE_TABLE + b"a b,1037 1038,\n" * 2
    names[2].write_bytes(b"text,more\na,b\n")
    output, errors = run(*TOKENS, *names, code=3)
    assert errors == [f"bertqa: {names[2]}: its first line names other columns than the file before it"]
    assert output.count(b"1037 1038") == 2


def test_an_input_that_is_not_there_is_found_out_first(tmp_path):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(RECORD)
    for other, complaint in [(tmp_path / "none", "No such file"), (tmp_path, "is a directory")]:
        [error] = run(*TOKENS, source, other, "-o", target, code=3)[1]
        assert complaint in error and not target.exists()
    [error] = run(*TOKENS, source, target, "-o", target, code=3)[1]
    assert "No such file" in error
    target.touch()
    assert "cannot be both read and written" in run(*TOKENS, source, target, "-o", target, code=2)[1][0]


def kill_behind(goal, checkpoint, arguments):
    """Kills a run when its checkpoint covers this many bytes of the input."""

    def is_done():
        text = checkpoint.read_text() if checkpoint.exists() else ""
        return text != "" and int(re.search(r"input_bytes (\d+)", text)[1]) >= goal

    process = start(*arguments)
    wait_for(is_done)
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("seed", range(2))
def test_a_killed_run_over_several_files_goes_on(seed, tmp_path):
    generator = random.Random(seed)
    files = []
    size = 0
    for number in range(6):
        count = generator.choice([0, 1, 100, 400])
        data = b"".join(
            generator.choice([b"bad\n", b"\n"])
            if generator.random() < 0.05
            else compact({"n": n, "text": "who jumped " * generator.randrange(30)}) + b"\n"
            for n in range(count)
        )
        is_compressed = generator.random() < 0.5
        files.append(tmp_path / f"{number}.jsonl{'.gz' * is_compressed}")
        files[-1].write_bytes(gzip.compress(data) if is_compressed else data)
        size += len(data)
    checkpoint = tmp_path / "checkpoint"

    def arguments(name, *options):
        return [*SLOW, *files, "-o", tmp_path / name, "--on-error=null", *options]

    expected = run(*arguments("whole"), code=None)
    resumable = arguments("killed", "--resume", checkpoint, "--checkpoint-interval=0.01")
    for goal in range(4):
        kill_behind(goal * size // 5, checkpoint, resumable)
    _, errors = run(*resumable, code=None)
    assert (tmp_path / "killed").read_bytes() == (tmp_path / "whole").read_bytes()
    # With the names of their files, and the lines in them.
    assert set(errors) <= set(expected[1])


def test_a_rerun_takes_on_what_is_new(tmp_path):
    first, second, third = [tmp_path / f"{n}.jsonl" for n in range(3)]
    target, checkpoint = tmp_path / "out", tmp_path / "checkpoint"
    options = ["-o", target, "--resume", checkpoint]
    first.write_bytes(RECORD)
    second.write_bytes(RECORD + b'{"text":')
    run(*TOKENS, first, second, *options)
    assert target.read_bytes() == DONE * 2
    # The last of them may grow, and others may come behind it.
    second.write_bytes(RECORD * 2 + b"{}\n")
    third.write_bytes(RECORD + b"{}\n")
    _, errors = run(*TOKENS, first, second, third, *options, "--on-error=drop", code=3)
    assert "other arguments" in errors[0]
    _, errors = run(*TOKENS, first, second, third, *options, code=1)
    assert errors == [
        f"bertqa: {second}: line 3: there is no field 'text'",
        f"bertqa: {third}: line 2: there is no field 'text'",
    ]
    whole = target.read_bytes()
    assert whole.count(b"[1037,1038]") == 4
    # Finished inputs must not change or disappear.
    for names, change in [
        ((second, third), None),
        ((first,), None),
        ((second, first, third), None),
        ((first, second, third), second),
        ((first, second, third), first),
    ]:
        before = change.read_bytes() if change else b""
        if change:
            change.write_bytes(before + RECORD)
        [error] = run(*TOKENS, *names, *options, code=3)[1]
        assert "is the checkpoint of" in error and target.read_bytes() == whole
        if change:
            change.write_bytes(before)
    run(*TOKENS, first, second, third, *options, code=1)
    assert target.read_bytes() == whole


# Compressed files


@pytest.mark.parametrize("suffix, compress, decompress", CODECS)
def test_compressed_files(suffix, compress, decompress, tmp_path):
    records = b"".join(compact({"n": n, "text": f"a b {n}"}) + b"\n" for n in range(20_000))
    plain = run(*TOKENS, input=records)[0]
    source, target = tmp_path / f"in.jsonl{suffix}", tmp_path / f"out.jsonl{suffix}"
    source.write_bytes(compress(records))
    assert run(*TOKENS, source)[0] == plain
    assert run(*TOKENS, source, "-o", target) == (b"", [])
    assert target.stat().st_size < len(plain) / 3
    assert decompress(target.read_bytes()) == plain
    # The programs of these formats read it, too.
    assert run(*TOKENS, "--output-field=again", target)[0].count(b"again") == 20_000
    # From a pipe, and whatever the name: by its first bytes.
    assert run(*TOKENS, input=source.read_bytes())[0] == plain
    other = tmp_path / "other.jsonl"
    shutil.copy(source, other)
    assert run(*TOKENS, other)[0] == plain


@pytest.mark.parametrize("suffix, compress, decompress", CODECS)
def test_members_and_frames_in_a_row(suffix, compress, decompress, tmp_path):
    source = tmp_path / f"in{suffix}"
    record = compact({"text": "a b"}) + b"\n"
    # Cut inside of records.
    data = record * 3
    parts = [data[:7], b"", data[7:20], data[20:]]
    source.write_bytes(b"".join(map(compress, parts)) + (bytes(1000) if suffix == ".gz" else b""))
    assert run(*TOKENS, source)[0] == DONE * 3
    source.write_bytes(compress(b""))
    assert run(*TOKENS, source) == (b"", [])


@pytest.mark.parametrize("suffix, compress, decompress", CODECS)
def test_byte_by_byte(suffix, compress, decompress):
    """Each record is written when its last byte arrives, before any byte of the next."""
    process = start(*TOKENS)
    for _ in range(3):
        data = compress(RECORD)
        for position in range(len(data)):
            process.stdin.write(data[position : position + 1])
        assert process.stdout.readline() == DONE
    finish(process)


@pytest.mark.parametrize("first", [b"(", b"\x1f", b"(\xb5/", b"\x1fx", b""])
def test_what_only_begins_so_is_not_compressed(first):
    """It is a record that is not JSON, and passes through unchanged."""
    process = start(*TOKENS, "--on-error=pass")
    process.stdin.write(first)
    time.sleep(0.05)
    output, _ = process.communicate(b"\n" + RECORD, timeout=60)
    assert output == first + b"\n" + DONE


@pytest.mark.parametrize("suffix, compress, decompress", CODECS)
def test_every_cut_is_noticed(suffix, compress, decompress, tmp_path):
    """The records before the cut are written, the message names the file and the place, and the exit code is 3."""
    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    records = b"".join(compact({"n": n, "text": "a b"}) + b"\n" for n in range(300))
    whole, _ = run(*TOKENS, input=records)
    data = compress(records)
    damaged = [(data[:end], f"ends early, at byte {end}") for end in [0, 1, 3, 9, len(data) // 2, len(data) - 1]]
    damaged.append((data + b"more", f"cannot be decompressed at byte {len(data)}" if suffix == ".gz" else ""))
    damaged.append((records, "cannot be decompressed at byte"))
    for content, complaint in damaged:
        source.write_bytes(content)
        output, [error] = run(*TOKENS, source, code=3)
        assert whole.startswith(output) and output[-1:] in (b"", b"\n")
        assert error.startswith(f"bertqa: {source}, compressed with {'gzip' if suffix == '.gz' else 'zstd'}, ")
        assert complaint in error
        # The output ends with a line end, too.
        target.unlink(missing_ok=True)
        run(*TOKENS, source, "-o", target, code=3)
        assert (decompress(target.read_bytes()) if target.exists() else b"") == output


def test_windows_of_zstd_have_a_limit(tmp_path):
    """128 MiB, as zstd has without --long. A frame may need 2 GiB."""
    source = tmp_path / "in.zst"
    for log, exponent in (27, 17), (28, 18), (31, 21):
        block = (1 | len(RECORD) << 3).to_bytes(3, "little") + RECORD  # the last one, not compressed
        source.write_bytes(b"\x28\xb5\x2f\xfd\x00" + bytes([exponent << 3]) + block)
        if log == 27:
            assert run(*TOKENS, source) == (DONE, [])
        else:
            output, [error] = run(*TOKENS, source, code=3)
            assert output == b"" and error.endswith("; use zstd -dc --long=31"), error


@pytest.mark.parametrize("suffix, compress, decompress", CODECS)
def test_flipped_bits_are_noticed(suffix, compress, decompress, tmp_path):
    """Except bits without a meaning, such as those of a time."""
    source = tmp_path / f"in{suffix}"
    generator = random.Random(1)
    records = b"".join(compact({"n": n, "text": "a b"}) + b"\n" for n in range(300))
    whole, _ = run(*TOKENS, input=records)
    data = compress(records)
    for _ in range(12):
        position = generator.randrange(len(data))
        changed = bytearray(data)
        changed[position] ^= 1 << generator.randrange(8)
        source.write_bytes(changed)
        try:
            is_right = decompress(bytes(changed)) == records
        except (OSError, EOFError, zlib.error, subprocess.CalledProcessError):
            is_right = False
        output, errors = run(*TOKENS, source, "--quiet", code=0 if is_right else 3)
        if is_right:
            assert output == whole
        else:
            assert re.search(r"in\.\w+, compressed with \w+, .* at byte \d+", errors[-1]), errors


def test_the_middle_of_a_damaged_file_is_written():
    """A hundred thousand records, cut in the middle: nearly half of them are written."""
    generator = random.Random(3)
    records = b"".join(compact({"n": generator.random(), "text": "a"}) + b"\n" for _ in range(20_000))
    data = gzip.compress(records)
    output, [error] = run(*TOKENS, input=data[: len(data) // 2], code=3)
    assert 9_000 < output.count(b"\n") < 11_000
    assert error == f"bertqa: standard input, compressed with gzip, ends early, at byte {len(data) // 2}"


@pytest.mark.parametrize("suffix, compress, decompress", CODECS)
def test_a_bomb_stays_in_bounded_memory(suffix, compress, decompress, tmp_path):
    """One record of 300 MiB from less than four."""
    source = tmp_path / f"in{suffix}"
    with source.open("wb") as file:
        command = ["gzip", "-1c"] if suffix == ".gz" else ["zstd", "-qc"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file)
        for _ in range(300):
            process.stdin.write(b"x" * (1 << 20))
        process.stdin.write(b"\n" + RECORD)
        process.communicate()
        assert process.returncode == 0
    assert source.stat().st_size < 4 << 20
    code = (
        "import resource, subprocess, sys\n"
        "process = subprocess.run(sys.argv[1:], capture_output=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        "sys.stdout.flush(); sys.stdout.buffer.write(process.stdout); sys.exit(process.returncode)"
    )
    arguments = [TOOL, *TOKENS, source, "--max-record-bytes=1M", "--on-error=drop"]
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, env=environment(), timeout=300
    )
    assert result.returncode == 1, result.stderr
    memory, record = result.stdout.split(b"\n", 1)
    assert record == DONE
    assert int(memory) < 100 << 10


@pytest.mark.parametrize("suffix, compress, decompress", CODECS)
def test_a_killed_run_goes_on_with_compressed_files(suffix, compress, decompress, tmp_path):
    source, target, checkpoint = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}", tmp_path / "checkpoint"
    records = b"".join(compact({"n": n, "text": "who jumped " * (n % 30)}) + b"\n" for n in range(800))
    # A last record without its end is one, as the file says that it is complete.
    source.write_bytes(compress(records[:-1]))
    expected = run(*SLOW, input=records)[0]
    resumable = [*SLOW, source, "-o", target, "--resume", checkpoint, "--checkpoint-interval=0.02"]
    for goal in (0, 1, 2):
        kill_behind(goal * len(records) // 4, checkpoint, resumable)
    run(*resumable)
    assert decompress(target.read_bytes()) == expected
    run(*resumable)
    assert decompress(target.read_bytes()) == expected
    source.write_bytes(compress(records[:-1] + RECORD))
    assert "another input" in run(*resumable, code=3)[1][0]


@pytest.mark.parametrize("suffix, compress, decompress", CODECS)
def test_an_output_without_records_is_a_compressed_file(suffix, compress, decompress, tmp_path):
    target = tmp_path / f"out{suffix}"
    run(*TOKENS, "-o", target)
    assert target.read_bytes() != b"" and decompress(target.read_bytes()) == b""


def test_compressed_files_cannot_be_followed(tmp_path):
    source = tmp_path / "in.gz"
    source.write_bytes(gzip.compress(RECORD))
    assert "which is compressed with gzip" in run(*TOKENS, "--follow", source, code=2)[1][0]


@pytest.mark.parametrize(
    "suffix, library, package", [(".gz", "libz.so.1", "zlib1g"), (".zst", "libzstd.so.1", "libzstd1")]
)
def test_without_the_library(suffix, library, package, tmp_path, monkeypatch):
    """The file with the library's name is not a library: plain files are read, others are reported."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    (tmp_path / library).touch()
    source = tmp_path / f"in{suffix}"
    source.write_bytes(b"x")
    assert run(*TOKENS, input=RECORD)[0] == DONE
    for arguments in ([source], ["-o", source]):
        [error] = run(*TOKENS, *arguments, code=3)[1]
        assert f"needs {library}, of Debian's package {package}" in error
    assert source.read_bytes() == b"x"


def test_a_classifier_is_trained_on_compressed_files(tmp_path):
    texts = [("good fine nice", "+"), ("bad awful poor", "-")] * 10
    lines = b"".join(compact({"text": text, "label": label}) + b"\n" for text, label in texts)
    table = "text,label\n" + "".join(f"{text},{label}\n" for text, label in texts)
    (tmp_path / "in.jsonl").write_bytes(lines)
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress(table.encode()))
    reports = [
        run("train-classifier", "--json", tmp_path / name, "-o", tmp_path / f"{name}.model")[0]
        for name in ("in.jsonl", "in.csv.gz")
    ]
    assert reports[0] == reports[1] and b'"text_count":20' in reports[0]
