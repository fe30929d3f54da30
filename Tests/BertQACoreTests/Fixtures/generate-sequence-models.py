"""Makes tiny recurrent language models with random weights, and what PyTorch says of them.

    pip install torch==2.13.0 safetensors==0.8.0 numpy==2.4.6
    python generate-sequence-models.py

Writes beside itself, for each model NAME, the directory NAME/ and NAME/expected.json:

    {"sequences": [{"ids": [...],
                    "logits": [[...], ...],    after each word: [vocabulary]
                    "state": [...]}]}          after the last: for each layer h, then for each layer c

PyTorch computes in double precision, from the weights as they are stored.
"""

import json
import pathlib

import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).parent
LENGTHS = [1, 2, 30, 7]
WORDS = """, . ; ? ! — the of O Romeo Juliet night is not good star-cross'd lovers' parents' parents I'll death
Heart's thou love banished what news soft light""".split()
CHARACTERS = [r"\n", r"\t", " ", "\\", "é", "🦊", "n"] + list("abcdefghijklm'’.,")
MODELS = {
    # name: (architecture, embedding, hidden, layers, type, vocabulary, other settings)
    "tiny-lstm": ("LSTMLanguageModel", 12, 20, 2, torch.float32, WORDS, {}),
    "tiny-gru": ("GRULanguageModel", 16, 24, 2, torch.float16, WORDS, {}),
    "tiny-lstm-no-bias": ("LSTMLanguageModel", 5, 9, 1, torch.bfloat16, WORDS, {"bias": False}),
    "tiny-lstm-characters": (
        "LSTMLanguageModel",
        18,
        18,
        1,
        torch.float32,
        CHARACTERS,
        {"tie_word_embeddings": True, "tokenization": "char"},
    ),
}


def make(name, architecture, embedding_size, hidden_size, layers, dtype, words, settings):
    vocabulary = ["<unk>", "</s>", *words]
    size, generator = len(vocabulary), torch.Generator().manual_seed(len(name))
    kind = "gru" if architecture.startswith("GRU") else "lstm"
    has_bias, tied = settings.get("bias", True), settings.get("tie_word_embeddings", False)
    module = (torch.nn.GRU if kind == "gru" else torch.nn.LSTM)(embedding_size, hidden_size, layers, bias=has_bias)
    shapes = {"embedding.weight": (size, embedding_size)}
    shapes |= {f"{kind}.{key}": value.shape for key, value in module.state_dict().items()}
    if not tied:
        shapes["decoder.weight"] = (size, hidden_size)
    if has_bias:
        shapes["decoder.bias"] = (size,)
    # Large enough that gates leave their linear range and the softmax is far from even; small enough that
    # rounding errors do not grow from step to step.
    tensors = {
        key: (torch.randn(shape, generator=generator) * (1.6 / shape[-1] ** 0.5 if "_" in key else 0.9)).to(dtype)
        for key, shape in shapes.items()
    }
    directory = HERE / name
    directory.mkdir(exist_ok=True)
    save_file(tensors, directory / "model.safetensors", metadata={"format": "pt"})
    config = {
        "architectures": [architecture],
        "model_type": kind,
        "vocab_size": size,
        "embedding_size": embedding_size,
        "hidden_size": hidden_size,
        "num_hidden_layers": layers,
        "unk_token": "<unk>",
        "eos_token": "</s>",
        "tokenization": "word",
        **settings,
    }
    (directory / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    (directory / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")

    tensors = {key: value.double() for key, value in tensors.items()}
    module = module.double()
    prefix = kind + "."
    module.load_state_dict({key[len(prefix) :]: value for key, value in tensors.items() if key.startswith(prefix)})
    decoder = tensors["embedding.weight"] if tied else tensors["decoder.weight"]
    bias = tensors.get("decoder.bias", torch.zeros(size).double())
    sequences = []
    with torch.no_grad():
        for length in LENGTHS:
            ids = torch.randint(0, size, (length,), generator=generator)
            output, state = module(tensors["embedding.weight"][ids])
            state = state if kind == "lstm" else (state,)
            sequences.append(
                {
                    "ids": ids.tolist(),
                    "logits": [[round(x, 7) for x in row] for row in (output @ decoder.T + bias).tolist()],
                    "state": [round(x, 8) for part in state for x in part.flatten().tolist()],
                }
            )
    (directory / "expected.json").write_text(json.dumps({"sequences": sequences}) + "\n")


for name, arguments in MODELS.items():
    make(name, *arguments)
