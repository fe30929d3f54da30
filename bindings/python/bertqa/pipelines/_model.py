"""A model's tokenizer as in transformers: special tokens, words, and the text of tokens."""

import json
import re
from typing import Any, Dict, List, Optional, Tuple

from .._context import Context, tokenize_call
from .._text import encoded, spans
from ._bytes import BYTES, CHARACTERS, words_of

#: Families whose pairs have two separators between the texts and no token types.
TWO_SEPARATORS = ("Roberta", "XLMRoberta", "Camembert", "MPNet", "Data2VecText", "Longformer")
#: Families that have token types in transformers, if their tokenizers have them.
WITH_TYPES = ("Bert", "Electra", "Albert", "DebertaV2", "Ernie", "MobileBert")
#: transformers writes such numbers for "no maximum".
NO_MAXIMUM = 10**18


class Tokens:
    """The tokens of a text: ids and ranges in code points."""

    def __init__(self, text: str, ids: List[int], offsets: List[Tuple[int, int]]):
        self.text, self.ids, self.offsets = text, ids, offsets
        self.words: Optional[List[int]] = None

    def __len__(self) -> int:
        return len(self.ids)


class Model:
    """The model of a context. kind: how tokens form words: "pieces" (##ing), "bytes" (Ġthe), "spaces" (▁the) or
    "" for others."""

    def __init__(self, context: Context):
        self.context = context
        info = context.info
        self.family = info.architecture.partition("For")[0]
        self.maximum = info.max_position_embeddings
        config = self._json("tokenizer_config.json")
        self.config = self._json("config.json")
        self._decoder_and_template()
        is_double = self.family in TWO_SEPARATORS
        first = self._special(config, "cls_token", ("<s>", "[CLS]") if is_double else ("[CLS]", "<s>"))
        last = self._special(config, "sep_token", ("</s>", "[SEP]") if is_double else ("[SEP]", "</s>"))
        self.unknown = self._special(config, "unk_token", ("[UNK]", "<unk>"))
        self.first, self.last = -1 if first is None else first, -1 if last is None else last
        self.separators = self._separators(is_double, str(config.get("tokenizer_class", "")))
        names = config.get("model_input_names", ["token_type_ids"])
        self.has_types = self.family in WITH_TYPES and "token_type_ids" in names
        length = config.get("model_max_length")
        self.tokenizer_length = int(length) if length and length < NO_MAXIMUM else NO_MAXIMUM
        self._cuts_start = config.get("truncation_side") == "left"
        self.kind = self._kind()
        self._pieces: Dict[int, str] = {}

    def _decoder_and_template(self) -> None:
        """Reads the parts of a tokenizer.json before its vocabulary, which may be large."""
        head = self.context._file("tokenizer.json", 1 << 20).partition(b'"vocab"')[0].decode("utf-8", "replace")
        self._has_decoder = not re.search(r'"decoder"\s*:\s*null', head)
        found = re.search(r'"post_processor"\s*:\s*', head)
        self._template: Any = json.JSONDecoder().raw_decode(head, found.end())[0] if found else None

    def _separators(self, is_double: bool, tokenizer: str) -> int:
        """Returns the number of separators between the texts of a pair."""
        template = self._template or {}
        for part in template.get("processors", [template]):
            if part.get("type") == "RobertaProcessing":
                return 2
            if part.get("type") == "BertProcessing":
                return 1
            if part.get("type") == "TemplateProcessing":
                kinds = ["SpecialToken" in piece for piece in part["pair"]]
                second = len(kinds) - 1 - kinds[::-1].index(False)
                return second - kinds.index(False) - 1
        return 1 if tokenizer.startswith("BertTokenizer") or not is_double else 2

    def _json(self, name: str) -> Dict[str, Any]:
        data = self.context._file(name)
        value = json.loads(data) if data else {}
        return value if isinstance(value, dict) else {}

    def _special(self, config: Dict[str, Any], name: str, defaults: Tuple[str, ...]) -> Optional[int]:
        named = config.get(name)
        named = named.get("content") if isinstance(named, dict) else named
        found = (self.context.piece_id(piece) for piece in ([named] if named else []) + list(defaults))
        return next((id for id in found if id is not None), None)

    def _kind(self) -> str:
        has = self.context.piece_id
        if any(has("##" + letter) is not None for letter in "aeionrst"):
            return "pieces"
        if all(has(character) is not None for character in CHARACTERS.values()):
            return "bytes"
        return "spaces" if has("\u2581") is not None else ""

    def tokens(self, text: str, parse: bool = False) -> Tokens:
        """parse: "[SEP]" and the like in the text are special tokens, as in transformers."""
        data = encoded(text)
        ids, ranges = self.context._token_ranges(data, tokenize_call(parse, {}))
        return Tokens(text, ids, spans(text, data, ranges))

    def piece(self, id: int) -> str:
        piece = self._pieces.get(id)
        if piece is None:
            piece = self._pieces[id] = self.context.piece(id)
        return piece

    def words(self, tokens: Tokens) -> Optional[List[int]]:
        """Returns the number of each token's word; None if the kind of tokenizer is unknown."""
        if tokens.words is None and self.kind:
            pieces = [self.piece(id) for id in tokens.ids]
            if self.kind == "bytes":
                tokens.words = words_of(pieces)
            else:
                tokens.words, word = [], -1
                for index, piece in enumerate(pieces):
                    begins = not piece.startswith("##") if self.kind == "pieces" else piece.startswith("\u2581")
                    word += begins or index == 0
                    tokens.words.append(word)
        return tokens.words

    def decode(self, pieces: List[str]) -> str:
        """Joins pieces as the decoder of the tokenizer does."""
        if not self._has_decoder or not self.kind:
            return " ".join(pieces)
        if self.kind == "bytes":
            data = b"".join(
                bytes(BYTES[c] for c in piece) if all(c in BYTES for c in piece) else piece.encode()
                for piece in pieces
            )
            return data.decode("utf-8", "replace")
        if self.kind == "spaces":
            return "".join(piece.replace("\u2581", " " if index else "") for index, piece in enumerate(pieces))
        return "".join(_cleaned(_joined(piece, index)) for index, piece in enumerate(pieces))

    def cut(self, text: str, tokens: Tokens, count: int) -> str:
        """Returns the part of the text with its first `count` tokens, or its last by the tokenizer's `truncation_side`;
        or with fewer if it cannot be cut there."""
        while 0 < count < len(tokens):
            if self._cuts_start:
                # A token of byte-level BPE may begin with the space before it.
                part, ids = text[tokens.offsets[-count - 1][1] :], tokens.ids[-count:]
            else:
                part, ids = text[: tokens.offsets[count - 1][1]], tokens.ids[:count]
            if self.tokens(part).ids == ids:
                return part
            count -= 1
        return text if count else ""


def _joined(piece: str, index: int) -> str:
    if index == 0:
        return piece
    return piece[2:] if piece.startswith("##") else " " + piece


_CLEANED = (
    (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"),
    (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"),
)  # fmt: skip


def _cleaned(piece: str) -> str:
    for before, after in _CLEANED:
        piece = piece.replace(before, after)
    return piece
