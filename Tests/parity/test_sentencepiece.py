"""SentencePiece models without tokenizer.json, against transformers' AutoTokenizer for the directory."""

import io
import json

import pytest
import sentencepiece
import transformers

import bertqa

TEXTS = [
    "The Normans, 1066 — (Normandy)!", "  two  spaces \n", "L'été “à Nîmes” ½ ﬁn", "中文，（汉字）。",
    "Москва́ Ёлка", "한국어 ㎏ ｶﾞ", "شَيْءٌ ﷺ", "``quoted''", "x\x01y\u200bz", "👩‍👩‍👧 ❤️",
    "[CLS] <s> </s>", "(r) <user>",
]  # fmt: skip
TRAINING = {
    "xlm-roberta": dict(unk_id=0, bos_id=1, eos_id=2),
    "albert": dict(
        pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, control_symbols=["[CLS]", "[SEP]", "[MASK]"],
        user_defined_symbols=["(r)", "<user>"],
    ),
    "deberta-v2": dict(
        pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]",
        unk_piece="[UNK]",
    ),
}  # fmt: skip
TRAINING["camembert"] = TRAINING["xlm-roberta"]
CASES = [
    ("xlm-roberta", "sentencepiece.bpe.model", "XLMRobertaTokenizer", {}),
    ("xlm-roberta", "sentencepiece.bpe.model", "XLMRobertaTokenizer", {"add_prefix_space": False}),
    ("camembert", "sentencepiece.bpe.model", "CamembertTokenizer", {}),
    ("albert", "spiece.model", "AlbertTokenizer", {}),
    ("albert", "spiece.model", "AlbertTokenizer", {"do_lower_case": False, "keep_accents": True}),
    ("deberta-v2", "spm.model", "DebertaV2Tokenizer", {}),
    ("deberta-v2", "spm.model", "DebertaV2Tokenizer", {"do_lower_case": True, "split_by_punct": True}),
    ("deberta-v2", "spm.model", "DebertaV2Tokenizer", {"add_prefix_space": False}),
]


@pytest.mark.parametrize("family, name, cls, settings", CASES)
def test_model(family, name, cls, settings, tmp_path):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS * 20), model_writer=model, vocab_size=400, hard_vocab_limit=False,
        character_coverage=0.98, minloglevel=2, **TRAINING[family],
    )  # fmt: skip
    (tmp_path / name).write_bytes(model.getvalue())
    (tmp_path / "config.json").write_text(json.dumps({"model_type": family}))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": cls, **settings}))
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    ours = bertqa.Context(tmp_path, tokenizer_only=True)
    assert ours.info.vocabulary_size == len(theirs)
    for text in TEXTS:
        expected = theirs(text, add_special_tokens=False, return_offsets_mapping=True)
        found = ours.tokenize(text, parse_special_tokens=True)
        assert (found.ids, found.offsets) == (expected["input_ids"], expected["offset_mapping"]), text
