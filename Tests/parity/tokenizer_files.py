"""Tokenizers of the kinds that popular checkpoints have, trained on little text."""

import io
from pathlib import Path

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

import bertqa.check
from conftest import WORDS
from directories import edit, word_piece
from test_sentencepiece import TRAINING

CORPUS = [
    *bertqa.check.TEXTS,
    " ".join(WORDS[:400]),
    Path(__file__).with_name("test_variants.py").read_text(encoding="utf-8"),
]
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
    r"\s+(?!\S)|\s+"
)
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
TEMPLATE = processors.TemplateProcessing(
    single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
)


def bert(directory, **settings):
    """vocab.txt and tokenizer.json, as almost every BERT has them."""
    word_piece(directory, lowercase=True)
    edit(directory / "tokenizer_config.json", tokenizer_class="BertTokenizer", do_lower_case=True, **settings)


def byte_level(directory, files=("tokenizer.json",), pattern=None, **settings):
    tokenizer = Tokenizer(models.BPE())
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern is None)
    tokenizer.pre_tokenizer = (
        pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), cut]) if pattern else cut
    )
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        CORPUS, trainers.BpeTrainer(vocab_size=700, special_tokens=ROBERTA, initial_alphabet=alphabet)
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, False)
    if "tokenizer.json" in files:
        tokenizer.save(str(directory / "tokenizer.json"))
    if "vocab.json" in files:
        tokenizer.model.save(str(directory))
    names = dict(zip(("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), ROBERTA))
    names |= {"cls_token": "<s>", "sep_token": "</s>"}
    settings = {"tokenizer_class": "RobertaTokenizer", "model_max_length": 512} | settings
    edit(directory / "tokenizer_config.json", **names, **settings)


def unigram(directory, **settings):
    """XLM-R's: tokenizer.json with Metaspace, without token types."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    tokenizer.train_from_iterator(
        CORPUS,
        trainers.UnigramTrainer(vocab_size=600, special_tokens=ROBERTA, unk_token="<unk>", show_progress=False),
    )
    tokenizer.post_processor = TEMPLATE
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    tokenizer.save(str(directory / "tokenizer.json"))
    names = {"bos_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "cls_token": "<s>"}
    names |= {"unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>"}
    edit(directory / "tokenizer_config.json", **names, **{"tokenizer_class": "XLMRobertaTokenizer"} | settings)


def gemma(directory):
    """Characters with bytes for the others, as mmBERT has them."""
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_next")
    trainer = trainers.BpeTrainer(
        vocab_size=900, special_tokens=special + [f"<0x{byte:02X}>" for byte in range(256)], limit_alphabet=200
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> $A <eos>", pair="<bos> $A <eos> $B <eos>", special_tokens=[("<bos>", 2), ("<eos>", 1)]
    )
    tokenizer.save(str(directory / "tokenizer.json"))
    names = {"bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>"}
    edit(
        directory / "tokenizer_config.json", **names, mask_token="<mask>", tokenizer_class="PreTrainedTokenizerFast",
        cls_token="<bos>", sep_token="<eos>",
    )  # fmt: skip


def spm(directory, family, name, cls, **settings):
    content = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(" ".join(CORPUS).split("\n") * 3), model_writer=content, vocab_size=500,
        hard_vocab_limit=False, minloglevel=2, **TRAINING[family],
    )  # fmt: skip
    (directory / name).write_bytes(content.getvalue())
    edit(directory / "tokenizer_config.json", tokenizer_class=cls, **settings)
