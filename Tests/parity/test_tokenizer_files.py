"""Tokenizers of directories without a tokenizer.json, or beside one, against transformers."""

import json

import numpy as np
import pytest
import torch
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, Transformer
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import AutoTokenizer

import bertqa
from conftest import WORDS
from directories import BERT, FAMILIES, PAIRS, TEXTS, TOLERANCE, distance, edit, same_tokens, save, word_piece
from tokenizer_files import ROBERTA, byte_level


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


def test_added_tokens_beside_merges(tmp_path):
    transformers.RobertaConfig(vocab_size=702).save_pretrained(tmp_path)
    byte_level(tmp_path, ("vocab.json",))
    count = len(json.loads((tmp_path / "vocab.json").read_text()))
    edit(tmp_path / "added_tokens.json", **{"<tweet>": count, "#": count + 1})
    same_tokens(tmp_path, [*TEXTS, "# #ba <tweet>s the#"])


@pytest.mark.parametrize("name", ["DebertaTokenizer", "BartTokenizer", "RobertaTokenizer"])
@pytest.mark.parametrize("by_type", [False, True])
def test_vocabulary_and_merges(name, by_type, tmp_path):
    """vocab.json and merges.txt alone, by the class or, as microsoft/deberta-base has it, by the model's type."""
    special = ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"] if name.startswith("Deberta") else ROBERTA
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
