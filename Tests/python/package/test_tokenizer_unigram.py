"""Unigram tokenizers against the Rust library, live: no difference of ids and offsets on any text."""

import base64
import itertools
import json
import random
import struct
import unicodedata

import pytest
from tokenizers import Tokenizer, models, normalizers

import bertqa
import byte_pair
import text_cases
import unigram
from conftest import FEWER
from tokenizer_pair import Pair, mixed

STRINGS, BYTES = 5000 // FEWER, 3000 // FEWER  # of each kind
WORDS = [
    "<s>", "</s>", "<mask>", " <mask>", "<unk>", "x<unk>y", "[CLS]", "[SEP]a", "(r)", "<user>", "``a''", "  a  b ",
    "▁x", " ▁ ", "x▁▁y", "\r\n\u0301", "a\r\u0301", "ﬁ\u0301n", "½\x01a", "\x01abc", "\x01\x02 ﬁ", "\u0e33a",
    "a\u00ad",
    "©\u200d®", "क्ष", "क्ष\u0301", "\u0600a", "\u1100\u1161\u11a8", "각\u11a8", "xyxyz", "zzxx", "ǅ\u05c8",
    "\u1e9b\u0323", "ﷺ", "㍆", "＜s＞", "Ａ\u0301", "𝅘𝅥𝅮", "\u0344", "🇩🇪🇫\u0301", "<0x41>", "\ufeff",
    "ab   ", " \n\t ", "\u3000中",
]  # fmt: skip


def pair_of(tokenizer, directory):
    path = str(directory / "tokenizer.json")
    tokenizer.save(path)
    # Read from the file too: scores change by a unit in the last place.
    theirs = {True: Tokenizer.from_file(path), False: unigram.as_text(tokenizer)}
    return Pair(bertqa.Context(directory, tokenizer_only=True), theirs)


@pytest.mark.parametrize("kind", unigram.KINDS)
def test_kind(kind, tmp_path):
    pair = pair_of(unigram.KINDS[kind](), tmp_path)
    edges = [text for text in text_cases.edge_cases() if len(text) < 2000]
    for special in False, True:
        seed = 500 + 2 * list(unigram.KINDS).index(kind) + special
        pair.compare(text_cases.languages() + WORDS + random.Random(seed).sample(edges, 300 // FEWER), special)
        pair.compare(text_cases.fuzzed(), special)
        compared = pair.compare(mixed(seed, STRINGS // 2, WORDS), special)
        compared += pair.compare(text_cases.random_bytes(seed, BYTES // 2), special)
        assert compared == STRINGS // 2 + BYTES // 2
    pair.compare(byte_pair.paragraphs()[::7], False)


@pytest.mark.long
def test_cases_are_many():
    assert (STRINGS + BYTES) * len(unigram.KINDS) >= 100_000


@pytest.mark.parametrize("kind", ["xlm-roberta", "albert"])
def test_code_points(kind, tmp_path):
    """Code points beside letters, spaces and marks. Of all cases, every seventh of `CODE_POINTS`."""
    pair = pair_of(unigram.KINDS[kind](), tmp_path)
    cases = list(text_cases.code_points("a{0}b {0} e{0}\u0301 {0}", step=7 * FEWER))
    pair.compare(["".join(cases[index : index + 300]) for index in range(0, len(cases), 300)], False)


def clusters():
    """A charsmap that maps each cluster of less than six bytes, and each other character, to "X"."""
    nodes = [0] * 768
    nodes[0] = 256 << 10
    for byte in [0x61, *range(0xC2, 0xF5)]:
        place = 256 ^ byte
        nodes[place] = byte | 1 << 8 | (place ^ 512 + byte) << 10
        nodes[512 + byte] = 1 << 31
    trie = struct.pack(f"<{len(nodes)}I", *nodes)
    return normalizers.Precompiled(struct.pack("<I", len(trie)) + trie + b"X\0")


def test_grapheme_clusters(tmp_path):
    """The starts of clusters, as a charsmap shows them; no Unicode table is compared."""
    pair = pair_of(
        unigram.make([("<unk>", 0.0), ("X", -1.0)], 0, [clusters()], unigram.metaspace("never"), []), tmp_path
    )
    contexts = [
        "a{}",
        "{}a",
        "©\u200d{}",
        "क्{}\u0301",
        "क{}क\u0301",
        "क्{}क\u0301",
        "\u1100{}",
        "\uac00{}",
        "🇩{}\u0301",
    ]
    cases = text_cases.code_points(*contexts, step=29 * FEWER)
    while batch := list(itertools.islice(cases, 2000)):
        pair.compare(["b\n".join(batch[index : index + 9]) for index in range(0, len(batch), 9)], False)


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_forms_of_unicode(form, tmp_path):
    """The characters of a normalization form, also against Python, whose Unicode is older than some of the
    text."""
    alphabet = sorted({c for text in text_cases.languages() for c in unicodedata.normalize(form, text)})
    vocabulary = [("<unk>", 0.0)] + [(character, -1.0) for character in alphabet]
    step = getattr(normalizers, form)()
    tokenizer = unigram.make(vocabulary, 0, [step], unigram.metaspace("never", split=False), [])
    pair = pair_of(tokenizer, tmp_path)
    for text in text_cases.languages():
        ids = pair.ours.tokenize(text).ids
        expected = unicodedata.normalize(form, text).replace(" ", "▁")
        known = [alphabet.index(c) + 1 if c in alphabet else 0 for c in expected]
        # Neighbouring unknown characters become one token.
        assert [id for id in ids if id] == [id for id in known if id]
    storms = [
        "a" + "\u0301\u0323\u0345\u0334" * 30000,
        "\u0301" * 100000,
        "\u1100\u1161\u11a8" * 20000,
        "ﷺ" * 5000,
    ]
    pair.compare(storms, False)


@pytest.mark.parametrize("kind", ["xlm-roberta", "albert", "deberta", "byte-fallback"])
def test_long_texts(kind, tmp_path):
    pair = pair_of(unigram.KINDS[kind](), tmp_path)
    for unit in "a", "ab ", " ", "中", "\u0301", "👍🏽", "½", "\x01", "e\u0301\u0323", "\u200d", "``":
        pair.compare(["x" + unit * 20_000 + "!"], False)


def test_special_tokens_stay_text(tmp_path):
    pair = pair_of(unigram.xlm_roberta(), tmp_path)
    for text in "<s>", "a </s> b", "<mask>", "x<pad>", "<unk>", "＜s＞":
        assert not set(pair.ours.tokenize(text).ids) & {0, 1, 2, pair.theirs[True].token_to_id("<mask>")}
        assert set(pair.ours.tokenize("<s>", parse_special_tokens=True).ids) == {0}


def test_special_tokens_of_one_character_stay_text(tmp_path):
    """As text, such a token is a character that no piece spells."""
    pieces = [("<unk>", 0.0), ("a", -2.0), ("b", -2.5), ("ab", -9.0), ("ba", -9.0)]
    made = Tokenizer(models.Unigram([*pieces, ("é", -1.0)], unk_id=0))
    made.add_special_tokens(["é"])
    pair, theirs = pair_of(made, tmp_path), Tokenizer(models.Unigram(pieces, unk_id=0))
    for text in "é", "aéb", "éab", "éba", "éabab", "ééab", "abé":
        ours, expected = pair.ours.tokenize(text), theirs.encode(text)
        assert (ours.ids, ours.offsets) == (expected.ids, expected.offsets)


FAMILIES = {
    "sentencepiece.bpe.model": [
        ("xlm-roberta", {"tokenizer_class": "XLMRobertaTokenizer"}, unigram.xlm_roberta),
        ("xlm-roberta", None, unigram.xlm_roberta),
        ("xlm-roberta", {"tokenizer_class": "CamembertTokenizerFast"}, unigram.camembert),
    ],
    "spiece.model": [
        ("albert", {"tokenizer_class": "AlbertTokenizer"}, unigram.albert),
        ("albert", {"keep_accents": True}, lambda: unigram.albert([normalizers.Lowercase()])),
        ("albert", {"do_lower_case": False}, lambda: unigram.albert(unigram.FOLD[:2])),
    ],
    "spm.model": [
        ("deberta", {"tokenizer_class": "DebertaV2Tokenizer"}, unigram.deberta),
        ("deberta", {"do_lower_case": True, "split_by_punct": True}, lambda: unigram.deberta(True, True)),
    ],
}


@pytest.mark.parametrize(
    "name, family, settings, theirs", [(name, *row) for name, rows in FAMILIES.items() for row in rows]
)
def test_sentencepiece_models(name, family, settings, theirs, tmp_path):
    """Without tokenizer.json. Tests/parity shows that transformers returns what is compared with here."""
    reference = tmp_path / "reference"
    reference.mkdir()
    pair = pair_of(theirs(), reference)
    (tmp_path / name).write_bytes(unigram.model(family))
    if settings is not None:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    pair.ours = bertqa.Context(tmp_path, tokenizer_only=True)
    assert pair.ours.info.vocabulary_size == pair.theirs[True].get_vocab_size()
    # In memory, with the file's own scores; without special tokens there is only a form whose scores went through JSON,
    # which cuts repeated characters otherwise.
    pair.theirs[True] = theirs()
    pair.compare(text_cases.languages() + WORDS + list(mixed(9, 500, WORDS)), True)
    pair.compare(text_cases.languages() + WORDS, False)


BASE = {"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Metaspace", "replacement": "▁"}}
MODEL = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1]]}
REFUSED = [
    ({"model": {**MODEL, "unk_id": None}}, "unk_id"),
    ({"model": {**MODEL, "unk_id": 2}}, "unk_id 2"),
    ({"model": {**MODEL, "vocab": [["<unk>"]]}}, "vocab"),
    ({"normalizer": {"type": "Replace", "pattern": {"Regex": "a*b"}, "content": ""}}, r"a\*b"),
    ({"normalizer": {"type": "Replace", "pattern": {"Regex": "(?i)x"}, "content": ""}}, "Replace"),
    ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAA"}}, "base64"),
    (
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(b"\xff" * 8).decode()}},
        "trie",
    ),
    ({"pre_tokenizer": {"type": "Metaspace", "replacement": "__"}}, "replacement"),
    ({"pre_tokenizer": {"type": "Metaspace", "replacement": "_", "prepend_scheme": "last"}}, "prepend_scheme"),
]


@pytest.mark.parametrize("change, message", REFUSED, ids=[message for _, message in REFUSED])
def test_refused(change, message, tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps({**BASE, "model": MODEL, **change}))
    with pytest.raises(bertqa.BertQAError, match=message) as failure:
        bertqa.Context(tmp_path, tokenizer_only=True)
    assert "tokenizer.json" in str(failure.value)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"tokenizer_class": "T5Tokenizer"}, "T5Tokenizer"),
        ({"add_bos_token": True}, "add_bos_token"),
        ({"sp_model_kwargs": {"enable_sampling": True}}, "enable_sampling"),
    ],
)
def test_settings_refused(settings, message, tmp_path):
    (tmp_path / "spm.model").write_bytes(unigram.model("deberta"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    with pytest.raises(bertqa.Unsupported, match=message):
        bertqa.Context(tmp_path, tokenizer_only=True)


def test_older_metaspace(tmp_path):
    """add_prefix_space and str_rep in files older than prepend_scheme."""
    step = {
        "type": "Metaspace",
        "replacement": "▁",
        "str_rep": "▁",
        "add_prefix_space": False,
        "prepend_scheme": "never",
    }
    definition = json.loads(Tokenizer(models.Unigram([("<unk>", 0.0), ("▁a", -1.0), ("a", -2.0)], 0)).to_str())
    for changed in step, {**step, "add_prefix_space": True, "prepend_scheme": "always"}:
        definition["pre_tokenizer"] = changed
        theirs = Tokenizer.from_str(json.dumps(definition))
        (tmp_path / "tokenizer.json").write_text(json.dumps(definition))
        ours = bertqa.Context(tmp_path, tokenizer_only=True)
        for text in "a a", " a", "aa  a":
            assert ours.tokenize(text).ids == theirs.encode(text).ids
