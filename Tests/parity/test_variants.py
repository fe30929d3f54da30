"""Directories in the forms that popular checkpoints have: class, tokenizer of its own kind, weights and modules, each
compared by `bertqa info --check` with transformers or sentence-transformers. docs/models.md lists them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Normalize, Pooling, Transformer
from tokenizers import Tokenizer

import bertqa
import bertqa.check
from conftest import WORDS
from directories import FAMILIES, edit, save
from test_token_vectors import splade, stanford
from tokenizer_files import LLAMA3, bert, byte_level, gemma, spm, unigram

TOOL = Path(os.environ["BERTQA_PREFIX"]) / "bin" / "bertqa"


def model(directory, kind, **settings):
    """Random weights of a class, with the sizes of tests."""
    family = next(name for name in sorted(FAMILIES, key=len, reverse=True) if kind.startswith(name))
    config = getattr(transformers, f"{family}Config")(**FAMILIES[family] | settings)
    return save(kind, config, directory)


# ---- Modules and weights ----


def modules(directory, pooling="mean", normalizes=True, **settings):
    """Those of sentence-transformers around the model of a directory."""
    encoder = Transformer(str(directory))
    parts = [encoder, Pooling(encoder.get_word_embedding_dimension(), pooling)] + [Normalize()] * normalizes
    SentenceTransformer(modules=parts, device="cpu").save(str(directory))
    if settings:
        edit(directory / "sentence_bert_config.json", **settings)


def renamed(directory, change, dtype=None, **added):
    """The weights under other names or of another type."""
    path = directory / "model.safetensors"
    tensors = {change(name): tensor.to(dtype or tensor.dtype) for name, tensor in load_file(path).items()}
    save_file(tensors | added, path, {"format": "pt"})


def minilm(directory):
    """all-MiniLM-L6-v2, all-MiniLM-L12-v2, multi-qa-MiniLM-L6-cos-v1: truncation and padding in
    `tokenizer.json`, `position_ids` among the weights"""
    model(directory, "BertModel")
    bert(directory)
    modules(directory, max_seq_length=256)
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.enable_truncation(128)
    tokenizer.enable_padding(length=128)
    tokenizer.save(str(directory / "tokenizer.json"))
    renamed(directory, lambda name: name, **{"embeddings.position_ids": torch.arange(512)[None]})


def bge(directory):
    """bge-small-en-v1.5, bge-base-zh-v1.5, snowflake-arctic-embed-s, e5-base-v2: pooling `cls`,
    `do_lower_case` and a tokenizer that does so"""
    model(directory, "BertModel")
    bert(directory)
    modules(directory, "cls", max_seq_length=512, do_lower_case=True)


def mxbai(directory):
    """mxbai-embed-large-v1, gte-large: F16, prompts without a default"""
    model(directory, "BertModel")
    bert(directory)
    modules(directory, "cls", normalizes=False)
    renamed(directory, lambda name: name, torch.float16)
    prompts = {"query": "Represent this sentence for searching relevant passages: ", "passage": ""}
    edit(directory / "config_sentence_transformers.json", prompts=prompts)
    settings = json.loads((directory / "config_sentence_transformers.json").read_text()) | {
        "default_prompt_name": None
    }
    (directory / "config_sentence_transformers.json").write_text(json.dumps(settings))


def multilingual_minilm(directory):
    """paraphrase-multilingual-MiniLM-L12-v2, multilingual-e5-small: BERT with the tokenizer of XLM-R"""
    model(directory, "BertModel", vocab_size=600)
    unigram(directory)
    modules(directory)


def multilingual_mpnet(directory):
    """paraphrase-multilingual-mpnet-base-v2, multilingual-e5-base, snowflake-arctic-embed-l-v2.0: Unigram
    in `tokenizer.json`"""
    model(directory, "XLMRobertaModel", vocab_size=600)
    unigram(directory)
    modules(directory, normalizes=False)


def mpnet(directory):
    """all-mpnet-base-v2, multi-qa-mpnet-base-dot-v1: the class for pretraining, `vocab.txt`"""
    model(directory, "MPNetForMaskedLM", vocab_size=30527)
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "[UNK]", "ba", "##ba", "the", "quick", "##s", *WORDS[:500]]
    (directory / "vocab.txt").write_text("\n".join([*pieces, "<mask>"]) + "\n")
    edit(directory / "tokenizer_config.json", tokenizer_class="MPNetTokenizer", do_lower_case=True)
    modules(directory, max_seq_length=384)


def distilroberta(directory):
    """all-distilroberta-v1, all-roberta-large-v1: the class for pretraining, `vocab.json` and `merges.txt`
    next to `tokenizer.json`"""
    model(directory, "RobertaForMaskedLM", vocab_size=700)
    byte_level(directory, ("tokenizer.json", "vocab.json"))
    modules(directory, max_seq_length=128)


def ko_sroberta(directory):
    """ko-sroberta-multitask, klue/roberta-base: RoBERTa with the `vocab.txt` of BERT"""
    model(directory, "RobertaModel", type_vocab_size=1)
    bert(directory)
    (directory / "tokenizer.json").unlink()
    modules(directory)


def albert_small(directory):
    """paraphrase-albert-small-v2: `spiece.model` alone"""
    model(directory, "AlbertModel", vocab_size=600)
    spm(directory, "albert", "spiece.model", "AlbertTokenizer", do_lower_case=True)
    modules(directory)


def camembert(directory):
    """sentence-camembert-base: `sentencepiece.bpe.model`"""
    model(directory, "CamembertModel", vocab_size=600)
    spm(directory, "camembert", "sentencepiece.bpe.model", "CamembertTokenizer")
    modules(directory)


def mmbert(directory):
    """mmBERT-base: `position_embedding_type` `sans_pos`, BPE with bytes for other characters"""
    model(directory, "ModernBertModel", vocab_size=900, pad_token_id=0)
    gemma(directory)
    edit(directory / "config.json", position_embedding_type="sans_pos")
    modules(directory)


def modernbert(directory):
    """gte-modernbert-base, modernbert-embed-base: the older keys of positions, split as Llama 3 does"""
    model(directory, "ModernBertModel", vocab_size=700, pad_token_id=1, cls_token_id=0, sep_token_id=2)
    byte_level(
        directory, pattern=LLAMA3, tokenizer_class="PreTrainedTokenizerFast",
        model_input_names=["input_ids", "attention_mask"],
    )  # fmt: skip
    modules(directory, "cls")
    edit(
        directory / "config.json", rope_parameters=None, layer_types=None, global_rope_theta=160000.0,
        local_rope_theta=10000.0, global_attn_every_n_layers=3,
    )  # fmt: skip


def nomic(directory):
    """nomic-embed-text-v1.5: as transformers saves it"""
    model(directory, "NomicBertModel")
    bert(directory)
    modules(directory)


def gte(directory):
    """gte-multilingual-base: as transformers saves it, Unigram"""
    model(directory, "GteModel", vocab_size=600, pad_token_id=1)
    unigram(directory)
    modules(directory, "cls")


def cross_encoder(directory):
    """ms-marco-MiniLM-L6-v2, ms-marco-TinyBERT-L2-v2: one label, settings of sentence-transformers in
    `config.json`"""
    model(directory, "BertForSequenceClassification", num_labels=1)
    bert(directory)
    edit(
        directory / "config.json",
        sentence_transformers={"activation_fn": "torch.nn.modules.linear.Identity", "version": "4.0.1"},
    )


def bge_reranker(directory):
    """bge-reranker-base, bge-reranker-v2-m3: XLM-RoBERTa, one label"""
    model(directory, "XLMRobertaForSequenceClassification", num_labels=1, vocab_size=600)
    unigram(directory)


def multilingual_reranker(directory):
    """mmarco-mMiniLMv2-L12-H384-v1: BERT with the tokenizer of XLM-R, pairs without token types"""
    model(directory, "BertForSequenceClassification", num_labels=1, vocab_size=600)
    unigram(directory)


def sst2(directory):
    """distilbert-base-uncased-finetuned-sst-2-english: `vocab.txt`, a `tokenizer_config.json` of two keys"""
    model(directory, "DistilBertForSequenceClassification", num_labels=2)
    bert(directory)
    (directory / "tokenizer.json").unlink()
    (directory / "tokenizer_config.json").write_text('{"do_lower_case": true, "model_max_length": 512}')
    edit(directory / "config.json", id2label={"0": "NEGATIVE", "1": "POSITIVE"})


def go_emotions(directory):
    """roberta-base-go_emotions: several labels at once"""
    model(directory, "RobertaForSequenceClassification", num_labels=5, vocab_size=700)
    byte_level(directory, ("vocab.json", "tokenizer.json"))
    edit(directory / "config.json", problem_type="multi_label_classification")


def roberta_squad(directory):
    """roberta-base-squad2, tinyroberta-squad2: `vocab.json` and `merges.txt` alone"""
    model(directory, "RobertaForQuestionAnswering", vocab_size=700)
    byte_level(directory, ("vocab.json",))


def deberta_zeroshot(directory):
    """DeBERTa-v3-base-mnli-fever-anli, deberta-v3-base-prompt-injection-v2: F16, `model_max_length` 1e30,
    `added_tokens.json`, `pos_att_type` as one string"""
    model(directory, "DebertaV2ForSequenceClassification", num_labels=3, vocab_size=600)
    spm(directory, "deberta-v2", "spm.model", "DebertaV2Tokenizer", model_max_length=int(1e30))
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    edit(directory / "added_tokens.json", **{"[MASK]": len(tokenizer) - 1})
    edit(
        directory / "config.json", pos_att_type="p2c|c2p", id2label={"0": "entailment", "1": "neutral", "2": "no"}
    )
    renamed(directory, lambda name: name, torch.float16)


def ner(directory):
    """bert-base-NER, bert-large-NER, wikineural-multilingual-ner: `_num_labels`, a pooler that nothing
    reads"""
    trained = model(directory, "BertForTokenClassification", num_labels=3)
    bert(directory, strip_accents=False)
    labels = {"0": "O", "1": "B-PER", "2": "I-PER"}
    edit(
        directory / "config.json",
        _num_labels=3,
        id2label=labels,
        label2id={name: int(id) for id, name in labels.items()},
    )
    width = trained.config.hidden_size
    pooler = {"bert.pooler.dense.weight": torch.zeros(width, width), "bert.pooler.dense.bias": torch.zeros(width)}
    renamed(directory, lambda name: name, **pooler)


def conll(directory):
    """xlm-roberta-large-finetuned-conll03-english: Unigram"""
    model(directory, "XLMRobertaForTokenClassification", num_labels=4, vocab_size=600)
    unigram(directory)


def gamma_and_beta(directory):
    """bert-base-uncased, bert-base-cased: heads for pretraining, norms named `gamma` and `beta`"""
    model(directory, "BertForPreTraining")
    bert(directory)
    renamed(
        directory,
        lambda name: name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ),
    )


def hub_cache(directory):
    """any: the cache of the Hub, with links to blobs"""
    made = directory.parent / "made"
    made.mkdir()
    bge(made)
    for path in [path for path in made.rglob("*") if path.is_file()]:
        blob = directory.parent / "blobs" / f"{abs(hash(str(path))):x}"
        blob.parent.mkdir(exist_ok=True)
        shutil.move(path, blob)
        link = directory / path.relative_to(made)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))


def shards(directory):
    """any: BF16 in shards"""
    trained = model(directory, "BertModel")
    bert(directory)
    (directory / "model.safetensors").unlink()
    trained.to(torch.bfloat16).save_pretrained(directory, max_shard_size="1MB")


def pytorch(directory):
    """bge-m3, contriever: `pytorch_model.bin` alone"""
    trained = model(directory, "XLMRobertaModel", vocab_size=600)
    unigram(directory)
    modules(directory, "cls")
    (directory / "model.safetensors").unlink()
    torch.save(trained.state_dict(), directory / "pytorch_model.bin")


def lines_of_windows(directory):
    """any: `vocab.txt` with CRLF"""
    sst2(directory)
    vocabulary = (directory / "vocab.txt").read_text()
    (directory / "vocab.txt").write_bytes(vocabulary.replace("\n", "\r\n").encode())


def old_tokenizer_json(directory):
    """any: `tokenizer.json` of tokenizers 0.8"""
    model(directory, "BertForSequenceClassification", num_labels=2)
    bert(directory)
    content = json.loads((directory / "tokenizer.json").read_text())
    content["post_processor"] = {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
    del content["model"]["type"]
    (directory / "tokenizer.json").write_text(json.dumps(content))


def ernie(directory):
    """ernie-3.0-base-zh, text2vec-base-chinese-paraphrase: ERNIE without task ids"""
    model(directory, "ErnieModel")
    bert(directory)


def squeeze(directory):
    """any: another class that reads `vocab.txt` like the tokenizer of BERT"""
    model(directory, "BertModel")
    bert(directory)
    (directory / "tokenizer.json").unlink()
    edit(directory / "tokenizer_config.json", tokenizer_class="SqueezeBertTokenizer")


def colbert(directory):
    """colbertv2.0, answerai-colbert-small-v1: `artifact.metadata`"""
    stanford(directory)


def sparse(directory):
    """splade-v3, splade-cocondenser-ensembledistil: SpladePooling"""
    splade(directory, "Bert")


VARIANTS = [
    minilm, bge, mxbai, multilingual_minilm, multilingual_mpnet, mpnet, distilroberta, ko_sroberta, albert_small,
    camembert, mmbert, modernbert, nomic, gte, cross_encoder, bge_reranker, multilingual_reranker, sst2, go_emotions,
    roberta_squad, deberta_zeroshot, ner, conll, gamma_and_beta, hub_cache, shards, pytorch, lines_of_windows,
    old_tokenizer_json, ernie, squeeze, colbert, sparse,
]  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.__name__)
def test_variant(variant, tmp_path, capsys):
    directory = tmp_path / "model"
    directory.mkdir()
    variant(directory)
    assert bertqa.check.main(str(directory)) == 0, capsys.readouterr().out
    assert "not compared" not in capsys.readouterr().out


def test_the_tool_checks(tmp_path, monkeypatch, capsys):
    cross_encoder(tmp_path)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = [TOOL, "info", "--check", tmp_path]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("tokens: 6 of 6 texts are the same\nclassify: at most ")
    monkeypatch.setattr(bertqa.check, "TOLERANCE", -1)
    assert bertqa.check.main(str(tmp_path)) == 1
    assert "classify: at most " in capsys.readouterr().out
