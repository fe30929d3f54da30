"""Groups labels of tokens into entities, as the pipeline of transformers does."""

from typing import Any, Callable, Dict, List, NamedTuple, Tuple

from .._errors import Unsupported


class Token(NamedTuple):
    """A token or word with its most probable label."""

    entity: str
    score: float
    number: int
    word: str
    start: int
    end: int
    is_subword: bool


Decode = Callable[[List[str]], str]


def is_subword(kind: str, text: str, word: str, start: int, end: int) -> bool:
    """True if transformers considers the token a continuation of its word: for WordPiece by its length, for others if
    no space is near its beginning."""
    if kind == "pieces":
        return len(word) != end - start
    return start > 0 and " " not in text[start - 1 : start + 1]


def entities_of(tokens: List[Token], strategy: str, decode: Decode) -> List[Dict[str, Any]]:
    if strategy == "none":
        names = ("entity", "score", "index", "word", "start", "end")
        return [dict(zip(names, token)) for token in tokens]
    if strategy != "simple":
        tokens = _words(tokens, strategy, decode)
    groups: List[List[Token]] = []
    for token in tokens:
        prefix, tag = _tag(token.entity)
        if groups and tag == _tag(groups[-1][-1].entity)[1] and prefix != "B":
            groups[-1].append(token)
        else:
            groups.append([token])
    return [
        {
            "entity_group": group[0].entity.split("-", 1)[-1],
            "score": sum(token.score for token in group) / len(group),
            "word": decode([token.word for token in group]),
            "start": group[0].start,
            "end": group[-1].end,
        }
        for group in groups
    ]


def _tag(entity: str) -> Tuple[str, str]:
    return (entity[0], entity[2:]) if entity.startswith(("B-", "I-")) else ("I", entity)


def _words(tokens: List[Token], strategy: str, decode: Decode) -> List[Token]:
    words: List[List[Token]] = []
    for token in tokens:
        if words and token.is_subword:
            words[-1].append(token)
        else:
            words.append([token])
    return [_word(word, strategy, decode) for word in words]


def _word(tokens: List[Token], strategy: str, decode: Decode) -> Token:
    chosen = tokens[0]
    if strategy == "max":
        chosen = max(tokens, key=lambda token: token.score)
    score = chosen.score
    if strategy == "average":
        # With one label for all, the mean of the probabilities is the mean of the highest ones.
        if len({token.entity for token in tokens}) > 1:
            raise Unsupported(
                "compat='strict' with aggregation_strategy 'average' needs the probability of every label, which the "
                "library does not return; leave compat out"
            )
        score = sum(token.score for token in tokens) / len(tokens)
    return Token(chosen.entity, score, 0, decode([t.word for t in tokens]), tokens[0].start, tokens[-1].end, False)
