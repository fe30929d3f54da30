"""Directories as the Hub has them, by their kind, beside transformers and sentence-transformers in fp32."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Dense, Normalize, Pooling, Transformer
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

import bertqa
from conftest import SPECIAL, TINY, WORDS, randomise, reduced_precisions, text_of, write_tokenizer

sys.path.insert(0, str(Path(__file__).parents[1] / "BertQACoreTests" / "Fixtures"))
import jina_v3  # noqa: E402
from jina_bert import JinaBert  # noqa: E402

TOLERANCE = 1e-4
TEXTS = [text_of(words, words) for words in (1, 2, 5, 17, 60)] + ["", "Bá ÇE", "<tweet> BaBaBa <Tweet>"]
PAIRS = [(text_of(5, 1), text_of(30, 2)), (text_of(3, 5), "ba"), (text_of(40, 7), text_of(9, 6))]
BERT = {**TINY, "vocab_size": 30522}
ROBERTA = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
FAMILIES = {
    "Ernie": {**BERT, "use_task_id": True},
    "Data2VecText": {**BERT, "max_position_embeddings": 514},
    "Bert": BERT,
    "DistilBert": {"vocab_size": 30522, "dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128},
    "Roberta": {**BERT, "max_position_embeddings": 514},
    "XLMRoberta": {**BERT, "max_position_embeddings": 514},
    "Camembert": {**BERT, "max_position_embeddings": 514},
    "Electra": {**BERT, "embedding_size": 32},
    "Albert": {**BERT, "embedding_size": 32},
    "MobileBert": {**BERT, "embedding_size": 32, "intra_bottleneck_size": 32},
    "Longformer": {**BERT, "max_position_embeddings": 514, "attention_window": 16},
    "MPNet": {**BERT, "max_position_embeddings": 514},
    "Deberta": {**BERT, "relative_attention": True, "max_relative_positions": 40, "pos_att_type": ["p2c", "c2p"]},
    "DebertaV2": {**BERT, "relative_attention": True, "position_buckets": 32, "pos_att_type": ["p2c", "c2p"]},
    "ModernBert": {**BERT, "pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3},
    "NomicBert": BERT,
    "Gte": {**BERT, "pad_token_id": 0, "type_vocab_size": 2},
}


LEAST_COSINES = {"bf16": 0.999, "int8": 0.99, "stored int8": 0.99}


def cosines(ours, theirs):
    """Of rows."""
    return (ours * theirs).sum(1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)


def save(kind, config, directory, seed=1):
    """Writes a model with random weights and returns it."""
    model = getattr(transformers, kind)(config).eval()
    randomise(model, seed)
    model.save_pretrained(directory)
    return model


def edit(path, **changes):
    """Sets keys of a JSON file; None removes one."""
    settings = (json.loads(path.read_text()) if path.exists() else {}) | changes
    path.write_text(json.dumps({key: value for key, value in settings.items() if value is not None}))


def distance(directory, texts=TEXTS):
    # One by one: padding is the neighbour of a text's last token in MobileBERT.
    theirs = SentenceTransformer(str(directory), device="cpu").encode(texts, batch_size=1)
    with bertqa.Context(directory, precision="f32") as context:
        return np.abs(np.asarray(context.embed(texts)) - theirs).max()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("suffix", ["ForMaskedLM", "ForPreTraining", None])
def test_heads_that_are_left_out(family, suffix, tmp_path):
    """Classes for pretraining, and no class at all: vectors."""
    kind = family + (suffix or "Model")
    if not hasattr(transformers, kind):
        pytest.skip(f"checkpoints of {kind}: transformers has no such class")
    config = getattr(transformers, f"{family}Config")(**FAMILIES[family])
    save(kind, config, tmp_path)
    write_tokenizer(tmp_path)
    if family == "ModernBert":  # which has no class of its own
        word_piece(tmp_path, lowercase=True)
        edit(tmp_path / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast", pad_token="[PAD]")
    if suffix is None:
        edit(tmp_path / "config.json", architectures=None)
    assert distance(tmp_path) < TOLERANCE


def word_piece(directory, *, lowercase, second=1, added=()):
    """Writes a tokenizer.json of BERT's form with these words."""
    vocabulary = {piece: id for id, piece in enumerate(SPECIAL + ["##s", "ba", "##ba", "BA", "é", "e"] + WORDS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair=f"[CLS]:0 $A:0 [SEP]:0 $B:{second} [SEP]:{second}",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.add_tokens(list(added))
    tokenizer.save(str(directory / "tokenizer.json"))
    (directory / "vocab.txt").write_text("\n".join(vocabulary) + "\n")


def same_tokens(directory, texts):
    theirs = AutoTokenizer.from_pretrained(directory)
    with bertqa.Context(directory, tokenizer_only=True) as ours:
        for text in texts:
            assert ours.tokenize(text).ids == theirs(text, add_special_tokens=False)["input_ids"], text


@pytest.mark.parametrize("name", ["BertTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend", None])
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("setting", [None, True, False])
@pytest.mark.parametrize("has_vocabulary", [True, False])
def test_who_lower_cases(name, lowercase, setting, has_vocabulary, tmp_path):
    transformers.BertConfig(**BERT).save_pretrained(tmp_path)
    word_piece(tmp_path, lowercase=lowercase, added=["<tweet>", "#"])
    if not has_vocabulary:
        (tmp_path / "vocab.txt").unlink()
    edit(tmp_path / "tokenizer_config.json", tokenizer_class=name, do_lower_case=setting)
    same_tokens(tmp_path, [*TEXTS, "BA ba # #ba É é"])


def test_added_tokens_without_tokenizer_json(tmp_path):
    transformers.BertConfig(**BERT).save_pretrained(tmp_path)
    word_piece(tmp_path, lowercase=True)
    (tmp_path / "tokenizer.json").unlink()
    count = len((tmp_path / "vocab.txt").read_text().splitlines())
    edit(tmp_path / "tokenizer_config.json", tokenizer_class="BertTokenizer")
    edit(tmp_path / "added_tokens.json", **{"<Tweet>": count + 1, "#": count})
    same_tokens(tmp_path, [*TEXTS, "ba # #ba <Tweet>s"])
    tokens = {str(count): {"content": "#"}, str(count + 1): {"content": "<Tweet>", "normalized": False}}
    edit(tmp_path / "tokenizer_config.json", added_tokens_decoder=tokens)
    same_tokens(tmp_path, [*TEXTS, "ba # #ba <Tweet>s"])


@pytest.mark.parametrize(
    "name", ["BertTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend", "DistilBertTokenizer"]
)
@pytest.mark.parametrize("second", [0, 1])
@pytest.mark.parametrize("family", ["Bert", "Roberta"])
def test_token_types_of_pairs(name, second, family, tmp_path):
    config = getattr(transformers, f"{family}Config")(
        **FAMILIES[family], type_vocab_size=2, num_labels=3, pad_token_id=0
    )
    model = save(f"{family}ForSequenceClassification", config, tmp_path)
    word_piece(tmp_path, lowercase=True, second=second)
    edit(tmp_path / "tokenizer_config.json", tokenizer_class=name)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    # As transformers 4.
    types = {"return_token_type_ids": True} if name == "PreTrainedTokenizerFast" else {}
    with bertqa.Context(tmp_path, precision="f32") as context, torch.no_grad():
        for pair in PAIRS:
            theirs = model(**tokenizer(*pair, return_tensors="pt", **types)).logits[0].numpy()
            ours = {score.label: score.logit for score in context.classify(pair).scores}
            found = [ours[config.id2label[index]] for index in range(3)]
            assert np.abs(np.array(found) - theirs).max() < TOLERANCE


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_lengths(kind, side, tmp_path):
    save("BertModel", transformers.BertConfig(**BERT), tmp_path)
    write_tokenizer(tmp_path, model_max_length=16, truncation_side=side)
    SentenceTransformer(str(tmp_path), device="cpu").save(str(tmp_path))
    for path in tmp_path.glob("sentence_*_config.json"):
        path.unlink()
    edit(tmp_path / f"sentence_{kind}_config.json", max_seq_length=24)
    text = text_of(60)
    theirs = SentenceTransformer(str(tmp_path), device="cpu").encode([text])
    with bertqa.Context(tmp_path, precision="f32") as context:
        assert np.abs(np.asarray(context.embed([text], truncate=True)) - theirs).max() < TOLERANCE


def test_answering_without_a_class(tmp_path):
    save("BertForQuestionAnswering", transformers.BertConfig(**BERT), tmp_path)
    write_tokenizer(tmp_path)
    edit(tmp_path / "config.json", architectures=None)
    assert AutoModelForQuestionAnswering.from_pretrained(tmp_path).config.architectures is None
    with bertqa.Context(tmp_path) as context:
        assert context.info.task == "answer"


def test_positions_of_another_name(tmp_path):
    save("ModernBertModel", transformers.ModernBertConfig(**FAMILIES["ModernBert"]), tmp_path)
    word_piece(tmp_path, lowercase=True)
    edit(tmp_path / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast", pad_token="[PAD]")
    edit(tmp_path / "config.json", position_embedding_type="sans_pos")
    assert distance(tmp_path) < TOLERANCE


MODES = ["cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]


def sentence_encoder(directory, modes, *dense, normalizes=False):
    """Writes a sentence encoder of a BERT, these poolings, and linear layers of these (width, activation)."""
    save("BertModel", transformers.BertConfig(**BERT), directory / "plain")
    write_tokenizer(directory / "plain")
    encoder = Transformer(str(directory / "plain"))
    modules = [encoder, Pooling(TINY["hidden_size"], pooling_mode=tuple(modes))]
    width = len(modes) * TINY["hidden_size"]
    for number, (outs, activation) in enumerate(dense):
        modules.append(Dense(width, outs, bias=number == 0, activation_function=activation))
        randomise(modules[-1], seed=number)
        width = outs
    SentenceTransformer(modules=modules + [Normalize()] * normalizes, device="cpu").save(str(directory / "model"))
    return directory / "model"


@pytest.mark.parametrize("modes", [[mode] for mode in MODES] + [["max", "mean"], MODES], ids="+".join)
def test_poolings(modes, tmp_path):
    model = sentence_encoder(tmp_path, modes)
    assert distance(model) < TOLERANCE
    with bertqa.Context(model) as context:
        assert context.info.embedding_length == 64 * len(modes)


@pytest.mark.parametrize("modes", [["cls"], ["mean", "max"]])
@pytest.mark.parametrize("activation", [torch.nn.Tanh(), torch.nn.Identity(), torch.nn.GELU(), torch.nn.ReLU()])
@pytest.mark.parametrize("normalizes", [True, False])
def test_dense(modes, activation, normalizes, tmp_path):
    """LaBSE's and distiluse's form, and two layers."""
    for folder, dense in ("one", [(48, activation)]), ("two", [(96, activation), (32, torch.nn.Identity())]):
        model = sentence_encoder(tmp_path / folder, modes, *dense, normalizes=normalizes)
        assert distance(model) < TOLERANCE
        theirs = SentenceTransformer(str(model), device="cpu").encode(TEXTS)
        bertqa.quantize(model, tmp_path / folder / "int8")
        with bertqa.Context(tmp_path / folder / "int8") as context:
            ours = np.asarray(context.embed(TEXTS))
        assert cosines(ours, theirs).min() > 0.99


@pytest.mark.parametrize("heads", [8, 12])
def test_jina_bert(heads, tmp_path):
    """jina-embeddings-v2 beside the reference of the fixtures, also beyond BERT's positions and in other precisions."""
    model = JinaBert(30522, 32 * heads, 2, heads, 256).eval()
    randomise(model, seed=heads)
    model.save(tmp_path)
    write_tokenizer(tmp_path, model_max_length=8192)
    texts = [*TEXTS, text_of(1500, 3)]
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    theirs = []
    for text in texts:
        inputs = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            theirs.append(model(inputs["input_ids"][0], inputs["token_type_ids"][0]).mean(dim=0).numpy())
    theirs = np.array(theirs)
    for threads in 1, 3:
        with bertqa.Context(tmp_path, precision="f32", threads=threads) as context:
            ours = np.asarray(context.embed(texts))
            assert context.info.max_position_embeddings == 8192
            assert np.abs(ours - theirs).max() < TOLERANCE
            assert np.array_equal(np.asarray(context.embed(texts[3])), ours[3])
    for precision, context in reduced_precisions(tmp_path, tmp_path / "int8"):
        assert cosines(np.asarray(context.embed(texts)), theirs).min() > LEAST_COSINES[precision], precision


def test_jina_v3(tmp_path):
    """Each task beside the reference of the fixtures, and in other precisions."""
    model = jina_v3.JinaV3(30522, 256, 2, 8, 512).eval()
    randomise(model, seed=3)
    model.save(tmp_path)
    write_tokenizer(tmp_path, model_max_length=8192, model_input_names=["input_ids", "attention_mask"])
    texts = [*TEXTS, text_of(1500, 3)]
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)

    def vectors(task):
        model.choose(task)
        prompted = [jina_v3.INSTRUCTIONS.get(task, "") + text for text in texts]
        with torch.no_grad():
            rows = [model(torch.tensor(tokenizer(text)["input_ids"])).mean(dim=0).numpy() for text in prompted]
        return np.array(rows)

    theirs = {task: vectors(task) for task in [None, *jina_v3.TASKS]}
    for threads in 1, 3:
        with bertqa.Context(tmp_path, precision="f32", threads=threads) as context:
            for task, rows in theirs.items():
                ours = np.asarray(context.embed(texts, prompt_name=task))
                assert np.abs(ours - rows).max() < TOLERANCE
                assert np.array_equal(np.asarray(context.embed(texts[3], prompt_name=task)), ours[3])
            assert not np.allclose(theirs[None], ours, atol=0.01)
    for precision, context in reduced_precisions(tmp_path, tmp_path / "int8"):
        for task, rows in theirs.items():
            rounded = np.asarray(context.embed(texts, prompt_name=task))
            assert cosines(rounded, rows).min() > LEAST_COSINES[precision], (precision, task)


@pytest.mark.parametrize("modes", [[mode] for mode in MODES] + [MODES], ids="+".join)
@pytest.mark.parametrize("is_pooled", [True, False])
def test_prompts(modes, is_pooled, tmp_path):
    model = sentence_encoder(tmp_path, modes, normalizes=True)
    prompts = {"query": "find the words: ", "passage": "", "ß": "B"}
    edit(model / "config_sentence_transformers.json", prompts=prompts, default_prompt_name="query")
    edit(model / "1_Pooling" / "config.json", include_prompt=is_pooled)
    reference = SentenceTransformer(str(model), device="cpu")
    with bertqa.Context(model, precision="f32") as context:
        for name in (None, "query", "passage", "document", "ß"):
            theirs = reference.encode(TEXTS, prompt_name=name)
            ours = np.asarray(context.embed(TEXTS, prompt_name=name, truncate=True))
            assert np.abs(ours - theirs).max() < TOLERANCE
        theirs = reference.encode(TEXTS, prompt="said: ")
        assert np.abs(np.asarray(context.embed(TEXTS, prompt="said: ")) - theirs).max() < TOLERANCE


def test_a_folder_of_the_encoder(tmp_path):
    """As sentence-transformers before 1.0 saved it."""
    model = sentence_encoder(tmp_path, ["cls"], normalizes=True)
    theirs = SentenceTransformer(str(model), device="cpu").encode(TEXTS)
    (model / "0_Transformer").mkdir()
    for path in list(model.iterdir()):
        if path.is_file() and path.name not in ("modules.json", "config_sentence_transformers.json"):
            path.rename(model / "0_Transformer" / path.name)
    modules = json.loads((model / "modules.json").read_text())
    modules[0]["path"] = "0_Transformer"
    (model / "modules.json").write_text(json.dumps(modules))
    with bertqa.Context(model, precision="f32") as context:
        assert np.abs(np.asarray(context.embed(TEXTS)) - theirs).max() < TOLERANCE


@pytest.mark.parametrize(
    "changes",
    [
        {"id2label": {"0": 7, "1": "b", "2": "c"}},
        {"id2label": {"0": "a", "1": "b"}, "num_labels": 3},
        {"problem_type": "guess"},
    ],
)
def test_loose_labels(changes, tmp_path):
    """transformers takes them."""
    save("BertForSequenceClassification", transformers.BertConfig(**BERT, num_labels=3), tmp_path)
    write_tokenizer(tmp_path)
    edit(tmp_path / "config.json", **changes)
    config = transformers.AutoConfig.from_pretrained(tmp_path)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    with bertqa.Context(tmp_path, precision="f32") as context, torch.no_grad():
        theirs = model(**tokenizer(TEXTS[3], return_tensors="pt")).logits[0].numpy()
        ours = {score.label: score.logit for score in context.classify(TEXTS[3]).scores}
        assert np.abs(np.array([ours[str(config.id2label[id])] for id in range(3)]) - theirs).max() < TOLERANCE


@pytest.mark.parametrize("is_archive", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_files_of_torch_save(is_archive, dtype, tmp_path):
    """pytorch_model.bin as older checkpoints have it, the heads for pretraining and tied weights among its tensors."""
    model = save("BertForPreTraining", transformers.BertConfig(**BERT), tmp_path).to(dtype)
    write_tokenizer(tmp_path)
    model.save_pretrained(tmp_path)
    with bertqa.Context(tmp_path, precision="f32") as context:
        expected = np.asarray(context.embed(TEXTS))
    (tmp_path / "model.safetensors").unlink()
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin", _use_new_zipfile_serialization=is_archive)
    with bertqa.Context(tmp_path, precision="f32") as context:
        assert (np.asarray(context.embed(TEXTS)) == expected).all()


@pytest.mark.parametrize("name", ["DebertaTokenizer", "BartTokenizer", "RobertaTokenizer"])
@pytest.mark.parametrize("by_type", [False, True])
def test_vocabulary_and_merges(name, by_type, tmp_path):
    """vocab.json and merges.txt alone, by the class or, as microsoft/deberta-base has it, by the model's type."""
    special = ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"] if name.startswith("Deberta") else list(ROBERTA)
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(TEXTS + [" ".join(WORDS[:2000])], trainer)
    tokenizer.model.save(str(tmp_path))
    if by_type:
        if name == "BartTokenizer":
            pytest.skip("tokenizers by the model's type: Bart is no family")
        model_type = {"DebertaTokenizer": "deberta", "RobertaTokenizer": "roberta"}[name]
        edit(tmp_path / "config.json", model_type=model_type, architectures=[f"{name[:-9]}Model"])
        edit(tmp_path / "tokenizer_config.json", do_lower_case=False, vocab_type="gpt2")
    else:
        edit(tmp_path / "tokenizer_config.json", tokenizer_class=name)
    same_tokens(tmp_path, TEXTS)
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    with bertqa.Context(tmp_path, tokenizer_only=True) as ours:
        assert ours.piece(theirs.cls_token_id) == theirs.cls_token


def test_names_of_special_tokens(tmp_path):
    """special_tokens_map.json counts before tokenizer_config.json, unless that one lists added tokens."""
    pieces = ["<pad>", "<unk>", "<s>", "</s>", "<mask>", "[CLS]", "[SEP]", "##s", "ba", *WORDS]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces) + "\n")
    names = {
        "pad_token": "<pad>",
        "unk_token": "<unk>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "mask_token": "<mask>",
    }
    edit(
        tmp_path / "tokenizer_config.json",
        tokenizer_class="BertTokenizer",
        cls_token="[CLS]",
        do_basic_tokenize=False,
    )
    edit(tmp_path / "special_tokens_map.json", **names)
    config = transformers.BertConfig(**{**BERT, "vocab_size": len(pieces), "pad_token_id": 0})
    save("BertModel", config, tmp_path)
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    with bertqa.Context(tmp_path, precision="f32") as context:
        for text in TEXTS:
            assert context.embed_tokens(text).ids == theirs(text)["input_ids"]
    bertqa.quantize(tmp_path, tmp_path / "int8")
    with bertqa.Context(tmp_path / "int8") as context:
        assert [context.embed_tokens(text).ids for text in TEXTS] == [theirs(text)["input_ids"] for text in TEXTS]


def test_lower_case_before_a_cased_tokenizer(tmp_path):
    save("BertModel", transformers.BertConfig(**BERT), tmp_path)
    word_piece(tmp_path, lowercase=False)
    edit(tmp_path / "tokenizer_config.json", tokenizer_class="BertTokenizer", do_lower_case=False)
    modules = [Transformer(str(tmp_path)), Pooling(64, "mean")]
    SentenceTransformer(modules=modules, device="cpu").save_pretrained(str(tmp_path / "saved"))
    edit(tmp_path / "saved" / "sentence_bert_config.json", max_seq_length=128, do_lower_case=True)
    texts = [*TEXTS, "BA Ba ÉE BACEDI"]
    assert distance(tmp_path / "saved", texts) < TOLERANCE
    bertqa.quantize(tmp_path / "saved", tmp_path / "int8")
    with bertqa.Context(tmp_path / "int8") as context:
        assert context.embed(texts[-1]) == context.embed(texts[-1].lower())


@pytest.mark.parametrize("name", ["BertweetTokenizer", "PhobertTokenizer"])
def test_merges_of_fastbpe(name, tmp_path):
    """vocab.txt with counts, from which some results of merges are missing, and bpe.codes."""
    trainer = trainers.BpeTrainer(vocab_size=800, end_of_word_suffix="</w>", show_progress=False)
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.train_from_iterator(
        [*TEXTS, " ".join(WORDS[:3000]), "xin chào các bạn @USER HTTPURL :) " * 9], trainer
    )
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    assert len(merges) > 300
    (tmp_path / "bpe.codes").write_text("".join(f"{left} {right} 7\n" for left, right in merges))
    symbols = sorted(tokenizer.get_vocab(), key=tokenizer.token_to_id)
    pieces = [symbol[:-4] if symbol.endswith("</w>") else f"{symbol}@@" for symbol in symbols]
    kept = [piece for number, piece in enumerate(dict.fromkeys(pieces)) if number % 7]
    (tmp_path / "vocab.txt").write_text("".join(f"{piece} {number}\n" for number, piece in enumerate(kept)))
    edit(tmp_path / "tokenizer_config.json", tokenizer_class=name)
    texts = [
        *TEXTS,
        "xin chào\ncác  bạn\n\n@USER \u00a0x y",
        "a",
        "日本 ☃ ba☃ce",
        "the\r\nend\n",
        "@@ </w> a@@ b</w>",
    ]
    same_tokens(tmp_path, texts)
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    assert any(theirs.unk_token_id in theirs(text)["input_ids"] for text in TEXTS)
    config = transformers.RobertaConfig(**{**BERT, "vocab_size": len(theirs), "max_position_embeddings": 514})
    save("RobertaModel", config, tmp_path)
    with bertqa.Context(tmp_path, precision="f32") as context:
        for text in [*texts, *PAIRS]:
            both = text if isinstance(text, tuple) else (text,)
            assert context.embed_tokens(text, truncate=True).ids == theirs(*both)["input_ids"]
            assert context.piece(theirs.mask_token_id) == "<mask>"
    edit(tmp_path / "tokenizer_config.json", normalization=True)
    with pytest.raises(bertqa.Unsupported, match="normalise tweets"):
        bertqa.Context(tmp_path)
