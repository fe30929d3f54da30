"""Makes tiny checkpoints with random weights, and what transformers and sentence-transformers say of them.

    pip install torch==2.13.0 transformers==5.23.0 sentence-transformers==6.2.0 safetensors==0.8.0
    python generate-tiny-models.py

Writes beside itself, for each model NAME, the Hugging Face directory NAME/ and NAME/expected.json. For question
answering:

    {"sets": [{"windows": [{"ids": [...], "second_segment": n,
                            "start": [...], "end": [...],           logits of every token
                            "best": [[start, end, score], ...]}]}]} best spans after the first [SEP]

For token classification, of SENTENCES: the logits of every token, special ones included, and what transformers'
pipeline makes of them by each aggregation strategy (characters; "O" is left out):

    {"texts": [...], "logits": [[[...], ...], ...],
     "entities": {"simple": [[[start, end, label, score], ...], ...], ...}}

A span has start <= end < start + MAX_ANSWER; its score is the sum of its two logits. For the others, of TEXTS:

    {"texts": [[text, second or null], ...], "outputs": [[...], ...]} logits, or vectors of texts cut to the
                                                                      model's length
"""

import json
import pathlib
import string

import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
    DistilBertConfig,
    DistilBertForQuestionAnswering,
    DistilBertForSequenceClassification,
    DistilBertForTokenClassification,
    DistilBertModel,
    pipeline,
)

HERE = pathlib.Path(__file__).parent
MAX_ANSWER = 15
LENGTH_SETS = [
    [3],
    [128],
    [16, 16],
    [5, 17, 64, 9, 33],
    [12, 3, 100, 4, 31, 7, 48, 15],
]
WORDS = """the of and to in a is was for on as with by he at from his it an were are which this also be
had first has one their its after new who not they have her she two been other when there all during
into school time may year years more most only over city some world would where later up such used many
can state about national out known university united then made quick brown fox jumps lazy dog what when
how people between under part three war film name river south north west east king paris france""".split()
ENDINGS = ["s", "ing", "ed", "er", "ly", "ion", "al", "est"]
CAPITALISED = ["The", "In", "He", "It", "Paris", "France", "King", "United", "Who", "What", "Rivière"]
TEXTS = [
    ["The quick brown fox jumps over the lazy dog.", None],
    ["who was the king of france", "After the war the king made a film about the river."],
    ["", None],
    ["", ""],
    ["one text", ""],
    ["What? (Paris)", "\u4e2d\u56fd Rivi\u00e8re \U0001f98a"],
    ["dog " * 45, None],
    ["school time " * 10, "world state " * 10],
    ["a", None],
]

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-MISC-A", "I-MISC-A"]
SENTENCES = [
    "The quick brown fox jumps over the lazy dog.",
    "In Paris, King Rivière of France made a film about the river.",
    "who? (United) What-when: schooling, lowest, Parising 1984.",
    "\u4e2d\u56fd Rivi\u00e8re \U0001f98a newest worlds; used knownly",
    "It was he who united the states.   Two\nlines\tin one",
    "a",
    "dogs foxes",
]


def vocabulary(cased):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = string.ascii_lowercase + string.digits + ("é" + string.ascii_uppercase if cased else "")
    pieces += list("!\"'(),-.:;?") + list(letters) + ["##" + letter for letter in letters]
    pieces += list("中国文") + ["##" + ending for ending in ENDINGS]
    pieces += [word for word in WORDS + (CAPITALISED if cased else [])]
    return list(dict.fromkeys(pieces))


def randomise(model, generator):
    """Weights large enough that softmax, GELU and the logits leave their linear range."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if "norm" in name.lower() and name.endswith("weight"):
                parameter.copy_(1 + 0.2 * noise)
            elif name.endswith("bias") or parameter.dim() == 1:
                parameter.copy_(0.2 * noise)
            elif "embedding" in name and "transformation" not in name:
                parameter.copy_(noise)
            else:
                parameter.copy_(noise * 1.5 / parameter.shape[1] ** 0.5)


def best_spans(start, end, first, last, count=5):
    spans = [(i, j, start[i] + end[j]) for i in range(first, last) for j in range(i, min(last, i + MAX_ANSWER))]
    return sorted(spans, key=lambda span: -span[2])[:count]


def window(model, length, size, generator, is_bert):
    """[CLS] question [SEP] context [SEP], as far as the length allows."""
    ids = torch.randint(5, size, (length,), generator=generator)
    second = max(1, length // 4)
    ids[0] = 2
    ids[second - 1] = 3
    ids[-1] = 3
    inputs = {"input_ids": ids[None]}
    if is_bert:
        inputs["token_type_ids"] = (torch.arange(length) >= second).long()[None]
    with torch.no_grad():
        output = model(**inputs)
    start, end = output.start_logits[0].tolist(), output.end_logits[0].tolist()
    return {
        "ids": ids.tolist(),
        "second_segment": second,
        "start": [round(value, 6) for value in start],
        "end": [round(value, 6) for value in end],
        "best": [[i, j, round(score, 6)] for i, j, score in best_spans(start, end, second, length - 1)],
    }


def save(name, model, dtype, pieces, cased, leave_out=()):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    config = model.config
    config.architectures = [type(model).__name__]
    (folder / "config.json").write_text(json.dumps(config.to_dict(), indent=1, sort_keys=True) + "\n")
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"do_lower_case": not cased, "tokenizer_class": "BertTokenizer"}, indent=1) + "\n"
    )
    tensors = {
        key: value.to(dtype).contiguous()
        for key, value in model.state_dict().items()
        if value.is_floating_point() and key not in leave_out
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def make(name, seed, cased, is_bert, dtype):
    generator = torch.Generator().manual_seed(seed)
    pieces = vocabulary(cased)
    if is_bert:
        config = BertConfig(
            vocab_size=len(pieces),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            max_position_embeddings=128,
        )
        model = BertForQuestionAnswering._from_config(config, attn_implementation="eager")
    else:
        config = DistilBertConfig(
            vocab_size=len(pieces), dim=32, n_layers=2, n_heads=4, hidden_dim=64, max_position_embeddings=128
        )
        model = DistilBertForQuestionAnswering._from_config(config, attn_implementation="eager")
    model.eval()
    randomise(model, generator)
    model.to(dtype).float()  # the weights are what the file holds, the arithmetic is f32

    folder = save(name, model, dtype, pieces, cased)
    sets = [
        {"windows": [window(model, length, len(pieces), generator, is_bert) for length in lengths]}
        for lengths in LENGTH_SETS
    ]
    (folder / "expected.json").write_text(json.dumps({"sets": sets}, separators=(",", ":")) + "\n")
    logits = [value for group in sets for one in group["windows"] for value in one["start"]]
    print(name, len(pieces), "pieces, logits' standard deviation", torch.tensor(logits).std().item())


SMALL = {"max_position_embeddings": 64}


def make_small(name, seed, kind, dtype, cased=False, leave_out=(), **settings):
    """A model of a few kilobytes; (folder, model that computes in f32)."""
    generator = torch.Generator().manual_seed(seed)
    pieces = vocabulary(cased)
    if kind.__name__.startswith("Distil"):
        config = DistilBertConfig(
            vocab_size=len(pieces), dim=16, n_layers=2, n_heads=2, hidden_dim=32, **SMALL, **settings
        )
    else:
        config = BertConfig(
            vocab_size=len(pieces),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            **SMALL,
            **settings,
        )
    model = kind._from_config(config, attn_implementation="eager").eval()
    randomise(model, generator)
    model.to(dtype).float()
    return save(name, model, dtype, pieces, cased, leave_out), model


def expect(folder, texts, outputs):
    rows = [[round(value, 6) for value in output.tolist()] for output in outputs]
    (folder / "expected.json").write_text(
        json.dumps({"texts": texts, "outputs": rows}, separators=(",", ":")) + "\n"
    )
    print(folder.name, "outputs' standard deviation", torch.tensor(rows).std().item())


def make_classifier(name, seed, kind, dtype, has_pooler=True, **settings):
    pooler = () if has_pooler else ("bert.pooler.dense.weight", "bert.pooler.dense.bias")
    folder, model = make_small(name, seed, kind, dtype, leave_out=pooler, **settings)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    outputs = []
    for first, second in TEXTS:
        # Lists, because transformers takes an empty second text alone for none.
        inputs = tokenizer([first], second if second is None else [second], return_tensors="pt")
        with torch.no_grad():
            if has_pooler:
                outputs.append(model(**inputs).logits[0])
            else:
                hidden = model.bert(**inputs).last_hidden_state
                outputs.append(model.classifier(hidden[:, 0])[0])
    expect(folder, TEXTS, outputs)


def make_tagger(name, seed, kind, dtype, **settings):
    """Labels of tokens. The tags of such a model are noise, which is what the rules of aggregation need."""
    folder, model = make_small(name, seed, kind, dtype, cased=True, **settings)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    logits = []
    for text in SENTENCES:
        with torch.no_grad():
            logits.append(model(**tokenizer(text, return_tensors="pt")).logits[0])
    tagger = pipeline("token-classification", model=model, tokenizer=tokenizer, device="cpu")
    entities = {}
    for strategy in ["none", "simple", "first", "average", "max"]:
        found = [tagger(text, aggregation_strategy=strategy) for text in SENTENCES]
        key = "entity" if strategy == "none" else "entity_group"
        entities[strategy] = [
            [[one["start"], one["end"], one[key], round(float(one["score"]), 6)] for one in each] for each in found
        ]
    (folder / "expected.json").write_text(
        json.dumps(
            {
                "texts": SENTENCES,
                "logits": [[[round(value, 6) for value in row] for row in rows.tolist()] for rows in logits],
                "entities": entities,
            },
            separators=(",", ":"),
        )
        + "\n"
    )
    print(name, {strategy: sum(map(len, found)) for strategy, found in entities.items()}, "entities")


def make_embedder(name, seed, kind, dtype, pooling, normalizes, length):
    """As sentence-transformers' checkpoints of old are laid out, which it still reads."""
    folder, _ = make_small(name, seed, kind, dtype)
    if kind is BertModel:  # unprefixed, without the pooler that nothing needs
        path = folder / "model.safetensors"
        tensors = {key: value for key, value in load_file(path).items() if not key.startswith("pooler")}
        save_file(tensors, path, metadata={"format": "pt"})

    def write(path, value):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(json.dumps(value, indent=1) + "\n")

    kinds = ["Transformer", "Pooling"] + ["Normalize"] * normalizes
    write(
        "modules.json",
        [
            {
                "idx": index,
                "name": str(index),
                "path": f"{index}_{kind}" if index else "",
                "type": f"sentence_transformers.models.{kind}",
            }
            for index, kind in enumerate(kinds)
        ],
    )
    write(
        "1_Pooling/config.json",
        {
            "word_embedding_dimension": 16,
            "pooling_mode_cls_token": pooling == "cls",
            "pooling_mode_mean_tokens": pooling == "mean",
            "pooling_mode_max_tokens": False,
            "pooling_mode_mean_sqrt_len_tokens": False,
        },
    )
    write("sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False})
    model = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": torch.float32})
    texts = [text for text in TEXTS if text[1] is None]
    expect(folder, texts, model.encode([text for text, _ in texts], convert_to_tensor=True))


def main():
    make("tiny-bert", 1, cased=False, is_bert=True, dtype=torch.float32)
    make("tiny-bert-cased", 2, cased=True, is_bert=True, dtype=torch.float16)
    make("tiny-distilbert", 3, cased=False, is_bert=False, dtype=torch.bfloat16)
    make_classifier(
        "tiny-bert-classifier",
        4,
        BertForSequenceClassification,
        torch.float32,
        id2label={0: "calm", 1: "glad", 2: "sad"},
    )
    make_classifier(
        "tiny-bert-regression", 5, BertForSequenceClassification, torch.float16, has_pooler=False, num_labels=1
    )
    make_classifier(
        "tiny-distilbert-classifier",
        6,
        DistilBertForSequenceClassification,
        torch.bfloat16,
        problem_type="multi_label_classification",
        num_labels=4,
    )
    make_embedder("tiny-bert-embedder", 7, BertModel, torch.float16, "mean", normalizes=True, length=32)
    make_embedder(
        "tiny-distilbert-embedder", 8, DistilBertModel, torch.float32, "cls", normalizes=False, length=64
    )
    make_tagger(
        "tiny-bert-entities", 54, BertForTokenClassification, torch.float16, id2label=dict(enumerate(TAGS))
    )
    make_tagger(
        "tiny-distilbert-entities",
        10,
        DistilBertForTokenClassification,
        torch.bfloat16,
        id2label=dict(enumerate(["PER", "LOC", "O"])),
    )


if __name__ == "__main__":
    main()
