"""Byte-pair and other pipelines as Hugging Face's tokenizers trains and saves them, to compare ours with.

The text is free: what the checkout has, and for all cases that of a folder of data beside it, where there is one,
which makes vocabularies of real size.
"""

import functools
import json
import pathlib

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)  # fmt: skip

import text_cases
from conftest import FIXTURES, LONG, ROOT

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TAIL = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + TAIL
QWEN2 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + TAIL
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + CONTRACTIONS + "?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + CONTRACTIONS + "?|"
    r"\p{N}{1,3}" + TAIL.replace(r"[\r\n]*", r"[\r\n/]*", 1)
)
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


@functools.cache
def corpus():
    """Texts for training."""
    texts = list(text_cases.languages()) * 3
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("Sources/**/*.swift")]):
        texts += path.read_text(encoding="utf-8").split("\n\n")
    data = ROOT.parent / "shared" / "data"
    for name in "multilingual.jsonl", "topics_train.jsonl":
        if LONG and (data / name).exists():
            texts += [json.loads(line)["text"] for line in open(data / name, encoding="utf-8")]
    return texts


def paragraphs():
    """Real text for comparisons: the data beside the checkout if all cases run and it exists, else sentences."""
    path = ROOT.parent / "shared" / "data" / "multilingual.jsonl"
    if not LONG or not path.exists():
        return text_cases.languages()
    return [json.loads(line)["text"] for line in open(path, encoding="utf-8")]


@functools.cache
def _byte_level(pattern, size):
    """Trains the model once for each pattern, and returns its JSON."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = _cut(pattern, False)
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )  # fmt: skip
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer.to_str()


def _cut(pattern, prefix):
    if pattern is None:
        return pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=False)])


def byte_level(pattern=None, prefix=False, trim=True, size=40000, **settings):
    """GPT-2's kind with RoBERTa's special tokens."""
    definition = json.loads(_byte_level(pattern, size))
    definition["model"].update(settings)
    tokenizer = Tokenizer.from_str(json.dumps(definition))
    tokenizer.pre_tokenizer = _cut(pattern, prefix)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim, prefix)
    return tokenizer


def roberta():
    tokenizer = byte_level()
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    return tokenizer


def roberta_prefix():
    """With a space before the first word, and added tokens of every sort."""
    tokenizer = byte_level(prefix=True)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, rstrip=True, special=True)])
    tokenizer.add_tokens(
        [
            AddedToken("ing"),
            AddedToken("Nîmes", single_word=True, lstrip=True, rstrip=True),
            AddedToken(" the", normalized=False, lstrip=True),
            AddedToken("[", rstrip=True),
        ]
    )
    return tokenizer


def llama3():
    tokenizer = byte_level(LLAMA3, size=30000, ignore_merges=True)
    template = processors.TemplateProcessing("<s> $A", "<s> $A $B", [("<s>", 0)])
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    return tokenizer


def qwen2():
    tokenizer = byte_level(QWEN2, size=8000)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True, add_prefix_space=False)
    return tokenizer


def o200k():
    tokenizer = byte_level(O200K, size=8000)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    return tokenizer


def _characters(model, normalizer, pre_tokenizer, size=10000, **training):
    tokenizer = Tokenizer(model)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=size, show_progress=False, **training))
    return tokenizer


def clip():
    """Characters with an end of word, unknown ones one by one."""
    return _characters(
        models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"),
        normalizers.Sequence([normalizers.Lowercase(), normalizers.StripAccents()]),
        pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)]),
        special_tokens=["<unk>"], end_of_word_suffix="</w>", limit_alphabet=300,
    )  # fmt: skip


def continuing():
    """Characters with a prefix within words, unknown ones fused, after BERT's normaliser."""
    return _characters(
        models.BPE(unk_token="<unk>", continuing_subword_prefix="##", fuse_unk=True),
        normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer(),
        special_tokens=["<unk>"], continuing_subword_prefix="##", limit_alphabet=300,
    )  # fmt: skip


def byte_fallback():
    """Characters, and bytes for those that are no piece."""
    return _characters(
        models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True),
        None, pre_tokenizers.Split(" ", "merged_with_next"),
        special_tokens=["<unk>"] + [f"<0x{byte:02X}>" for byte in range(256)], limit_alphabet=300,
    )  # fmt: skip


def dropping():
    """Characters. Those that are not pieces are dropped, which shifts the ranges of the rest of the word."""
    cuts = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.Digits()]
    return _characters(models.BPE(), None, pre_tokenizers.Sequence(cuts), limit_alphabet=120)


def spelled():
    """Bytes that are spelled before another step splits them, some without a piece."""
    cuts = [pre_tokenizers.ByteLevel(add_prefix_space=True), pre_tokenizers.Digits(individual_digits=True)]
    tokenizer = _characters(
        models.BPE(unk_token="<unk>"), None, pre_tokenizers.Sequence(cuts), special_tokens=["<unk>"],
        limit_alphabet=120,
    )  # fmt: skip
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True, add_prefix_space=True)
    return tokenizer


def mpnet():
    """WordPiece with RoBERTa's special tokens."""
    pieces = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces += (FIXTURES / "tokenizer" / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1] + ["<mask>"]
    vocabulary = {}
    for piece in pieces:
        vocabulary.setdefault(piece, len(vocabulary))
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        "<s> $A </s>", "<s> $A </s> </s> $B </s>", [("<s>", 0), ("</s>", 2)]
    )
    tokenizer.add_special_tokens([*SPECIAL[:4], "[UNK]", AddedToken("<mask>", lstrip=True, special=True)])
    return tokenizer


KINDS = {
    make.__name__: make
    for make in (
        roberta, roberta_prefix, llama3, qwen2, o200k, clip, continuing, byte_fallback, dropping, spelled, mpnet,
    )
}  # fmt: skip


def save(tokenizer, directory):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(directory / "tokenizer.json"))
    return directory
