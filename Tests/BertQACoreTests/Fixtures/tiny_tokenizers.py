"""Tokenizers of the kinds that families of models have, of a few hundred pieces."""

import importlib
import json
import pathlib
import random
import sys

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

sys.path.insert(0, str(pathlib.Path(__file__).parent))
tiny = importlib.import_module("generate-tiny-models")

NAMES = ["cls_token", "pad_token", "sep_token", "unk_token", "mask_token"]


def corpus():
    """Sentences of the vocabulary's words, the same each time."""
    chosen = random.Random(7)
    words = tiny.WORDS + tiny.CAPITALISED
    lines = [
        " ".join(
            chosen.choice(words) + (chosen.choice(tiny.ENDINGS) if chosen.random() < 0.3 else "")
            for _ in range(chosen.randint(4, 12))
        )
        + chosen.choice([".", "?", "!", ",", ""])
        for _ in range(400)
    ]
    return lines + tiny.SENTENCES * 8 + [text for pair in tiny.TEXTS for text in pair if text]


def order(special):
    """By id: RoBERTa's own order, or BERT's. `special` has them in the order of NAMES."""
    cls, pad, sep, unk, mask = special
    return [cls, pad, sep, unk, mask] if cls == "<s>" else [pad, unk, cls, sep, mask]


def unigram(special, size, lowercase=False):
    """SentencePiece's: a word's range has the space before it."""
    tokenizer = Tokenizer(models.Unigram())
    steps = [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    tokenizer.normalizer = normalizers.Sequence(steps + [normalizers.Lowercase()] * lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=size,
        show_progress=False,
        special_tokens=order(special),
        unk_token=special[3],
        max_piece_length=8,
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


def byte_level(special, size):
    """GPT-2's: a word's range has the space before it, unless the post-processor trims it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, show_progress=False, special_tokens=order(special), initial_alphabet=alphabet
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


def frame(tokenizer, special, trims=False, two_separators=False):
    """Adds special tokens around texts."""
    cls, sep = special[0], special[2]
    ids = [(name, tokenizer.token_to_id(name)) for name in (cls, sep)]
    if trims:
        tokenizer.post_processor = processors.RobertaProcessing(ids[1], ids[0], True, False)
    else:
        second = f"{sep} $B {sep}" if two_separators else "$B:1 " + sep + ":1"
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{cls} $A {sep}", pair=f"{cls} $A {sep} {second}", special_tokens=ids
        )
    return tokenizer


def save(tokenizer, special, folder, model_input_names):
    """Writes the tokenizer's files, and gives the tokenizer as transformers reads them."""
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_input_names=model_input_names, **dict(zip(NAMES, special))
    )
    (folder / "tokenizer.json").write_text(tokenizer.to_str() + "\n", encoding="utf-8")
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": model_input_names}
    settings |= dict(zip(NAMES, special))
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1) + "\n")
    (folder / "vocab.txt").unlink(missing_ok=True)
    return fast


def pieces(tokenizer):
    return sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)
