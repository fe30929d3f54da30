"""training/finetune_qa.py: runs on a tiny model. Needs torch."""

import argparse
import datetime
import json
import math
import os
import shutil
import signal
import subprocess
import sys

import pytest

from common.checkpoints import latest_checkpoint, snapshots, step_of
from conftest import FIXTURES
from questions import question
from runs import log, trainer_fixture  # noqa: F401
from samples import FOX


def test_a_stopped_run_goes_on_to_the_same_weights(trainer):
    from safetensors.numpy import load_file

    train, _ = trainer
    whole, parts = train("whole", "--passes", "3"), train("parts", "--passes", "3", stop=3)
    assert log(parts)[-1]["step"] == 3
    for other in (
        ("--seed", "2"),
        ("--learning-rate", "2e-3"),
        ("--teacher", str(FIXTURES / "tiny-bert")),
        ("--adversarial", "0.1"),
    ):
        with pytest.raises(SystemExit, match="of another run"):
            train("parts", "--passes", "3", *other)
    train("parts", "--passes", "3")
    assert [line["loss"] for line in log(whole)] == [line["loss"] for line in log(parts)]
    last = snapshots(str(whole))[-1]
    ours, theirs = load_file(last), load_file(last.replace("whole", "parts"))
    assert all((ours[name] == theirs[name]).all() for name in ours)
    # The mean is of the same steps.
    assert [step_of(path) for path in snapshots(str(whole))] == [step_of(path) for path in snapshots(str(parts))]


def test_a_killed_run_goes_on_to_the_same_weights(trainer, tmp_path):
    """Without a chance to save: at the last checkpoint, and without the snapshots behind it."""
    from safetensors.numpy import load_file

    train, _ = trainer
    whole = train("whole", "--passes", "3")
    for checkpoint_seconds in "600", "0":
        program = (
            "import os, signal, sys\n"
            "import finetune_qa\n"
            "from qa import training\n"
            "step = training.Run._train_step\n"
            "def killed(self, rate):\n"
            "    if self.step == 5: os.kill(os.getpid(), signal.SIGKILL)\n"
            "    return step(self, rate)\n"
            "training.Run._train_step = killed\n"
            "finetune_qa.train(finetune_qa.parsed(sys.argv[1:]))\n"
        )
        state = tmp_path / f"killed-{checkpoint_seconds}"
        state.mkdir()
        arguments = train.arguments(state.name, "--passes", "3", "--checkpoint-seconds", checkpoint_seconds)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        run = subprocess.run(
            [sys.executable, "-c", program, *arguments, "--threads", "1"], env=environment, capture_output=True
        )
        assert run.returncode == -signal.SIGKILL, run.stderr
        assert step_of(snapshots(str(state))[-1]) == 4
        assert step_of(latest_checkpoint(str(state))) == (0 if checkpoint_seconds == "600" else 5)
        (state / "weights-000007.safetensors").write_bytes(b"")
        train(state.name, "--passes", "3")
        assert [step_of(path) for path in snapshots(str(state))] == [
            step_of(path) for path in snapshots(str(whole))
        ]
        ours, theirs = (load_file(snapshots(str(directory))[-1]) for directory in (state, whole))
        assert all((ours[name] == theirs[name]).all() for name in ours)


def test_snapshots_of_another_run_are_refused(trainer):
    train, _ = trainer
    state = train("run")
    for path in state.glob("checkpoint-*"):
        path.unlink()
    with pytest.raises(
        SystemExit, match="run has weights of another run, and no checkpoint: choose another --state"
    ):
        train("run", "--learning-rate", "2e-3")


def test_labels_that_change_are_another_run(trainer, tmp_path):
    """The order of the windows is the same."""
    train, _ = trainer
    train("run", stop=2)
    data = tmp_path / "data.jsonl"
    data.write_text(data.read_text().replace('The quick brown fox"', 'The quick brown"'))
    with pytest.raises(SystemExit, match="of another run"):
        train("run")


def test_only_a_run_that_ended_makes_the_model(trainer, tmp_path, monkeypatch):
    """SIGTERM stops it, and leaves the earlier model; what is no model is never replaced."""
    import finetune_qa
    from qa import training

    state, out, data = tmp_path / "run", tmp_path / "model", tmp_path / "data.jsonl"
    lines = [json.loads(line) for line in data.read_text().splitlines()]
    for line in lines:
        line["question"] = "Who jumps?" if line["answers"] else "Why so late?"
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    arguments = [
        "finetune_qa.py", "--data", str(data), "--dev", str(data), "--init", str(FIXTURES / "tiny-bert"), "--out", str(out),
        "--state", str(state), "--cpu", "--batch-tokens", "256", "--max-length", "64", "--overlap", "8", "--learning-rate",
        "1e-3", "--passes", "30", "--dropout", "0", "--snapshot-steps", "5", "--span-temperature", "1", "--long-questions", "0"]  # fmt: skip
    monkeypatch.setattr(sys, "argv", arguments)
    step = training.Run._train_step

    def interrupted(self, rate):
        if self.step == 30:
            os.kill(os.getpid(), signal.SIGTERM)
        return step(self, rate)

    monkeypatch.setattr(training.Run, "_train_step", interrupted)
    handler = signal.getsignal(signal.SIGTERM)
    try:
        out.mkdir()
        with pytest.raises(SystemExit, match="there is no program"):
            monkeypatch.setattr(sys, "argv", [*arguments, "--bertqa", str(tmp_path / "bertqa")])
            finetune_qa.main()
        monkeypatch.setattr(sys, "argv", arguments)
        (out / "notes.txt").touch()
        with pytest.raises(SystemExit, match="is not a model"):
            finetune_qa.main()
        assert latest_checkpoint(str(state)) is None
        (out / "config.json").write_text("{}")
        with pytest.raises(SystemExit, match="the same command goes on"):
            finetune_qa.main()
        # Calibration and export can be stopped.
        assert signal.getsignal(signal.SIGTERM) == handler
        assert step_of(latest_checkpoint(str(state))) == 31 and (out / "notes.txt").exists()
        monkeypatch.setattr(training.Run, "_train_step", step)
        finetune_qa.main()
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert not (out / "notes.txt").exists() and not (tmp_path / "model.part").exists()
    assert "# model: question answering" in (out / "MODEL_CARD.md").read_text()
    assert "calibration" in json.loads((out / "config.json").read_text())["bertqa"]


def test_training_learns(trainer):
    train, _ = trainer
    losses = [line["loss"] for line in log(train("run", "--passes", "30", "--dropout", "0"))]
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5])


def test_a_teacher_and_a_deadline_in_the_past(trainer, tmp_path):
    train, _ = trainer
    losses = [line["loss"] for line in log(train("run", "--teacher", str(FIXTURES / "tiny-bert")))]
    assert losses and all(math.isfinite(loss) for loss in losses)
    late = train("late", "--deadline", "2020-01-01T00:00")
    assert not (late / "log.jsonl").exists() and latest_checkpoint(str(late)).endswith("000000.pt")


def other_vocabulary(tokenizers):
    """tiny-bert's word pieces under other numbers, with MPNet's template."""
    pieces = (FIXTURES / "tiny-bert" / "vocab.txt").read_text().splitlines()
    tokenizer = tokenizers.BertWordPieceTokenizer(
        vocab={name: number for number, name in enumerate(["<s>", "<pad>", "</s>", *pieces])}
    )
    tokenizer._tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer._tokenizer


def test_a_teacher_of_another_vocabulary_scores_the_same_tokens(trainer, tmp_path, monkeypatch):
    """The fake teacher's logits are its ids: 3 more than the student's."""
    import tokenizers
    import torch

    from qa import teacher

    train, Windows = trainer
    windows = Windows.load(str(next(train("run", "--deadline", "2020-01-01T00:00").glob("windows-*.npz"))))
    (tmp_path / "teacher").mkdir()
    other_vocabulary(tokenizers).save(str(tmp_path / "teacher" / "tokenizer.json"))
    monkeypatch.setattr(teacher, "TOKENS_AT_ONCE", 200)
    cpu, reads = torch.device("cpu"), []

    def fake(directory, theirs):
        def read(indices):
            reads.append(list(indices))
            ids, _, candidates, *_ = theirs.batch(indices, 16)
            assert (ids[:, 0] == 0).all() and (ids == 2).sum().item() == 3 * len(indices)
            return torch.stack([ids, -ids]).float(), candidates

        return read

    names = {"teacher": [str(tmp_path / "teacher")], "state": str(tmp_path), "init": str(FIXTURES / "tiny-bert")}
    arguments = argparse.Namespace(**names, length_multiple=16)
    used = range(3, len(windows))
    for _ in range(2):  # computed, then from the file
        found = teacher.teacher_logits(arguments, windows, used, cpu, fake)
        ids, _, candidates, *_ = windows.batch(used, 16)
        logits = found.batch(used, candidates)
        assert (logits[:, ~candidates] == -math.inf).all()
        inside = candidates.clone()
        inside[:, 0] = False
        assert (logits[0][inside] == ids[inside] + 3).all() and (logits[1] == -logits[0])[inside].all()
        assert (logits[:, :, 0] == 0).all()
    assert sorted(index for batch in reads for index in batch) == list(used) and len(reads) > 2

    (tmp_path / "less").mkdir()
    less = json.loads(other_vocabulary(tokenizers).to_str())
    del less["model"]["vocab"]["o"], less["model"]["vocab"]["##o"]
    (tmp_path / "less" / "tokenizer.json").write_text(json.dumps(less))
    with pytest.raises(SystemExit, match="lacks tokens"):
        arguments.teacher = [str(tmp_path / "less")]
        teacher.teacher_logits(arguments, windows, used, cpu, fake)


def test_competing_windows_share_one_softmax(trainer):
    """Each window counts from its own [CLS]; a shift of one window's logits changes nothing, of its [CLS] all."""
    import torch

    from qa.training import of_groups

    inf = math.inf
    logits = torch.tensor([[[1.0, 3.0, 2.0], [4.0, 5.0, -inf]], [[0.0, 1.0, -inf], [2.0, 2.0, 2.0]]])
    rows = of_groups(logits, 2)
    assert rows.tolist() == [[[0, 2, 1, -inf, 1, -inf]], [[0, 1, -inf, -inf, 0, 0]]]
    assert of_groups(logits, 1) is logits
    shifted = logits.clone()
    shifted[:, 1] += 7
    assert torch.equal(of_groups(shifted, 2), rows)


def test_a_run_with_competing_passages(trainer, tmp_path):
    """The batches hold them behind their question's window, and a model learns to prefer the right one."""
    import finetune_qa

    train, _ = trainer
    negatives = tmp_path / "negatives.jsonl"
    # Passages 0 to 4 differ in how often "So it was said." precedes; question 7 has none.
    lines = [
        {"id": str(index), "passages": [(index + 1) % 5, (index + 2) % 5] if index != 7 else []}
        for index in range(24)
    ]
    negatives.write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = ["--negatives", str(negatives), "--negatives-share", "1", "--competing", "2"]
    state = train("run", "--passes", "20", "--dropout", "0", *options)
    losses = [line["loss"] for line in log(state)]
    assert sum(losses[-5:]) < 0.7 * sum(losses[:5])

    arguments = finetune_qa.parsed([
        "--data", str(tmp_path / "data.jsonl"), "--init", str(FIXTURES / "tiny-bert"), "--state", str(state),
        "--max-length", "64", "--overlap", "8", "--batch-tokens", "256", *options])  # fmt: skip
    windows = finetune_qa.prepared(arguments)
    batches = finetune_qa.batches_of(range(windows.trained), windows, arguments)
    table = windows.arrays
    seen = []
    for batch in batches:
        assert batch.shape[1] in (1, 3)
        for index, *others in batch.tolist():
            seen.append(index)
            question = table["questions"][index]
            assert bool(others) == (question != 7)
            for other in others:
                assert other >= windows.trained and table["questions"][other] == question
                assert table["passages"][other] in lines[question]["passages"]
                assert table["starts"][other] == -1
    assert sorted(seen) == list(range(windows.trained))

    # Of other questions, and of more passages.
    for wrong in lines[::-1], [{**line, "passages": [5]} for line in lines]:
        negatives.write_text("".join(json.dumps(line) + "\n" for line in wrong))
        with pytest.raises(SystemExit, match="not of the questions of --data"):
            finetune_qa.prepared(arguments)


def test_what_a_run_keeps_is_of_its_inputs(trainer, tmp_path):
    """Data and teachers that change without another name or size are read again."""
    train, _ = trainer
    teacher = tmp_path / "teacher"
    shutil.copytree(FIXTURES / "tiny-bert", teacher)
    options = "--deadline", "2020-01-01T00:00", "--teacher", str(teacher)

    def kept(pattern):
        # With other inputs it is another run.
        for path in [*(tmp_path / "run").glob("checkpoint-*"), *(tmp_path / "run").glob("weights-*")]:
            path.unlink()
        return set(train("run", *options).glob(pattern))

    windows, teachers = kept("windows-*"), kept("teacher-*")
    assert len(windows) == len(teachers) == 1 and kept("windows-*") == windows
    weights = bytearray((teacher / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (teacher / "model.safetensors").write_bytes(weights)
    assert kept("windows-*") == windows and len(kept("teacher-*")) == 2
    data = tmp_path / "data.jsonl"
    data.write_text(data.read_text().replace("Who jumps?", "Who sings?"))
    assert len(kept("windows-*")) == 2 and len(kept("teacher-*")) == 3


@pytest.mark.parametrize("bf16", [False, True])
def test_the_faster_arithmetic_of_a_cpu(monkeypatch, bf16):
    torch = pytest.importorskip("torch", reason="training/requirements.txt is not installed: no torch")
    from common import arithmetic

    assert arithmetic._bf16_is_faster() in (False, True)
    monkeypatch.setattr(arithmetic, "_bf16_is_faster", lambda: bf16)
    x = torch.ones(4, 4)
    with arithmetic.autocast(torch.device("cpu")):
        assert (x @ x).dtype == (torch.bfloat16 if bf16 else torch.float32)
    assert (x @ x).dtype == torch.float32


@pytest.mark.parametrize(
    "name", ["albert", "bert", "electra", "mobilebert", "mpnet", "roberta", "xlm-roberta-entities"]
)
def test_byte_dropout_is_where_dropout_was(trainer, name):
    import torch
    from transformers import AutoModelForQuestionAnswering

    from common.dropout import ByteDropout
    from qa.training import load_model

    directory = str(FIXTURES / f"tiny-{name}")
    ours = load_model(directory, torch.device("cpu"), 0.1)
    theirs = AutoModelForQuestionAnswering.from_pretrained(
        directory, hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.0
    )
    replaced = {place for place, module in ours.named_modules() if isinstance(module, ByteDropout)}
    assert replaced == {p for p, m in theirs.named_modules() if isinstance(m, torch.nn.Dropout) and m.p == 0.1}
    assert replaced


def test_other_families_are_refused(trainer):
    train, _ = trainer
    with pytest.raises(SystemExit, match="tiny-deberta: a model of the family deberta-v2, not of albert, bert"):
        train("run", "--init", str(FIXTURES / "tiny-deberta"))


@pytest.mark.parametrize("name", ["tiny-bert", "tiny-roberta", "tiny-mpnet"])
def test_windows_that_are_too_long_for_the_model_are_refused(trainer, tmp_path, name):
    from transformers import AutoConfig

    train, _ = trainer
    (tmp_path / "data.jsonl").write_text(json.dumps({"context": FOX * 30, **question("1", "Who jumps?")}) + "\n")
    longest = AutoConfig.from_pretrained(FIXTURES / name).max_position_embeddings - (
        0 if name == "tiny-bert" else 2
    )
    model = "--init", str(FIXTURES / name), "--length-multiple", "1"
    losses = log(train("run", *model, "--max-length", str(longest)))
    assert all(math.isfinite(line["loss"]) for line in losses)
    with pytest.raises(SystemExit, match=f"has positions for {longest} tokens, and windows have {longest + 1}"):
        train("longer", *model, "--max-length", str(longest + 1))


def test_adversarial_embeddings_raise_the_loss_by_moves_of_one_size(trainer):
    """Afterwards the embeddings are unchanged; the padding does not move."""
    import torch

    from common.adversarial import AdversarialEmbeddings
    from qa.training import load_model, logits, loss_of

    train, Windows = trainer
    held = Windows.load(str(next(train("run", "--deadline", "2020-01-01T00:00").glob("windows-*.npz"))))
    ids, types, candidates, starts, ends = held.batch(range(24), 16)
    model = load_model(str(FIXTURES / "tiny-bert"), torch.device("cpu")).eval()
    embeddings = model.get_input_embeddings()
    still = embeddings(ids).detach()

    def loss():
        scores = logits(model, ids, types, candidates, held.layout.pad, torch.device("cpu"))
        return loss_of(scores, torch.stack([starts, ends]), None, 0, 1)

    adversary = AdversarialEmbeddings(embeddings, 0.25)
    before = loss()
    before.backward()
    adversary.move()
    moved = embeddings(ids).detach() - still
    assert moved.flatten(1).norm(dim=1).tolist() == pytest.approx([0.25] * 24, rel=1e-3)
    assert moved[ids == 0].abs().max() < 1e-6
    assert loss().item() > before.item()
    adversary.rest()
    assert (embeddings(ids) == still).all() and loss().item() == before.item()


def test_adversarial_training_learns_something_else(trainer):
    train, _ = trainer
    plain, hard = (log(train(name, "--passes", "30", "--dropout", "0", "--adversarial", size))
                   for name, size in (("plain", "0"), ("hard", "0.1")))  # fmt: skip
    losses = [line["loss"] for line in hard]
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5])
    assert losses[0] == plain[0]["loss"] and losses != [line["loss"] for line in plain]


@pytest.mark.parametrize("progress", [3 / 15, 1.0])
def test_a_deadline_counts_from_where_the_run_goes_on(trainer, progress):
    """Also if a deadline ended the previous run: then from its step on."""
    import torch

    train, _ = trainer
    state = train("run", "--passes", "3", stop=3)
    path = latest_checkpoint(str(state))
    torch.save({**torch.load(path), "seconds": 1e6, "progress": progress}, path)
    hour = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    train("run", "--passes", "3", "--deadline", hour.isoformat())
    for line in log(state):
        assert line["progress"] == pytest.approx(line["step"] / line["of"], abs=0.02)
    assert log(state)[-1]["step"] == 15


def test_labels_point_at_the_answer(trainer, tmp_path):
    from common.models import load_tokenizer

    train, Windows = trainer
    state = train("run", "--deadline", "2020-01-01T00:00")
    held = Windows.load(str(next(state.glob("windows-*.npz"))))
    ids, types, candidates, starts, ends = held.batch(range(24), 16)
    assert ids.shape[1] % 16 == 0 and candidates[:, 0].all() and not candidates[ids == 0].any()
    tokenizer = load_tokenizer(str(FIXTURES / "tiny-bert"))
    answer = tokenizer.encode("The quick brown fox", add_special_tokens=False).ids
    for index in range(24):
        if index % 3 == 0:
            assert starts[index] == ends[index] == 0
        elif starts[index]:
            assert ids[index, starts[index] : ends[index] + 1].tolist() == answer
            assert candidates[index, starts[index]] and types[index, ends[index]] == 1
    assert (starts > 0).sum() >= 8
