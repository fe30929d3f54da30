"""Token classification, with the entities of transformers' pipeline."""

import itertools
import warnings
from typing import Any, Dict, List, Tuple

from .._context import Context
from .._errors import Unsupported, WrongModel
from .._results import EntityList
from ._base import Pipeline, unknown
from ._groups import Token, entities_of, is_subword
from ._model import Tokens

STRATEGIES = ("none", "simple", "first", "average", "max")


class TokenClassificationPipeline(Pipeline):
    """tagger(text), with a text, or a list or generator of texts. The result of a text is a list of dictionaries of
    entity or entity_group, score, word, start and end."""

    model_task = "entities"

    def __init__(self, context: Context, **options: Any):
        super().__init__(context, **options)
        if not context.info.labels:
            raise WrongModel(
                f"{context.info.architecture} needs the labels to find, which {self.task} has no place for: "
                "call entities(text, labels=[...]) of the Context"
            )

    def __call__(self, inputs: Any, **options: Any) -> Any:
        if isinstance(inputs, (int, float, dict, type(None))) or (
            isinstance(inputs, (list, tuple)) and not inputs
        ):
            raise ValueError("At least one input is required.")
        is_split = options.get("is_split_into_words", False)
        if is_split and isinstance(inputs, list) and not all(isinstance(item, list) for item in inputs):
            inputs = [inputs]
        return self._called(inputs, **options)

    def _settings(self, options: Dict[str, Any]) -> Dict[str, Any]:
        options = dict(options)
        found: Dict[str, Any] = {}
        is_split, delimiter = options.pop("is_split_into_words", False), options.pop("delimiter", None)
        if is_split:
            found["delimiter"] = " " if delimiter is None else delimiter
        grouped, subwords = options.pop("grouped_entities", None), options.pop("ignore_subwords", None)
        strategy = options.pop("aggregation_strategy", None)
        if grouped is not None or subwords is not None:
            strategy = "none" if not grouped else "first" if subwords else "simple"
            warnings.warn(
                f'`grouped_entities` and `ignore_subwords` mean `aggregation_strategy="{strategy}"`', stacklevel=4
            )
        if strategy is not None:
            name = str(getattr(strategy, "value", strategy)).lower()
            if name not in STRATEGIES:
                raise KeyError(str(strategy).upper())
            found["strategy"] = name
        if options.get("ignore_labels") is not None:
            found["ignore_labels"] = list(options["ignore_labels"])
        options.pop("ignore_labels", None)
        stride = options.pop("stride", None)
        if stride is not None:
            if stride >= self.model.tokenizer_length:
                raise ValueError("`stride` must be less than `tokenizer.model_max_length`")
            if found.get("strategy") == "none":
                raise ValueError("`stride` needs an `aggregation_strategy` other than none")
            if self.is_strict:
                raise Unsupported("stride reads windows as bertqa does, so compat='strict' cannot have it")
            found["stride"] = stride
        unknown(options)
        return found

    def _results(self, inputs: List[Any], settings: Dict[str, Any]) -> List[Any]:
        texts: List[str] = []
        for item in inputs:
            if isinstance(item, list) and "delimiter" in settings:
                item = settings["delimiter"].join(item)
            if not isinstance(item, str):
                raise ValueError("the input must be a text")
            texts.append(item)
        strategy, ignored = settings.get("strategy", "none"), settings.get("ignore_labels", ["O"])
        if not self.is_strict:
            found = self.context.entities_batch(
                texts, aggregation=strategy, ignore_labels=ignored, doc_stride=settings.get("stride")
            )
            return [self._dictionaries(text, one, strategy) for text, one in zip(texts, found)]
        found = self.context.entities_batch(
            texts,
            aggregation="none",
            ignore_labels=[],
            doc_stride=0,
            max_seq_len=min(self.model.tokenizer_length, self.model.maximum),
        )
        return [self._strictly(text, one, strategy, ignored) for text, one in zip(texts, found)]

    def _dictionaries(self, text: str, found: "EntityList[str]", strategy: str) -> List[Dict[str, Any]]:
        """Returns entities as dictionaries, with the words that transformers makes of the tokens."""
        if not found:
            return []
        tokens = self.model.tokens(text)
        results, position = [], 0
        for entity in found:
            # Both are in text order. Several tokens of one character share its range, and each has an entity.
            position = min(position, len(tokens) - 1)
            left = itertools.takewhile(lambda i: tokens.offsets[i][0] < entity.end, range(position, len(tokens)))
            within = (index for index in left if _is_within(tokens, index, entity.start, entity.end))
            first = last = next(within, position)
            if strategy != "none":
                while last + 1 < len(tokens) and tokens.offsets[last + 1][0] < entity.end:
                    last += 1
            position = last + 1
            pieces = [self.model.piece(id) for id in tokens.ids[first : last + 1]]
            if strategy == "none":
                unknown_id = tokens.ids[first] == self.model.unknown
                result: Dict[str, Any] = {"entity": entity.label, "score": entity.score, "index": first + 1}
                result["word"] = text[slice(*tokens.offsets[first])] if unknown_id else "".join(pieces)
            else:
                result = {"entity_group": entity.label, "score": entity.score}
                result["word"] = self._joined(text, tokens, first, last)
            results.append({**result, "start": entity.start, "end": entity.end})
        return results

    def _joined(self, text: str, tokens: Tokens, first: int, last: int) -> str:
        return self.model.decode([self._word(text, tokens, index) for index in range(first, last + 1)]).strip()

    def _word(self, text: str, tokens: Tokens, index: int) -> str:
        """Returns a token's piece, or the text of an unknown one."""
        id = tokens.ids[index]
        return text[slice(*tokens.offsets[index])] if id == self.model.unknown else self.model.piece(id)

    def _strictly(
        self, text: str, found: "EntityList[str]", strategy: str, ignored: List[str]
    ) -> List[Dict[str, Any]]:
        """Groups the tokens of the first window as transformers does."""
        tokens = self.model.tokens(text)
        room = min(self.model.tokenizer_length, self.model.maximum) - 2
        # The library omits tokens of only white space.
        visible = [index for index, (start, end) in enumerate(tokens.offsets) if text[start:end].strip()]
        read: List[Token] = []
        for index, entity in zip(visible, found):
            if index < room:
                start, end = tokens.offsets[index]
                word = self._word(text, tokens, index)
                unknown_id = tokens.ids[index] == self.model.unknown
                joins = not unknown_id and is_subword(self.model.kind, text, word, start, end)
                read.append(Token(entity.label, entity.score, index + 1, word, start, end, joins))
        results = entities_of(read, strategy, self.model.decode)
        return [one for one in results if one.get("entity", one.get("entity_group")) not in ignored]


def _is_within(tokens: Tokens, index: int, start: int, end: int) -> bool:
    own: Tuple[int, int] = tokens.offsets[index]
    # A token that is white space at the beginning of its range ends there.
    return own[1] > start and own[0] < end and tokens.text[own[0] : own[1]].strip() != ""
