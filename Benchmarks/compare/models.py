"""The models as each engine takes them, made once under build/bench."""

import json
import shutil
import subprocess

import numpy as np

from staged import ROOT, TOOL

MADE = ROOT / "build" / "bench"
DEFAULT = ROOT / "models" / "qa-minilm-l6"


def made(path, make):
    """`path`, which `make` makes under another name first, so that an interrupted run leaves nothing half done."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name("partial-" + path.name)
        if partial.is_dir():
            shutil.rmtree(partial)
        make(partial)
        partial.rename(path)
    return path


def checkpoint(name):
    """A float32 checkpoint: `minilm`, the default model's numbers; `base`, BERT-base's size, random; the others are
    of transformers_models, random too."""
    makers = {"minilm": _dequantized, "base": _random_base}
    return made(MADE / name / "f32", makers.get(name) or (lambda directory: _random_family(name, directory)))


def int8_form(name):
    """The same model in libbertqa's int8 form."""
    if name == "minilm":
        return DEFAULT

    return quantized(checkpoint(name))


def quantized(directory):
    """The int8 form of a model, beside it."""

    def make(new):
        subprocess.run([TOOL, "quantize", directory, new], check=True, stdout=subprocess.DEVNULL)

    return made(directory.with_name("int8"), make)


def onnx_file(name, masked, int8=False):
    """An ONNX graph, for peers; int8 by ONNX Runtime's dynamic quantisation."""
    kind = ("masked" if masked else "plain") + ("-int8" if int8 else "")

    def make(path):
        if not int8:
            if name in ("minilm", "base"):
                from .onnx_graph import build

                build(checkpoint(name), path, masked)
            else:
                from .transformers_models import export

                export(name, path)
            return
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(
            onnx_file(name, masked), path, per_channel=True, reduce_range=False, weight_type=QuantType.QInt8
        )

    return made(MADE / name / f"{kind}.onnx", make)


def openvino_int8(name, masked, windows):
    """An OpenVINO model after NNCF's post-training quantisation, calibrated on `windows`."""

    def make(directory):
        import nncf
        import openvino as ov

        model = ov.Core().read_model(onnx_file(name, masked))
        names = {each for given in model.inputs for each in given.names}
        keys = ("input_ids", "token_type_ids", "attention_mask")
        feeds = [{k: v for k, v in zip(keys, arrays([w], masked)) if k in names} for w in windows]
        quantized = nncf.quantize(
            model, nncf.Dataset(feeds), model_type=nncf.ModelType.TRANSFORMER, subset_size=len(feeds)
        )
        directory.mkdir()
        ov.save_model(quantized, directory / "model.xml", compress_to_fp16=False)

    return made(MADE / name / f"openvino-{'masked' if masked else 'plain'}-int8", make) / "model.xml"


def ctranslate2(name, precision):
    def make(directory):
        from ctranslate2.converters import TransformersConverter

        kind = "int8" if precision == "int8" else "float32"
        TransformersConverter(str(checkpoint(name))).convert(str(directory), quantization=kind)

    return made(MADE / name / f"ctranslate2-{precision}", make)


def arrays(windows, masked):
    """input_ids, token_type_ids and, where masked, attention_mask, int64 [windows, longest], padded."""
    longest = max(len(ids) for ids, _ in windows)
    ids, types, mask = (np.zeros((len(windows), longest), np.int64) for _ in range(3))
    for row, (window, second) in enumerate(windows):
        ids[row, : len(window)] = window
        types[row, second : len(window)] = 1
        mask[row, : len(window)] = 1
    return (ids, types, mask) if masked else (ids, types)


def _dequantized(directory):
    from safetensors.numpy import load_file, save_file

    stored = load_file(DEFAULT / "model.safetensors")
    weights = {}
    for name, value in stored.items():
        if value.dtype == np.int8:
            weights[name] = value.astype(np.float32) * stored[name + "_scale"][:, None]
        elif not name.endswith(("_scale", "_sum")):
            weights[name] = value.astype(np.float32)
    config = json.loads((DEFAULT / "config.json").read_text())
    config["torch_dtype"] = "float32"
    del config["bertqa"]["weight_format"]
    _write(directory, config, weights, save_file)


def _random_base(directory):
    from safetensors.numpy import save_file

    config = json.loads((DEFAULT / "config.json").read_text())
    hidden, intermediate = 768, 3072
    config.update(hidden_size=hidden, num_hidden_layers=12, intermediate_size=intermediate, torch_dtype="float32")
    del config["bertqa"]
    random = np.random.default_rng(1)
    weights = {}

    def matrix(name, rows, columns, bias=True):
        weights[name + ".weight"] = random.normal(0, 0.02, (rows, columns)).astype(np.float32)
        if bias:
            weights[name + ".bias"] = random.normal(0, 0.02, rows).astype(np.float32)

    def norm(name):
        weights[name + ".weight"] = np.ones(hidden, np.float32)
        weights[name + ".bias"] = np.zeros(hidden, np.float32)

    for name, rows in ("word", config["vocab_size"]), ("position", 512), ("token_type", 2):
        matrix(f"bert.embeddings.{name}_embeddings", rows, hidden, bias=False)
    norm("bert.embeddings.LayerNorm")
    for layer in range(config["num_hidden_layers"]):
        prefix = f"bert.encoder.layer.{layer}."
        for name in "query", "key", "value":
            matrix(f"{prefix}attention.self.{name}", hidden, hidden)
        matrix(prefix + "attention.output.dense", hidden, hidden)
        norm(prefix + "attention.output.LayerNorm")
        matrix(prefix + "intermediate.dense", intermediate, hidden)
        matrix(prefix + "output.dense", hidden, intermediate)
        norm(prefix + "output.LayerNorm")
    matrix("qa_outputs", 2, hidden)
    _write(directory, config, weights, save_file)


def _random_family(name, directory):
    from .transformers_models import save

    save(name, directory)
    for file in "vocab.txt", "tokenizer_config.json":
        shutil.copy(DEFAULT / file, directory)


def _write(directory, config, weights, save_file):
    directory.mkdir()
    (directory / "config.json").write_text(json.dumps(config, indent=2))
    for name in "vocab.txt", "tokenizer_config.json":
        shutil.copy(DEFAULT / name, directory)
    save_file(weights, directory / "model.safetensors", {"format": "pt"})


def trained_tokenizer(kind):
    """A tokenizer trained on the texts that are measured on and on the data beside the checkout, if it is there."""
    return made(MADE / "tokenizers" / kind.replace(" ", "-"), TRAINERS[kind])


def _training_texts():
    from . import data

    texts = data.paragraphs(data.pairs()[0]) + [sentence * 20 for sentence in data.LANGUAGES.values()]
    return texts + [text for _, text in data.multilingual()]


def _byte_pair(directory):
    from tokenizers import Tokenizer, pre_tokenizers, processors, trainers
    from tokenizers import models as pieces

    tokenizer = Tokenizer(pieces.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=50000, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    tokenizer.train_from_iterator(_training_texts(), trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, False)
    directory.mkdir()
    tokenizer.save(str(directory / "tokenizer.json"))


def _unigram(directory):
    """With the steps of XLM-RoBERTa's, NFKC in place of its precompiled form."""
    from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors, trainers
    from tokenizers import models as pieces

    tokenizer = Tokenizer(pieces.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    trainer = trainers.UnigramTrainer(
        vocab_size=30000, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], unk_token="<unk>",
        show_progress=False,
    )  # fmt: skip
    tokenizer.train_from_iterator(_training_texts(), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    directory.mkdir()
    tokenizer.save(str(directory / "tokenizer.json"))


TRAINERS = {"byte-level BPE": _byte_pair, "Unigram": _unigram}
