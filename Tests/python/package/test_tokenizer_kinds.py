"""Ids, pieces and offsets of tokenizers other than BERT's against the Rust library, live: no difference."""

import json
import random

import pytest
import tokenizers
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

import bertqa
import byte_pair
import text_cases
from conftest import FEWER
from tokenizer_pair import Pair, mixed

STRINGS, BYTES = 6000 // FEWER, 4000 // FEWER  # of each kind
WORDS = ["<s>", "</s>", "<mask>", " <mask> ", "<pad>", "<unk>", "it's", "WE'LL", "'S", "'\u017f", "12345", "\r\n \n", "  ",
         "   x", "[CLS]", "camelCaseWord", "ǅungla", "ªb", "Aª", "\u0301A", "New York", "ing", "// /\n/"]  # fmt: skip


def pair_of(tokenizer, directory):
    path = byte_pair.save(tokenizer, directory)
    theirs = {special: Tokenizer.from_file(str(path / "tokenizer.json")) for special in (True, False)}
    theirs[False].encode_special_tokens = True
    return Pair(bertqa.Context(path, tokenizer_only=True), theirs)


@pytest.mark.parametrize("kind", byte_pair.KINDS)
def test_kind(kind, tmp_path):
    pair = pair_of(byte_pair.KINDS[kind](), tmp_path)
    edges = list(text_cases.edge_cases())
    for special in False, True:
        seed = 2 * list(byte_pair.KINDS).index(kind) + special
        pair.compare(text_cases.languages() + WORDS + random.Random(seed).sample(edges, 1500 // FEWER), special)
        pair.compare(text_cases.fuzzed(), special)
        compared = pair.compare(mixed(seed, STRINGS // 2, WORDS), special)
        compared += pair.compare(text_cases.random_bytes(seed, BYTES // 2), special)
        assert compared == STRINGS // 2 + BYTES // 2
    pair.compare(byte_pair.paragraphs(), False)


@pytest.mark.long
def test_cases_are_many():
    assert (STRINGS + BYTES) * len(byte_pair.KINDS) >= 100_000
    assert tokenizers.__version__ == "0.23.3"


@pytest.mark.parametrize("kind", ["roberta", "llama3", "o200k", "clip", "continuing"])
def test_code_points(kind, tmp_path):
    """Code points beside letters, digits, spaces and punctuation. Of all cases, all or every third of `CODE_POINTS`."""
    pair = pair_of(byte_pair.KINDS[kind](), tmp_path)
    step = FEWER * (1 if kind == "roberta" else 3)
    cases = list(text_cases.code_points("a{0}B {0}1'{0}.{0} {0}{0}\n", step=step))
    pair.compare(["".join(cases[index : index + 300]) for index in range(0, len(cases), 300)], False)


BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
EXPRESSIONS = [r"\s+", r"\s", r"\d{1,3}", r"\p{N}", r"\w+", "[0-9]", r"\p{P}", "x", ""]
PATTERNS = ["-", "--", " ", "abab", "", *map(Regex, EXPRESSIONS)]


@pytest.mark.parametrize("behavior", BEHAVIORS)
def test_splits(behavior, tmp_path):
    """Each behaviour with each sort of pattern, inverted and not."""
    alphabet = " -abx12é\n中"
    vocabulary = {piece: index for index, piece in enumerate(alphabet)}
    source = random.Random(behavior)
    texts = ["".join(source.choice(alphabet) for _ in range(source.randint(1, 30))) for _ in range(300)]
    for number, pattern in enumerate(PATTERNS):
        for invert in False, True:
            tokenizer = Tokenizer(models.BPE())
            tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
                [pre_tokenizers.Split(pattern, behavior, invert), pre_tokenizers.Punctuation(behavior)]
            )
            # Words show where the dropped character ends them.
            tokenizer.model = models.BPE(
                vocabulary | {piece + "</w>": len(vocabulary) + index for index, piece in enumerate(alphabet)},
                [], end_of_word_suffix="</w>",
            )  # fmt: skip
            pair_of(tokenizer, tmp_path / f"{number}{invert}").compare(texts, False)


PIECES = ["[UNK]", "[CLS]", "ab", "abab", "x12", "##", "##b", "12", *"-abx12é中ĠÃ©"]
VOCABULARY = {piece: index for index, piece in enumerate(PIECES)}
RARE = [  # model, normalizer, pre-tokenizer
    (models.WordLevel(VOCABULARY, unk_token="[UNK]"), None, None),
    (models.WordLevel(VOCABULARY, unk_token="[UNK]"), None, pre_tokenizers.Whitespace()),
    (models.WordLevel(VOCABULARY, unk_token="é"), None, pre_tokenizers.FixedLength(2)),
    (models.BPE(VOCABULARY, [("a", "b"), ("ab", "ab")]), None, pre_tokenizers.FixedLength(3)),
    (models.BPE(VOCABULARY, [("a", "b"), ("ab", "ab")]), None, pre_tokenizers.CharDelimiterSplit("-")),
    (
        models.WordPiece(VOCABULARY),
        None,
        pre_tokenizers.Sequence([pre_tokenizers.CharDelimiterSplit("é"), pre_tokenizers.FixedLength(4)]),
    ),
    (models.WordPiece(VOCABULARY), None, pre_tokenizers.WhitespaceSplit()),
    (models.WordPiece(VOCABULARY | {"##x12-abab-x12-ab": 100}), None, pre_tokenizers.WhitespaceSplit()),
    (models.BPE(VOCABULARY, [("a", "b")], unk_token="[UNK]"), normalizers.ByteLevel(), None),
    (
        models.BPE(VOCABULARY, [("a", "b")]),
        normalizers.Sequence([normalizers.NFD(), normalizers.ByteLevel(), normalizers.Lowercase()]),
        pre_tokenizers.Split("Ġ", "merged_with_next"),
    ),
]


@pytest.mark.parametrize("number", range(len(RARE)))
def test_rare_parts(number, tmp_path):
    model, normalizer, pre_tokenizer = RARE[number]
    tokenizer = Tokenizer(model)
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.add_special_tokens(["[CLS]"])
    source = random.Random(number)
    alphabet = " -abx12é\n中\u0301\U0001f600[CLS]##"
    texts = ["".join(source.choice(alphabet) for _ in range(source.randint(1, 30))) for _ in range(500)]
    texts += ["##", "##b", "##ba", "###b", "####b", "#b", "##x12-abab-x12-ab", "##x12-abab-x12-a", "a##b"]
    pair = pair_of(tokenizer, tmp_path)
    for special in False, True:
        pair.compare(["", "[CLS]", *texts, *text_cases.languages()], special)
        pair.compare(text_cases.random_bytes(number, 300), special)


@pytest.mark.parametrize(
    "text", ["a" * 300_000, "ab" * 150_000, "\u4e2d\u6587" * 50_000, " " * 300_000, "'s" * 100_000]
)
def test_long_words(text, tmp_path):
    """Words of many symbols: the same as the reference, within the test's time limit."""
    pair_of(byte_pair.roberta(), tmp_path).compare([text, "x" + text + "!"], False)


def test_pieces(tmp_path):
    tokenizer = byte_pair.mpnet()
    byte_pair.save(tokenizer, tmp_path)
    ours = bertqa.Context(tmp_path, tokenizer_only=True)
    assert ours.info.vocabulary_size == tokenizer.get_vocab_size()
    for piece, id in tokenizer.get_vocab().items():
        assert ours.piece_id(piece) == id
        assert ours.piece(id) == piece


def test_vocabulary_and_merges(tmp_path):
    """RoBERTa's two files without tokenizer.json, as transformers reads them."""
    tokenizer = byte_pair.byte_level(size=8000)
    tokenizer.model.save(str(tmp_path))
    ours = bertqa.Context(tmp_path, tokenizer_only=True)
    for prefix in False, True:
        (tmp_path / "tokenizer_config.json").write_text(
            json.dumps({"tokenizer_class": "RobertaTokenizer", "add_prefix_space": prefix})
        )
        theirs = byte_pair.byte_level(size=8000, prefix=prefix)
        theirs.encode_special_tokens = True
        ours = bertqa.Context(tmp_path, tokenizer_only=True)
        for text in text_cases.languages() + WORDS:
            expected = theirs.encode(text, add_special_tokens=False)
            assert (ours.tokenize(text).ids, ours.tokenize(text).offsets) == (expected.ids, expected.offsets)


ALPHABET = {piece: index for index, piece in enumerate("abAB-12é._▁Ġ[]")}
MODELS = [
    models.BPE(ALPHABET | {"ab": 20}, [("a", "b")]),
    models.WordPiece(ALPHABET | {"##b": 20, "[UNK]": 21}),
    models.WordLevel(ALPHABET | {"ab": 20, "[UNK]": 21}, unk_token="[UNK]"),
    models.Unigram([(piece, -1.0 - index) for piece, index in ALPHABET.items()], unk_id=0),
]
STEPS = {
    "normalizer": [
        normalizers.BertNormalizer(), normalizers.ByteLevel(), normalizers.Lowercase(), normalizers.NFKC(),
        normalizers.Prepend("a"), normalizers.Replace("a", "b"), normalizers.Strip(), normalizers.StripAccents(),
    ],
    "pre_tokenizer": [
        pre_tokenizers.BertPreTokenizer(), pre_tokenizers.ByteLevel(), pre_tokenizers.CharDelimiterSplit("-"),
        pre_tokenizers.Digits(), pre_tokenizers.FixedLength(3), pre_tokenizers.Metaspace(),
        pre_tokenizers.Punctuation(), pre_tokenizers.Split("-", "removed"),
        pre_tokenizers.Whitespace(), pre_tokenizers.WhitespaceSplit(),
    ],
    "post_processor": [
        processors.BertProcessing(("[", 11), ("]", 12)), processors.ByteLevel(),
        processors.RobertaProcessing(("[", 11), ("]", 12)),
        processors.TemplateProcessing("[ $A ]", "[ $A ] $B ]", [("[", 11), ("]", 12)]),
    ],
}  # fmt: skip


@pytest.mark.parametrize("part", ["model", *STEPS])
def test_members_that_may_be_missing(part, tmp_path):
    """Where the Rust library has a default for a member of a step, so does this one, and the same."""
    texts = ["ab-AB a1", "  é12.b-a  ", "", "--", "a_b▁a"]
    compared = 0
    for step in MODELS if part == "model" else STEPS[part]:
        tokenizer = Tokenizer(step if part == "model" else MODELS[0])
        if part != "model":
            setattr(tokenizer, part, step)
        definition = json.loads(tokenizer.to_str())
        # Steps always have a type. Unigram models without an unknown piece are refused.
        for name in definition[part].keys() - {"type" if part in STEPS else "unk_id"}:
            fewer = {key: value for key, value in definition[part].items() if key != name}
            text = json.dumps(definition | {part: fewer})
            try:
                theirs = Tokenizer.from_str(text)
            except Exception:  # the library raises no other class
                continue
            directory = tmp_path / f"{definition[part]['type']} without {name}"
            directory.mkdir()
            (directory / "tokenizer.json").write_text(text)
            ours = bertqa.Context(directory, tokenizer_only=True)
            for each in texts:
                expected, found = theirs.encode(each, add_special_tokens=False), ours.tokenize(each)
                assert (found.ids, found.offsets) == (expected.ids, expected.offsets), (directory.name, each)
            compared += 1
    assert compared


REFUSED = [
    (("model", "dropout"), 0.1, "dropout"),
    (("normalizer",), {"type": "Shout"}, "Shout"),
    (("pre_tokenizer",), {"type": "UnicodeScripts"}, "UnicodeScripts"),
    (("pre_tokenizer",), {"type": "Split", "pattern": {"Regex": "[a-c]+"}, "behavior": "Isolated", "invert": False}, "[a-c]+"),
    (("post_processor",), {"type": "Frame"}, "Frame"),
    (("model", "type"), "CharLevel", "CharLevel"),
    (("version",), "2.0", "2.0"),
]  # fmt: skip


@pytest.mark.parametrize("path, value, name", REFUSED, ids=[name for *_, name in REFUSED])
def test_refused(path, value, name, tmp_path):
    definition = json.loads(byte_pair.byte_level(size=8000).to_str())
    place = definition
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    (tmp_path / "tokenizer.json").write_text(json.dumps(definition))
    with pytest.raises(bertqa.Unsupported, match="tokenizer.json") as failure:
        bertqa.Context(tmp_path, tokenizer_only=True)
    assert name in str(failure.value) and "support" in str(failure.value)
