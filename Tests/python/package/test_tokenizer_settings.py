"""What tokenizer_config.json and the files beside it change: as in transformers 4.57 and 5.23, which agree here. The
Rust library makes the tokenizers that they load."""

import json
from functools import partial

import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

import bertqa
import byte_pair
import text_cases
import unigram
from conftest import FIXTURES

PIECES = list(dict.fromkeys((FIXTURES / "tokenizer" / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]))
TEXTS = [
    *text_cases.languages(),
    "a <tag>b <TAG>",
    "Hello <mask> world",
    "CAFÉ",
    "a\u00adb\x00\x0b\x85c\u2028d\te",
]


def bert(lowercase, **settings):
    tokenizer = Tokenizer(models.WordPiece({piece: id for id, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase, **settings)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(text_cases.SPECIAL)
    ids = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ids)
    return tokenizer


def mpnet(lowercase):
    tokenizer = byte_pair.mpnet()
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    return tokenizer


def byte_level(prefix, offsets=None, trim=True):
    """`offsets`: the post-processor's own `add_prefix_space`."""
    tokenizer = byte_pair.byte_level(size=8000, prefix=prefix if offsets is None else offsets, trim=trim)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    return tokenizer


def same(directory, files, theirs, texts=TEXTS):
    """Compares the directory's tokenizer once these files are written."""
    for name, content in files.items():
        (directory / name).write_text(json.dumps(content))
    ours = bertqa.Context(directory, tokenizer_only=True)
    for text in texts:
        expected = theirs.encode(text, add_special_tokens=False)
        found = ours.tokenize(text, parse_special_tokens=True)
        assert (found.ids, found.offsets) == (expected.ids, expected.offsets), (
            text,
            expected.tokens,
            found.tokens,
        )


CASED = ["albert", "camembert", "data2vec-text", "deberta-v2", "modernbert", "roberta", "xlm-roberta", "of my own"]
CLASSES = [  # what tokenizer.json has, config.json, tokenizer_config.json, what results
    *[
        (partial(bert, False), {"model_type": name}, {"do_lower_case": True}, partial(bert, False))
        for name in CASED
    ],
    *[
        (partial(bert, False), {"model_type": name}, {}, partial(bert, True))
        for name in ("bert", "electra", "ernie", "mobilebert")
    ],
    (partial(bert, False), {}, {}, partial(bert, True)),
    (partial(bert, True, clean_text=False), {}, {"do_lower_case": False}, partial(bert, False, clean_text=False)),
    (
        partial(bert, True, clean_text=False),
        {},
        {"tokenizer_class": "PreTrainedTokenizerFast"},
        partial(bert, True, clean_text=False),
    ),
    (partial(mpnet, False), {}, {"tokenizer_class": "MPNetTokenizer"}, partial(mpnet, True)),
    (partial(mpnet, True), {"model_type": "mpnet"}, {"do_lower_case": False}, partial(mpnet, False)),
    *[
        (
            partial(byte_level, not prefix),
            {"model_type": name},
            {"add_prefix_space": prefix},
            partial(byte_level, prefix),
        )
        for name in ("bart", "data2vec-text", "longformer", "roberta")
        for prefix in (True, False)
    ],
    *[
        (partial(byte_level, True), {}, {"tokenizer_class": name}, partial(byte_level, False, True))
        for name in ("DebertaTokenizer", "GPT2TokenizerFast")
    ],
    (partial(byte_level, True), {"model_type": "roberta"}, {}, partial(byte_level, False)),
    (partial(byte_level, True), {"model_type": "modernbert"}, {}, partial(byte_level, True)),
    (
        partial(byte_level, False),
        {"model_type": "roberta"},
        {"trim_offsets": False},
        partial(byte_level, False, trim=False),
    ),
    (partial(byte_level, False, trim=False), {"model_type": "bart"}, {}, partial(byte_level, False)),
]


@pytest.mark.parametrize("own, config, settings, theirs", CLASSES)
def test_classes(own, config, settings, theirs, tmp_path):
    byte_pair.save(own(), tmp_path)
    same(tmp_path, {"config.json": config, "tokenizer_config.json": settings}, theirs())


def test_the_unknown_token_is_that_of_the_model(tmp_path):
    definition = json.loads(bert(True).to_str())
    definition["model"]["unk_token"] = "[MASK]"
    theirs = Tokenizer.from_str(json.dumps(definition))
    same(
        tmp_path, {"tokenizer.json": definition, "tokenizer_config.json": {}}, theirs, ["a \U000e0001 \U0001f9ff"]
    )


def merges(directory):
    tokenizer = byte_level(False)
    tokenizer.model.save(str(directory))
    return tokenizer


def vocabulary(directory):
    (directory / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    return bert(True)


def sentence_pieces(directory):
    (directory / "sentencepiece.bpe.model").write_bytes(unigram.model("xlm-roberta"))
    return unigram.xlm_roberta()


def definition(directory):
    return Tokenizer.from_file(str(byte_pair.save(byte_level(False), directory) / "tokenizer.json"))


def definition_of_bert(directory):
    return Tokenizer.from_file(str(byte_pair.save(bert(True), directory) / "tokenizer.json"))


LISTS = {  # the files that list tokens, and the tokens
    "decoder": (
        lambda id: {
            "tokenizer_config.json": {
                "added_tokens_decoder": {
                    str(id + 1): {"content": "<TAG>", "normalized": False, "lstrip": True},
                    str(id): {"content": "<tag>", "normalized": False, "rstrip": True, "single_word": True},
                }
            }
        },
        [
            AddedToken("<tag>", normalized=False, rstrip=True, single_word=True),
            AddedToken("<TAG>", normalized=False, lstrip=True),
        ],
    ),
    "additional": (
        lambda id: {"tokenizer_config.json": {"additional_special_tokens": ["<tag>"]}},
        [AddedToken("<tag>", special=True)],
    ),
    "extra": (
        lambda id: {"tokenizer_config.json": {"extra_special_tokens": {"tag_token": "<tag>"}}},
        [AddedToken("<tag>", special=True)],
    ),
    "map": (
        lambda id: {"special_tokens_map.json": {"additional_special_tokens": ["<tag>"]}},
        [AddedToken("<tag>", special=True)],
    ),
    "added": (
        lambda id: {"added_tokens.json": {"<TAG>": id + 1, "<tag>": id}},
        [AddedToken("<tag>", normalized=True), AddedToken("<TAG>", normalized=True)],
    ),
    "named": (
        lambda id: {
            "added_tokens.json": {"<tag>": id},
            "tokenizer_config.json": {"do_lower_case": True, "additional_special_tokens": ["<tag>"]},
        },
        [AddedToken("<tag>", special=True)],
    ),
}


@pytest.mark.parametrize("make", [definition, definition_of_bert, merges, sentence_pieces, vocabulary])
@pytest.mark.parametrize("name", LISTS)
def test_listed_tokens(name, make, tmp_path):
    """Tokens that tokenizer.json or the vocabulary lacks, in each file that may list them."""
    if name == "map" and make is sentence_pieces:
        pytest.skip("transformers 5 does not read it")
    theirs = make(tmp_path)
    files, tokens = LISTS[name]
    files = files(theirs.get_vocab_size())
    if name == "added" and make in (definition_of_bert, vocabulary):
        tokens = tokens[:1]  # Both have the same spelling once lower-cased: the first is found.
    theirs.add_tokens(tokens)
    same(tmp_path, files, theirs)


def test_listed_properties_replace_those_of_the_file(tmp_path):
    theirs = definition(tmp_path)
    mask = {"content": "<mask>", "lstrip": True, "rstrip": True, "normalized": False, "special": True}
    theirs.add_special_tokens([AddedToken("<mask>", lstrip=True, rstrip=True)])
    same(tmp_path, {"tokenizer_config.json": {"added_tokens_decoder": {"4": mask}}}, theirs)
    # Those of a name do not.
    named = {"mask_token": {"content": "<mask>", "lstrip": False}}
    byte_pair.save(theirs, tmp_path)
    same(tmp_path, {"tokenizer_config.json": named}, theirs)


def test_names_without_tokenizer_config(tmp_path):
    names = {
        "cls_token": "<s>",
        "sep_token": "</s>",
        "unk_token": "<unk>",
        "pad_token": "<pad>",
        "mask_token": "<mask>",
    }
    pieces = [*names.values(), "a", "b"]
    (tmp_path / "vocab.txt").write_text("".join(f"{piece}\n" for piece in pieces))
    (tmp_path / "special_tokens_map.json").write_text(json.dumps(names))
    ours = bertqa.Context(tmp_path, tokenizer_only=True)
    assert ours.tokenize("a c <s>b", parse_special_tokens=True).tokens == ["a", "<unk>", "<s>", "b"]
