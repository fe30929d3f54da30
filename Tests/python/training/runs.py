"""Runs of training/finetune_qa.py on a tiny model."""

import json

import pytest

from conftest import FIXTURES
from questions import question
from samples import FOX


@pytest.fixture(name="trainer")
def trainer_fixture(tmp_path):
    """A function that trains a tiny model and returns the arguments' state directory."""
    torch = pytest.importorskip("torch", reason="training/requirements.txt is not installed: no torch")
    pytest.importorskip("transformers", reason="training/requirements.txt is not installed: no transformers")
    import finetune_qa
    from qa.tokenized import Windows

    data = tmp_path / "data.jsonl"
    with open(data, "w") as file:
        for index in range(24):
            text = f"{'So it was said. ' * (index % 5)}{FOX}"
            start = text.index("The quick")
            answers = [] if index % 3 == 0 else [("The quick brown fox", start)]
            print(json.dumps({"context": text, "source": "foxes", **question(str(index), "Who jumps?", *answers)}),
                  file=file)  # fmt: skip

    def arguments_of(state, *more):
        return [
            "--data", str(data), "--init", str(FIXTURES / "tiny-bert"), "--state", str(tmp_path / state), "--cpu",
            "--batch-tokens", "256", "--max-length", "64", "--overlap", "8", "--learning-rate", "1e-3",
            "--warmup-steps", "2", "--log-steps", "1", "--snapshot-steps", "2", *more]  # fmt: skip

    def train(state, *more, stop=None):
        arguments = finetune_qa.parsed(arguments_of(state, *more))
        (tmp_path / state).mkdir(exist_ok=True)
        if stop is None:
            finetune_qa.train(arguments)
            return tmp_path / state
        from qa import training

        step = training.Run._train_step

        def stopping(self, rate):
            loss = step(self, rate)
            self.stopped = self.step == stop
            return loss

        training.Run._train_step = stopping
        try:
            finetune_qa.train(arguments)
        finally:
            training.Run._train_step = step
        return tmp_path / state

    train.arguments = arguments_of
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield train, Windows
    torch.set_num_threads(threads)


def log(state):
    return [json.loads(line) for line in (state / "log.jsonl").read_text().splitlines()]
