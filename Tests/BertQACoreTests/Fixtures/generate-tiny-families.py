"""Makes tiny checkpoints of the families that descend from BERT, and what transformers says of them.

    python generate-tiny-families.py [NAME...]

The files and their forms are those of generate-tiny-models.py, which this uses: a directory for each of MODELS.
"""

import importlib
import json
import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AlbertForQuestionAnswering,
    AlbertForSequenceClassification,
    AlbertForTokenClassification,
    AlbertModel,
    BertTokenizer,
    CamembertForSequenceClassification,
    DebertaForQuestionAnswering,
    DebertaForSequenceClassification,
    DebertaModel,
    DebertaV2ForQuestionAnswering,
    DebertaV2ForSequenceClassification,
    DebertaV2ForTokenClassification,
    DebertaV2Model,
    ElectraForQuestionAnswering,
    ElectraForSequenceClassification,
    ElectraForTokenClassification,
    ElectraModel,
    LongformerForQuestionAnswering,
    LongformerForSequenceClassification,
    LongformerForTokenClassification,
    LongformerModel,
    MobileBertForQuestionAnswering,
    MobileBertForSequenceClassification,
    MobileBertForTokenClassification,
    MobileBertModel,
    MPNetForQuestionAnswering,
    MPNetForSequenceClassification,
    MPNetForTokenClassification,
    MPNetModel,
    RobertaForQuestionAnswering,
    XLMRobertaForTokenClassification,
    XLMRobertaModel,
)

sys.path.insert(0, str(pathlib.Path(__file__).parent))
tiny = importlib.import_module("generate-tiny-models")
import tiny_tokenizers  # noqa: E402

LENGTH_SETS = [[9], [64], [16, 16], [5, 17, 60, 9, 33], [12, 3, 50, 4, 31, 7, 48, 15]]
DISENTANGLED = {"relative_attention": True, "position_biased_input": False, "type_vocab_size": 0}
MODELS = {
    "tiny-roberta": (RobertaForQuestionAnswering, torch.float16, {}),
    "tiny-camembert-classifier": (
        CamembertForSequenceClassification,
        torch.float32,
        {"hidden_act": "silu", "num_labels": 3, "type_vocab_size": 2},
    ),
    "tiny-xlm-roberta-entities": (
        XLMRobertaForTokenClassification,
        torch.bfloat16,
        {"id2label": dict(enumerate(tiny.TAGS)), "pad_token_id": 12},  # the full stop
    ),
    "tiny-xlm-roberta-embedder": (XLMRobertaModel, torch.float16, {"hidden_act": "relu"}),
    "tiny-electra": (ElectraForQuestionAnswering, torch.bfloat16, {"embedding_size": 12}),
    "tiny-electra-classifier": (
        ElectraForSequenceClassification,
        torch.float16,
        {"embedding_size": 16, "num_labels": 1, "hidden_act": "relu"},  # not projected
    ),
    "tiny-electra-entities": (
        ElectraForTokenClassification,
        torch.float32,
        {"embedding_size": 8, "id2label": dict(enumerate(tiny.TAGS))},
    ),
    # Wider than all else.
    "tiny-electra-embedder": (ElectraModel, torch.bfloat16, {"embedding_size": 48}),
    "tiny-albert": (
        AlbertForQuestionAnswering,
        torch.float16,
        {"embedding_size": 12, "num_hidden_layers": 3, "num_hidden_groups": 2},
    ),
    "tiny-albert-classifier": (
        AlbertForSequenceClassification,
        torch.float32,
        {
            "seed": 201,
            "embedding_size": 8,
            "inner_group_num": 2,
            "num_labels": 4,
            "problem_type": "multi_label_classification",
        },
    ),
    "tiny-albert-entities": (
        AlbertForTokenClassification,
        torch.float16,
        {"embedding_size": 8, "id2label": dict(enumerate(tiny.TAGS)), "hidden_act": "gelu_fast"},
    ),
    "tiny-albert-embedder": (
        AlbertModel,
        torch.bfloat16,
        {"embedding_size": 16, "hidden_act": "gelu_pytorch_tanh"},
    ),
    # Distances beyond those that share the last bucket.
    "tiny-mpnet": (MPNetForQuestionAnswering, torch.float16, {"max_position_embeddings": 202}),
    "tiny-mpnet-classifier": (MPNetForSequenceClassification, torch.float32, {"num_labels": 3}),
    "tiny-mpnet-entities": (MPNetForTokenClassification, torch.bfloat16, {"id2label": dict(enumerate(tiny.TAGS))}),
    "tiny-mpnet-embedder": (MPNetModel, torch.float16, {}),
    # Version 3.
    "tiny-deberta": (
        DebertaV2ForQuestionAnswering,
        torch.float16,
        DISENTANGLED
        | {
            "max_position_embeddings": 200,
            "max_relative_positions": 100,
            "position_buckets": 16,
            "share_att_key": True,
            "norm_rel_ebd": "layer_norm",
            "pos_att_type": ["p2c", "c2p"],
        },
    ),
    # Version 2, with features that published checkpoints lack: positions in the embeddings, token types, a vector for
    # each distance.
    "tiny-deberta-classifier": (
        DebertaV2ForSequenceClassification,
        torch.float32,
        DISENTANGLED
        | {
            "num_labels": 3,
            "type_vocab_size": 2,
            "position_biased_input": True,
            "pos_att_type": ["c2p", "p2c"],
            "pooler_hidden_act": "tanh",
        },
    ),
    "tiny-deberta-entities": (
        DebertaV2ForTokenClassification,
        torch.bfloat16,
        DISENTANGLED | {"id2label": dict(enumerate(tiny.TAGS)), "position_buckets": 8, "pos_att_type": ["c2p"]},
    ),
    "tiny-deberta-embedder": (
        DebertaV2Model,
        torch.float16,
        DISENTANGLED | {"position_buckets": 12, "share_att_key": True, "pos_att_type": ["p2c"]},
    ),
    # DeBERTa's version 1: a vector for each distance, those beyond 20 alike.
    "tiny-deberta-v1": (
        DebertaForQuestionAnswering,
        torch.float32,
        DISENTANGLED
        | {"max_position_embeddings": 200, "max_relative_positions": 20, "pos_att_type": ["p2c", "c2p"]},
    ),
    "tiny-deberta-v1-classifier": (
        DebertaForSequenceClassification,
        torch.float16,
        DISENTANGLED | {"num_labels": 3, "pos_att_type": ["c2p"], "position_biased_input": True},
    ),
    "tiny-deberta-v1-embedder": (DebertaModel, torch.bfloat16, DISENTANGLED | {"pos_att_type": ["c2p", "p2c"]}),
    # As published: queries and keys from a bottleneck of their own, and norms that only scale and shift.
    "tiny-mobilebert": (
        MobileBertForQuestionAnswering,
        torch.float16,
        {"embedding_size": 12, "intra_bottleneck_size": 16, "num_feedforward_networks": 3},
    ),
    "tiny-mobilebert-classifier": (
        MobileBertForSequenceClassification,
        torch.float32,
        {
            "embedding_size": 8,
            "intra_bottleneck_size": 8,
            "use_bottleneck_attention": True,
            "normalization_type": "layer_norm",
            "num_labels": 3,
            "hidden_act": "gelu",
        },
    ),
    "tiny-mobilebert-entities": (
        MobileBertForTokenClassification,
        torch.bfloat16,
        {
            "embedding_size": 8,
            "use_bottleneck": False,
            "num_feedforward_networks": 1,
            "id2label": dict(enumerate(tiny.TAGS)),
        },
    ),
    # Wider between its bottlenecks than outside.
    "tiny-mobilebert-embedder": (
        MobileBertModel,
        torch.bfloat16,
        {
            "embedding_size": 40,
            "intra_bottleneck_size": 24,
            "num_feedforward_networks": 2,
            "normalization_type": "layer_norm",
        },
    ),
    # Texts of many windows of attention, and questions of several blocks of tokens.
    "tiny-longformer": (
        LongformerForQuestionAnswering,
        torch.float16,
        {"max_position_embeddings": 202, "attention_window": [8, 24]},
    ),
    "tiny-longformer-classifier": (
        LongformerForSequenceClassification,
        torch.float32,
        {"num_labels": 3, "attention_window": 8, "hidden_act": "relu"},
    ),
    "tiny-longformer-entities": (
        LongformerForTokenClassification,
        torch.bfloat16,
        {"id2label": dict(enumerate(tiny.TAGS)), "attention_window": [24, 8]},
    ),
    "tiny-longformer-embedder": (LongformerModel, torch.float16, {"attention_window": 16}),
}


class Kind:
    """A model class's requirements for its inputs and files."""

    def __init__(self, kind):
        self.name = kind.__name__
        self.prefix = kind.base_model_prefix
        self.is_roberta = self.prefix in ("roberta", "mpnet", "longformer")
        names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"] if self.is_roberta else []
        self.special = names or ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"]
        pieces = tiny.vocabulary(cased=False)
        self.pieces = names + pieces[5:] if names else pieces
        # WordPiece unless the family has another kind.
        self.tokenizer = None
        if self.name.startswith(("Roberta", "Longformer")):
            self.tokenizer = tiny_tokenizers.byte_level(self.special, 360)
            tiny_tokenizers.frame(self.tokenizer, self.special, trims=True)
        elif self.name.startswith(("Albert", "Camembert", "DebertaV2", "XLMRoberta")):
            self.tokenizer = tiny_tokenizers.unigram(self.special, len(pieces), self.name.startswith("Albert"))
            tiny_tokenizers.frame(self.tokenizer, self.special, two_separators=self.is_roberta)
        if self.tokenizer:
            self.pieces = tiny_tokenizers.pieces(self.tokenizer)

    @property
    def cls(self):
        return self.pieces.index(self.special[0])

    @property
    def sep(self):
        return self.pieces.index(self.special[2])


def configure(kind, settings):
    family = Kind(kind)
    hidden = 32 if "QuestionAnswering" in family.name else 16
    sizes = {
        "hidden_size": hidden,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 2 * hidden,
    }
    pad = settings.get("pad_token_id", family.pieces.index(family.special[1]))
    if family.is_roberta:
        # The rows up to padding's belong to no position.
        sizes |= {"layer_norm_eps": 1e-5, "max_position_embeddings": 64 + pad + 1}
        if family.prefix in ("roberta", "longformer"):
            sizes["type_vocab_size"] = 1
    else:
        sizes["max_position_embeddings"] = 64
    config = kind.config_class(
        vocab_size=len(family.pieces),
        **({"pad_token_id": pad} | sizes | settings),
        bos_token_id=None,
        eos_token_id=None,
    )
    return family, config


def window(model, family, length, generator):
    """A question and a context, as far as the length allows; in RoBERTa's way with padding as a token, too."""
    ids = torch.randint(1 if family.is_roberta else 5, len(family.pieces), (length,), generator=generator)
    second = max(1, length // 4)
    ids[0], ids[second - 1], ids[-1] = family.cls, family.sep, family.sep
    if family.is_roberta and length > 12:
        ids[second] = family.sep
        ids[length // 2] = ids[length // 2 + 2] = model.config.pad_token_id
    inputs = {"input_ids": ids[None], "attention_mask": torch.ones(1, length, dtype=torch.long)}
    if not family.is_roberta:
        inputs["token_type_ids"] = (torch.arange(length) >= second).long()[None]
    if family.prefix == "longformer":
        # The question's tokens, as transformers finds them if there are three separators.
        inputs["global_attention_mask"] = (torch.cumsum(ids == family.sep, 0) == 0).long()[None]
    with torch.no_grad():
        output = model(**inputs)
    rounded = {side: [round(value, 6) for value in logits[0].tolist()] for side, logits in output.items()}
    return {
        "ids": ids.tolist(),
        "second_segment": second,
        "start": rounded["start_logits"],
        "end": rounded["end_logits"],
    }


def write_tokenizer(folder, family):
    if family.tokenizer:
        inputs = ["input_ids"] + ["token_type_ids"] * (not family.is_roberta) + ["attention_mask"]
        return tiny_tokenizers.save(family.tokenizer, family.special, folder, inputs)
    (folder / "vocab.txt").write_text("\n".join(family.pieces) + "\n", encoding="utf-8")
    names = dict(zip(["cls_token", "pad_token", "sep_token", "unk_token", "mask_token"], family.special))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"do_lower_case": True, "tokenizer_class": "BertTokenizer"} | names, indent=1) + "\n"
    )
    tokenizer = BertTokenizer(vocab=str(folder / "vocab.txt"), do_lower_case=True, **names)
    if family.is_roberta:
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
    return tokenizer


def run(model, tokenizer, first, second=None):
    # Lists, because transformers takes an empty second text alone for none.
    inputs = tokenizer([first], second if second is None else [second], return_tensors="pt")
    with torch.no_grad():
        return model(**inputs)


def damp(model):
    """Keeps numbers from growing with each layer where norms do not."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("LayerNorm.weight"):
                parameter *= 0.5


def make(name, seed):
    kind, dtype, settings = MODELS[name]
    settings = dict(settings)
    seed = settings.pop("seed", seed)
    family, config = configure(kind, settings)
    generator = torch.Generator().manual_seed(seed)
    model = kind._from_config(config, attn_implementation="eager").eval()
    tiny.randomise(model, generator)
    if getattr(config, "normalization_type", None) == "no_norm":
        damp(model)
    model.to(dtype).float()
    folder = tiny.save(name, model, dtype, family.pieces, cased=False)
    tokenizer = write_tokenizer(folder, family)
    if "QuestionAnswering" in family.name:
        # The longest text fills the model.
        longest = config.max_position_embeddings - (family.is_roberta and config.pad_token_id + 1)
        lengths = [[longest if length == 64 else length for length in part] for part in LENGTH_SETS]
        sets = [{"windows": [window(model, family, length, generator) for length in part]} for part in lengths]
        (folder / "expected.json").write_text(json.dumps({"sets": sets}, separators=(",", ":")) + "\n")
    elif "SequenceClassification" in family.name:
        tiny.expect(folder, tiny.TEXTS, [run(model, tokenizer, *texts).logits[0] for texts in tiny.TEXTS])
    elif "TokenClassification" in family.name:
        ids = [tokenizer(text)["input_ids"] for text in tiny.SENTENCES]
        rows = [run(model, tokenizer, text).logits[0].tolist() for text in tiny.SENTENCES]
        rounded = [[[round(value, 6) for value in row] for row in each] for each in rows]
        (folder / "expected.json").write_text(
            json.dumps({"texts": tiny.SENTENCES, "ids": ids, "logits": rounded}, separators=(",", ":")) + "\n"
        )
        print(name, "logits' standard deviation", torch.tensor(sum(rounded, [])).std().item())
    else:
        make_embedder(folder, model, tokenizer)


def make_embedder(folder, model, tokenizer):
    """Without the base prefix, as a bare model saves it; vectors are means of the tokens'."""
    path = folder / "model.safetensors"
    tensors = {key: value for key, value in load_file(path).items() if not key.startswith("pooler")}
    save_file(tensors, path, metadata={"format": "pt"})
    texts = [text for text in tiny.TEXTS if text[1] is None]
    outputs = []
    for first, _ in texts:
        inputs = tokenizer([first], truncation=True, max_length=64, return_tensors="pt")
        with torch.no_grad():
            outputs.append(model(**inputs).last_hidden_state[0].mean(dim=0))
    tiny.expect(folder, texts, outputs)


for seed, name in enumerate(MODELS, 100):
    if not sys.argv[1:] or name in sys.argv[1:]:
        make(name, seed)
