"""Ids, pieces and offsets against the Rust tokenizers library, live: no difference on any text."""

import base64
import itertools
import json
import random

import pytest
import tokenizers
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

import bertqa
import text_cases
from conftest import FEWER, FIXTURES, PREFIX
from tokenizer_pair import Pair

DEFAULT_VOCABULARY = PREFIX / "share" / "bertqa" / "models" / "qa-minilm-l6" / "vocab.txt"
WIDE_VOCABULARY = FIXTURES / "tokenizer" / "vocab.txt"
CONFIGURATIONS = list(itertools.product((True, False), (None, True, False), (True, False)))
STRINGS, BYTES = 8000 // FEWER, 3000 // FEWER  # per configuration


class BertPair(Pair):
    """The tokenizers of one configuration."""

    def __init__(self, directory, vocabulary, lowercase, strip_accents, chinese):
        (directory / "vocab.txt").write_bytes(vocabulary.read_bytes())
        settings = {
            "do_lower_case": lowercase, "strip_accents": strip_accents, "tokenize_chinese_chars": chinese,
        }  # fmt: skip
        (directory / "tokenizer_config.json").write_text(json.dumps(settings))
        theirs = {}
        for special in False, True:
            reference = Tokenizer(models.WordPiece.from_file(str(vocabulary), unk_token="[UNK]"))
            reference.normalizer = normalizers.BertNormalizer(
                clean_text=True, handle_chinese_chars=chinese, strip_accents=strip_accents, lowercase=lowercase
            )
            reference.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
            if special:
                reference.add_special_tokens([AddedToken(t, special=True) for t in text_cases.SPECIAL])
            theirs[special] = reference
        super().__init__(bertqa.Context(directory, tokenizer_only=True), theirs)

    def compare(self, texts, special):
        return super().compare(texts, special, pieces=True)


def test_versions():
    assert tokenizers.__version__ == "0.23.3"


@pytest.mark.parametrize("number", range(len(CONFIGURATIONS)), ids=lambda n: str(CONFIGURATIONS[n]))
def test_configuration(tmp_path, number):
    """Structured and random texts; with all cases, 132,000 random ones over all configurations."""
    pair = BertPair(tmp_path, WIDE_VOCABULARY, *CONFIGURATIONS[number])
    edges = random.Random(number).sample(list(text_cases.edge_cases()), 1000 // FEWER)
    assert pair.ours.info.is_lowercase is CONFIGURATIONS[number][0]
    for special in False, True:
        seed = 1000 + 2 * number + special
        pair.compare(text_cases.languages() + edges + text_cases.fuzzed(), special)
        compared = pair.compare(text_cases.random_strings(seed, STRINGS // 2), special)
        compared += pair.compare(text_cases.random_bytes(seed, BYTES // 2), special)
        assert compared == (STRINGS + BYTES) // 2


@pytest.mark.long
def test_cases_are_many():
    assert (STRINGS + BYTES) * len(CONFIGURATIONS) >= 100_000


@pytest.mark.parametrize("special", [False, True])
def test_default_model(tmp_path, special):
    pair = BertPair(tmp_path, DEFAULT_VOCABULARY, True, None, True)
    pair.compare(text_cases.languages(), special)
    pair.compare(text_cases.edge_cases(), special)
    pair.compare(text_cases.random_strings(special, 2000 // FEWER), special)


@pytest.mark.parametrize(
    "configuration, step",
    [((True, None, True), FEWER), ((False, None, True), 5 * FEWER), ((False, True, False), 5 * FEWER)],
)
def test_code_points(tmp_path, configuration, step):
    """Code points within and before a word, and before a mark; 500 to a text. Of all cases, all or every fifth of
    `CODE_POINTS`."""
    pair = BertPair(tmp_path, DEFAULT_VOCABULARY, *configuration)
    cases = text_cases.code_points("s{0}s {0}e {0}\u0301", step=step)
    texts = []
    while chunk := list(itertools.islice(cases, 500)):
        texts.append(" ".join(chunk))
    assert pair.compare(texts, False) * 500 >= len(text_cases.CODE_POINTS) // step


def test_fixture_of_the_swift_tests_is_what_the_reference_says(tmp_path):
    pairs = {}
    with open(FIXTURES / "tokenizer" / "cases.jsonl", encoding="ascii") as file:
        for line in itertools.islice(file, 0, None, 7):
            *configuration, special, text, ids, starts, ends = json.loads(line)
            key = tuple(configuration)
            if key not in pairs:
                directory = tmp_path / str(len(pairs))
                directory.mkdir()
                pairs[key] = BertPair(directory, WIDE_VOCABULARY, *key)
            data = base64.b64decode(text)
            pairs[key].compare([data], special)
            ours = pairs[key].ours.tokenize(data, parse_special_tokens=special)
            assert (ours.ids, ours.offsets) == (ids, list(zip(starts, ends)))
    assert len(pairs) == len(CONFIGURATIONS)
