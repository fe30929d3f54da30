"""Static models beside model2vec and sentence-transformers themselves."""

import random

import numpy as np
import pytest
from model2vec import StaticModel
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Normalize, StaticEmbedding
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

import bertqa
from conftest import SPECIAL, WORDS, text_of

TOLERANCE = 1e-6
# Special tokens are text here, and not there.
TEXTS = [text_of(words, words) for words in (1, 2, 5, 17, 60, 600, 4000)]
TEXTS += ["", " ", "☃ unknown ☃", "BACEDI bacedi. É", "ba" * 3000, "☃ ba " * 900]
TEXTS += [text_of(random.Random(seed).randint(0, 90), seed) for seed in range(300)]


def matches(ours, theirs, tolerance=TOLERANCE):
    """numpy and torch add numbers one by one in single precision, so that long texts of equal words are up to 7e-5 from
    the exact mean. Ours are 3e-7 from it: Tests/python/package/test_static_embedding.py."""
    distances = np.abs(np.asarray(ours) - theirs).max(axis=1)
    return all(
        distance <= (tolerance if len(text) < 4000 else max(tolerance, 1e-4))
        for distance, text in zip(distances, TEXTS)
    )


def tokenizer(kind):
    pieces = ["[UNK]", *SPECIAL[:1], *SPECIAL[2:], "ba", "##ba", "É", "e", ".", *WORDS]
    if kind == "WordPiece":
        made = Tokenizer(models.WordPiece({piece: id for id, piece in enumerate(pieces)}, unk_token="[UNK]"))
        made.normalizer = normalizers.BertNormalizer(lowercase=True)
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        return made
    pieces = ["<unk>", "▁", *"abcdefghiklmnoprstuvwxyz", *("▁" + word for word in WORDS)]
    made = Tokenizer(models.Unigram([(piece, -float(id % 11)) for id, piece in enumerate(pieces)], unk_id=0))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    return made


def table(rows, dtype="float32", width=256, seed=0):
    numbers = np.random.default_rng(seed).standard_normal((rows, width))
    return (40 * numbers if dtype == "int8" else numbers).astype(dtype)


@pytest.mark.parametrize("kind", ["WordPiece", "Unigram"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
@pytest.mark.parametrize("form", ["plain", "mapped", "weighted", "both"])
def test_model2vec(kind, dtype, form, tmp_path):
    made = tokenizer(kind)
    count = made.get_vocab_size()
    rng = np.random.default_rng(1)
    is_mapped, is_weighted = form in ("mapped", "both"), form in ("weighted", "both")
    rows = 1000 if is_mapped else count
    StaticModel(
        table(rows, dtype),
        made,
        normalize=True,
        token_mapping=rng.integers(0, rows, count) if is_mapped else None,
        weights=rng.random(count) if is_weighted else None,
    ).save_pretrained(tmp_path)
    reference = StaticModel.from_pretrained(tmp_path)
    tolerance = 1e-3 if dtype == "float16" else TOLERANCE  # whose vectors numpy rounds to float16
    with bertqa.Context(tmp_path) as context:
        for options, length in (({}, None), ({"truncate": True}, 512), ({"truncate": True, "max_seq_len": 9}, 9)):
            theirs = reference.encode(TEXTS, max_length=length).astype(np.float32)
            assert matches(context.embed(TEXTS, **options), theirs, tolerance)


@pytest.mark.parametrize("kind", ["WordPiece", "Unigram"])
@pytest.mark.parametrize("normalizes", [True, False])
@pytest.mark.parametrize("length", [None, 12])
def test_sentence_transformers(kind, normalizes, length, tmp_path):
    made = tokenizer(kind)
    if length:
        made.enable_truncation(length)
    static = StaticEmbedding(made, embedding_weights=table(made.get_vocab_size()))
    SentenceTransformer(modules=[static] + [Normalize()] * normalizes, device="cpu").save(str(tmp_path))
    reference = SentenceTransformer(str(tmp_path), device="cpu")
    with bertqa.Context(tmp_path) as context:
        ours = np.asarray(context.embed(TEXTS, truncate=True))
    assert matches(ours, reference.encode(TEXTS))
