"""Recurrent models against PyTorch, live: random ones of several shapes, and the default model.

Probabilities and states are at most 1e-5 apart from those of PyTorch in f32, and logits from those in double
precision, which PyTorch's own f32 misses by as much on long sequences.
"""

import json
import pathlib

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import bertqa
from bertqa._context import INSTRUCTION_SETS

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOLERANCE = 1e-5
BATCH, STEPS = 9, 25
MODELS = {
    # name: (architecture, vocabulary, embedding, hidden, layers, type, tied, bias)
    "lstm": ("LSTMLanguageModel", 1000, 128, 256, 1, torch.float16, False, True),
    "lstm deep": ("LSTMLanguageModel", 300, 100, 150, 3, torch.float32, False, True),
    "lstm tied": ("LSTMLanguageModel", 500, 192, 192, 2, torch.bfloat16, True, True),
    "gru": ("GRULanguageModel", 1000, 64, 320, 1, torch.float32, False, True),
    "gru deep": ("GRULanguageModel", 301, 77, 129, 2, torch.float16, False, False),
}


class Reference:
    """The model of a directory in PyTorch."""

    def __init__(self, directory, dtype):
        config = json.loads((directory / "config.json").read_text())
        weights = {key: value.to(dtype) for key, value in load_file(directory / "model.safetensors").items()}
        kind = "gru" if config["architectures"][0].startswith("GRU") else "lstm"
        make = torch.nn.GRU if kind == "gru" else torch.nn.LSTM
        self.recurrent = make(
            config["embedding_size"],
            config["hidden_size"],
            config["num_hidden_layers"],
            bias=f"{kind}.bias_ih_l0" in weights,
        ).to(dtype)
        own = {key[len(kind) + 1 :]: value for key, value in weights.items() if key.startswith(kind + ".")}
        self.recurrent.load_state_dict(own)
        self.embedding = weights["embedding.weight"]
        self.decoder = weights.get("decoder.weight", self.embedding)
        self.bias = weights.get("decoder.bias", 0)

    @torch.no_grad()
    def step(self, ids, state):
        output, state = self.recurrent(self.embedding[ids][None], state)
        return output[0] @ self.decoder.T + self.bias, state

    @staticmethod
    def flat(state):
        """[sequence][state] in the library's layout."""
        parts = state if isinstance(state, tuple) else (state,)
        return torch.cat([part.transpose(0, 1).flatten(1) for part in parts], 1).numpy()


@pytest.fixture(scope="module", params=[*MODELS, "shakespeare-lstm"])
def directory(request, tmp_path_factory):
    if request.param not in MODELS:
        return ROOT / "models" / request.param
    architecture, vocabulary, embedding, hidden, layers, dtype, tied, bias = MODELS[request.param]
    kind = "gru" if architecture.startswith("GRU") else "lstm"
    generator = torch.Generator().manual_seed(len(request.param))
    module = (torch.nn.GRU if kind == "gru" else torch.nn.LSTM)(embedding, hidden, layers, bias=bias)
    shapes = {f"{kind}.{name}": value.shape for name, value in module.state_dict().items()}
    shapes |= {"embedding.weight": (vocabulary, embedding), "decoder.bias": (vocabulary,)}
    if not tied:
        shapes["decoder.weight"] = (vocabulary, hidden)
    path = tmp_path_factory.mktemp("recurrent")
    # Gates leave their linear range, but rounding errors do not grow from step to step.
    scale = {"embedding.weight": 1.0 if not tied else 0.5, "decoder.weight": 0.5}
    inner = (1.2 if kind == "gru" else 1.8) / hidden**0.5
    save_file(
        {
            name: (scale.get(name, inner) * torch.randn(shape, generator=generator)).to(dtype)
            for name, shape in shapes.items()
        },
        path / "model.safetensors",
    )
    (path / "vocab.txt").write_text("".join(f"word{i}\n" for i in range(vocabulary)))
    (path / "config.json").write_text(
        json.dumps(
            {
                "architectures": [architecture],
                "vocab_size": vocabulary,
                "embedding_size": embedding,
                "hidden_size": hidden,
                "num_hidden_layers": layers,
                "tie_word_embeddings": tied,
            }
        )
    )
    return path


def isas():
    for isa in INSTRUCTION_SETS[1:]:
        try:
            bertqa.Context(task="predict", isa=isa).close()
            yield isa
        except bertqa.Unsupported:
            pass


def test_sequences(directory):
    single, double = Reference(directory, torch.float32), Reference(directory, torch.float64)
    for isa in isas():
        with bertqa.Context(directory, isa=isa) as context:
            generator = torch.Generator().manual_seed(1)
            ours = theirs = exact = None
            for _ in range(STEPS):
                ids = torch.randint(0, context.info.vocabulary_size, (BATCH,), generator=generator)
                ours, logits = context.step(ids.tolist(), ours)
                in_single, theirs = single.step(ids, theirs)
                in_double, exact = double.step(ids, exact)
                assert in_double.abs().max() > 1, "the reference must not be trivial"
                found = torch.from_numpy(np.array(logits))
                assert (found - in_double).abs().max() <= TOLERANCE
                apart = found.double().softmax(1) - in_single.double().softmax(1)
                assert apart.abs().max() <= TOLERANCE
                values = np.array([state.values for state in ours])
                for state in (theirs, exact):
                    # An LSTM's c is not bounded: f32 rounds large values by more.
                    expected = Reference.flat(state)
                    assert (np.abs(values - expected) / np.maximum(1, np.abs(expected))).max() <= TOLERANCE


def test_likelihood_is_the_cross_entropy(directory):
    reference = Reference(directory, torch.float64)
    with bertqa.Context(directory) as context:
        ids = torch.randint(2, context.info.vocabulary_size, (150,), generator=torch.Generator().manual_seed(2))
        words = [context.piece(id) for id in ids.tolist()]
        state, sum = None, 0.0
        for id, following in zip(ids[:-1], ids[1:]):
            logits, state = reference.step(id[None], state)
            sum -= torch.nn.functional.cross_entropy(logits, following[None]).item()
        # One word at a time, because the splitter would divide some of them in a text.
        kept = None
        total = 0.0
        for word, following in zip(words, words[1:]):
            prediction = context.predict(word, kept, top_k=1)
            kept = prediction.state
            total += np.log(prediction.probabilities[context.piece_id(following)])
        assert abs(total - sum) <= 1e-5 * len(words)
