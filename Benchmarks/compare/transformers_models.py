"""Models of other families at their base sizes, random, and their ONNX graphs."""

import importlib
import json
import pathlib
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "Tests" / "BertQACoreTests" / "Fixtures"
# Where a number is not here it is that of the configuration class, which has those of the base model.
SPECIAL = {"pad_token_id": 0, "cls_token_id": 2, "bos_token_id": 2, "sep_token_id": 3, "eos_token_id": 3}
BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
VOCABULARY = {"vocab_size": 30_522}  # of the default model's tokenizer
KINDS = {
    "roberta": ("Roberta", {"max_position_embeddings": 514, "type_vocab_size": 1, "layer_norm_eps": 1e-5}),
    "mpnet": ("MPNet", {"max_position_embeddings": 514}),
    "deberta-v1": (
        "Deberta",
        {
            "type_vocab_size": 0,
            "relative_attention": True,
            "max_relative_positions": -1,
            "pos_att_type": ["c2p", "p2c"],
            "position_biased_input": False,
        },
    ),
    "deberta": (
        "DebertaV2",
        {
            **BASE,
            "vocab_size": 128_100,
            "type_vocab_size": 0,
            "relative_attention": True,
            "position_buckets": 256,
            "max_relative_positions": -1,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_biased_input": False,
        },
    ),
    "modernbert": ("ModernBert", SPECIAL),
    "mobilebert": ("MobileBert", {}),
    "nomic": ("NomicBert", {"max_position_embeddings": 8192}),
    "gte": ("Gte", {"vocab_size": 30_528, "pad_token_id": 0}),
    "jina": ("JinaBert", BASE),
    "jina-v3": (
        "JinaV3",
        {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096},
    ),
    "longformer": ("Longformer", {"max_position_embeddings": 4098, "type_vocab_size": 1, "layer_norm_eps": 1e-5}),
    "colbert": ("Bert", VOCABULARY),
    "splade": ("Bert", VOCABULARY),
}


def make(name):
    """The model of a name, each time with the same weights. "gte@3" has three layers."""
    torch.manual_seed(1)
    name, _, layers = name.partition("@")
    prefix, settings = KINDS[name]
    if layers:
        settings = {**settings, "num_hidden_layers": int(layers)}
    if name in REFERENCES:
        return REFERENCES[name](settings)
    config = getattr(transformers, prefix + "Config")(**settings)
    if name in OUTPUTS:
        return OUTPUTS[name](config)
    return (Answering if hasattr(transformers, prefix + "ForQuestionAnswering") else Spans)(prefix, config)


def of(kind, config):
    return getattr(transformers, kind)._from_config(config, attn_implementation="eager").eval()


class Answering(torch.nn.Module):
    """A function of ids alone: of one window, or of several of one length."""

    names = ("start_logits", "end_logits")

    def __init__(self, prefix, config):
        super().__init__()
        self.model = of(prefix + "ForQuestionAnswering", config)

    def forward(self, input_ids):
        output = self.model(input_ids=input_ids)
        return output.start_logits, output.end_logits

    def save(self, directory):
        self.model.save_pretrained(directory)


class Spans(torch.nn.Module):
    """The same for families of which transformers has no such class: the encoder and a linear layer."""

    names = Answering.names

    def __init__(self, prefix, config):
        super().__init__()
        self.prefix, self.model = prefix, of(prefix + "Model", config)
        self.qa_outputs = torch.nn.Linear(config.hidden_size, 2)

    def hidden(self, input_ids):
        return self.model(input_ids=input_ids).last_hidden_state

    def forward(self, input_ids):
        return self.qa_outputs(self.hidden(input_ids)).unbind(dim=-1)

    def save(self, directory):
        self.model.save_pretrained(directory)
        head = {f"qa_outputs.{name}": tensor for name, tensor in self.qa_outputs.state_dict().items()}
        tensors = load_file(directory / "model.safetensors") | head
        save_file(tensors, directory / "model.safetensors", {"format": "pt"})
        edit(directory / "config.json", architectures=[self.prefix + "ForQuestionAnswering"])


class Jina(Spans):
    """By the reference of the tests: transformers has no such model."""

    def __init__(self, settings):
        torch.nn.Module.__init__(self)
        sys.path.insert(0, str(FIXTURES))
        module = importlib.import_module("jina_bert")
        width, layers, heads, inner = settings.values()
        self.prefix, self.model = "JinaBert", module.JinaBert(30_528, width, layers, heads, inner).eval()
        self.model.save_pretrained = self.model.save
        self.qa_outputs = torch.nn.Linear(width, 2)

    def hidden(self, input_ids):
        return self.model(input_ids[0], torch.zeros_like(input_ids[0])).unsqueeze(0)


class JinaV3(torch.nn.Module):
    """The same, for vectors of tokens, and without the adapters of a task."""

    names = ("vectors",)

    def __init__(self, settings):
        super().__init__()
        sys.path.insert(0, str(FIXTURES))
        module = importlib.import_module("jina_v3")
        width, layers, heads, inner = settings.values()
        self.model = module.JinaV3(VOCABULARY["vocab_size"], width, layers, heads, inner).eval()

    def forward(self, input_ids):
        return self.model(input_ids[0]).unsqueeze(0)

    def save(self, directory):
        self.model.save(directory)


class LateInteraction(torch.nn.Module):
    """As ColBERT's authors write it: vectors of tokens."""

    names = ("vectors",)

    def __init__(self, config):
        super().__init__()
        self.model = of("BertModel", config)
        self.linear = torch.nn.Linear(config.hidden_size, 128, bias=False)

    def forward(self, input_ids):
        return torch.nn.functional.normalize(
            self.linear(self.model(input_ids=input_ids).last_hidden_state), dim=-1
        )

    def save(self, directory):
        self.model.save_pretrained(directory)
        tensors = {f"bert.{name}": tensor for name, tensor in self.model.state_dict().items()}
        save_file(
            tensors | {"linear.weight": self.linear.weight.detach()},
            directory / "model.safetensors",
            {"format": "pt"},
        )
        edit(directory / "config.json", architectures=["HF_ColBERT"])
        settings = {"query_token_id": "[unused0]", "doc_token_id": "[unused1]", "query_maxlen": 32}
        edit(directory / "artifact.metadata", **settings, doc_maxlen=512, dim=128, similarity="cosine")


class Sparse(torch.nn.Module):
    """As sentence-transformers writes SPLADE: weights of pieces."""

    names = ("weights",)

    def __init__(self, config):
        super().__init__()
        self.model = of("BertForMaskedLM", config)

    def forward(self, input_ids):
        return torch.log1p(torch.relu(self.model(input_ids=input_ids).logits)).amax(dim=1)

    def save(self, directory):
        self.model.save_pretrained(directory)
        package = "sentence_transformers.sparse_encoder.models"
        modules = [("", f"{package}.MLMTransformer"), ("1_SpladePooling", f"{package}.SpladePooling")]
        listed = [
            {"idx": index, "name": str(index), "path": path, "type": kind}
            for index, (path, kind) in enumerate(modules)
        ]
        (directory / "modules.json").write_text(json.dumps(listed))
        (directory / "1_SpladePooling").mkdir()
        edit(directory / "1_SpladePooling" / "config.json", pooling_strategy="max", activation_function="relu")


OUTPUTS = {"colbert": LateInteraction, "splade": Sparse}
REFERENCES = {"jina": Jina, "jina-v3": JinaV3}


def edit(path, **changes):
    settings = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(settings | changes))


def save(name, directory):
    directory.mkdir()
    make(name).save(directory)


def export(name, path):
    model = make(name).eval()
    axes = {0: "batch", 1: "tokens"}
    # The graph is what these ids make the model compute: longer than what a local layer sees, so that its mask is there.
    torch.onnx.export(
        model,
        (torch.randint(5, 1000, (1, 300)),),
        str(path),
        input_names=["input_ids"],
        output_names=list(model.names),
        dynamic_axes={each: axes for each in ("input_ids", *model.names)},
        opset_version=17,
        dynamo=False,
    )
    check(model, path)


def check(model, path):
    """The graph gives the model's numbers at other lengths too."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for length in 64, 400:
        ids = torch.randint(5, 1000, (1, length))
        with torch.no_grad():
            output = model(ids)
        expected = (output if torch.is_tensor(output) else output[0]).numpy()
        error = abs(session.run(None, {"input_ids": ids.numpy()})[0] - expected).max()
        if not error < 1e-3:
            raise RuntimeError(f"the exported graph is {error} off at {length} tokens")
