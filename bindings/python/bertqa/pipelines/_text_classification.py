"""Text classification, with the scores of transformers' pipeline."""

from typing import Any, Dict, List, Optional, Tuple

from .._hosts import sigmoid
from ._base import Pipeline, softmax, truncated, unknown
from ._pairs import Cutter, logits_of

FUNCTIONS = ("sigmoid", "softmax", "none")


class TextClassificationPipeline(Pipeline):
    """classifier(text), with a text, a dictionary {"text": …, "text_pair": …}, or a list or generator of them.
    The result of one is a list of one dictionary of label and score; top_k=None gives all labels."""

    model_task = "classify"

    def __call__(self, inputs: Any, **options: Any) -> Any:
        result = self._called(inputs, **options)
        # As in transformers, one text gives a list unless top_k is given.
        return [result] if isinstance(inputs, str) and "top_k" not in options else result

    def _settings(self, options: Dict[str, Any]) -> Dict[str, Any]:
        options = dict(options)
        found: Dict[str, Any] = {}
        top_k, all_scores = options.pop("top_k", ""), options.pop("return_all_scores", None)
        if isinstance(top_k, int) or top_k is None:
            found.update(top_k=top_k, is_list=True)
        elif all_scores is not None:
            found.update(top_k=None if all_scores else 1, is_list=False)
        function = options.pop("function_to_apply", None)
        if function is not None:
            if str(function).lower() not in FUNCTIONS:
                raise KeyError(str(function).upper())
            found["function"] = str(function).lower()
        if {"truncation", "max_length"} & set(options):
            found["truncation"] = truncated(options)
        options.pop("padding", None)
        unknown(options)
        return found

    def _results(self, inputs: List[Any], settings: Dict[str, Any]) -> List[Any]:
        cutter = Cutter(self.model, self.is_strict, *settings.get("truncation", (False, None)))
        texts = [cutter.cut(_text(item)) for item in inputs]
        function = settings.get("function") or self._function()
        top_k, is_list = settings.get("top_k", 1), settings.get("is_list", False)
        labels = self.context.info.labels
        results: List[Any] = []
        for logits in logits_of(self.context, texts):
            scores = _applied(function, logits)
            ranked: List[Dict[str, Any]] = [
                {"label": label, "score": score} for label, score in zip(labels, scores)
            ]
            if top_k == 1 and not is_list:
                results.append(max(ranked, key=lambda one: one["score"]))
                continue
            if is_list:
                ranked.sort(key=lambda one: -one["score"])
                ranked = ranked[:top_k]
            results.append(ranked)
        return results

    def _function(self) -> str:
        """Returns the function that transformers applies to a model's logits."""
        kind = self.model.config.get("problem_type")
        if kind == "regression":
            return "none"
        is_single = len(self.context.info.labels) == 1
        return "sigmoid" if kind == "multi_label_classification" or is_single else "softmax"


def _applied(function: str, logits: List[float]) -> List[float]:
    if function == "softmax":
        return softmax(logits)
    if function == "none":
        return logits
    return [sigmoid(logit) for logit in logits]


def _text(item: Any) -> Tuple[str, Optional[str]]:
    """Returns a text and the second text of a pair."""
    if isinstance(item, str):
        return item, None
    if isinstance(item, dict):
        if "text" not in item or set(item) - {"text", "text_pair"}:
            raise TypeError("a pair is a dictionary of text and text_pair")
        return item["text"], item.get("text_pair")
    if isinstance(item, list) and len(item) == 1 and isinstance(item[0], list) and len(item[0]) == 2:
        return item[0][0], item[0][1]
    raise ValueError(
        "The pipeline received invalid inputs, if you are trying to send text pairs, you can try to send a "
        'dictionary `{"text": "My text", "text_pair": "My pair"}` in order to send a text pair.'
    )
