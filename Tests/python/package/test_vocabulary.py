"""Tokens and the vocabulary (test_tokenizer.py compares them with the reference)."""

import pytest

import bertqa
from samples import PIECES


def test_tokenize(tiny):
    tokens = tiny.tokenize("The rivers 🦊 éa")
    assert isinstance(tokens, bertqa.Tokens)
    assert tokens.tokens == ["the", "river", "##s", "[UNK]", "e", "##a"]
    assert tokens.offsets == [(0, 3), (4, 9), (9, 10), (11, 12), (13, 14), (14, 15)]
    assert tokens.byte_offsets == [(0, 3), (4, 9), (9, 10), (11, 15), (16, 18), (18, 19)]
    assert [tiny.piece_id(piece) for piece in tokens.tokens] == tokens.ids
    in_bytes = tiny.tokenize("The rivers 🦊 éa".encode())
    assert in_bytes.offsets == in_bytes.byte_offsets == tokens.byte_offsets and in_bytes.ids == tokens.ids
    assert len(tiny.tokenize("[SEP]").ids) > 1
    assert tiny.tokenize("[SEP]", parse_special_tokens=True).ids == [3]
    assert tiny.tokenize("") == bertqa.Tokens([], [], [], [])
    assert tiny.tokenize("\ud800a").offsets == [(0, 1), (1, 2)]


def test_vocabulary(tiny):
    assert [tiny.piece(id) for id in range(tiny.info.vocabulary_size)] == PIECES
    assert [tiny.piece_id(piece) for piece in PIECES] == list(range(len(PIECES)))
    assert tiny.piece_id("国".encode()) == PIECES.index("国")
    for unknown in "", "the ", "theriver", "The":
        assert tiny.piece_id(unknown) is None
    for id in -1, len(PIECES), 1 << 32:
        with pytest.raises(IndexError, match=f"id {id} is not in the vocabulary"):
            tiny.piece(id)
