"""CrossEncoder: a classifier of pairs, with the interface of sentence-transformers."""

import sys
from typing import Any, Callable, Dict, Iterable, List, Optional

from ._hosts import check_device, exact
from ._sentences import AT_ONCE, shown
from ._text import check_texts, two_texts


class CrossEncoder:
    """Returns the scores of sentence-transformers, with its truncation of pairs.

    model: a Context, or a model as for Context, such as the directory of a classifier of pairs.
    max_length: the maximum tokens of a pair; default: from the tokenizer's files, or as many as the model takes.
    activation_fn: a function of a NumPy array of logits, or a module of torch; default: that of the model's
        files, else the sigmoid for one label, and none for more.
    truncate: False: longer pairs are read as a whole, in windows; default True.
    options: those of Context; the default precision is "f32", or "int8" for a model stored in int8.
    """

    def __init__(
        self,
        model: Any,
        *,
        max_length: Optional[int] = None,
        activation_fn: Optional[Callable[[Any], Any]] = None,
        truncate: bool = True,
        device: Any = None,
        **options: Any,
    ):
        from .pipelines._model import Model

        check_device(device)
        self.context = exact(model, **options)
        self.max_length, self.truncate = max_length, truncate
        self._model = Model(self.context)
        self.activation_fn = activation_fn or self._activation()

    def __repr__(self) -> str:
        return f"<CrossEncoder of {self.context!r}>"

    @property
    def num_labels(self) -> int:
        return len(self.context.info.labels)

    def predict(
        self,
        sentences: Any,
        batch_size: int = 32,
        show_progress_bar: Optional[bool] = None,
        activation_fn: Optional[Callable[[Any], Any]] = None,
        apply_softmax: Optional[bool] = False,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: Any = None,
    ) -> Any:
        """Returns the score of a pair, or an array of scores of a list of pairs; several labels give a row per pair."""
        import numpy

        from .pipelines._pairs import Cutter, logits_of

        check_device(device)
        check_texts(sentences, "sentences", "give a pair of texts or a list of pairs")
        given: Any = list(sentences)
        is_one = len(given) > 0 and isinstance(given[0], str)
        pairs = [
            two_texts(pair, "(text, text)", "sentences" if is_one else f"sentences[{item}]")
            for item, pair in enumerate([given] if is_one else given)
        ]
        cutter = Cutter(self._model, False, self.truncate, self.max_length)
        logits: List[List[float]] = []
        for first in shown(range(0, len(pairs), AT_ONCE), show_progress_bar):
            logits += logits_of(self.context, [cutter.cut(pair) for pair in pairs[first : first + AT_ONCE]])
        scores: Any = numpy.array(logits, dtype=numpy.float32).reshape(len(pairs), self.num_labels)
        scores = _applied(activation_fn or self.activation_fn, scores)
        if apply_softmax:
            scores = numpy.exp(scores - scores.max(-1, keepdims=True))
            scores = scores / scores.sum(-1, keepdims=True)
        if self.num_labels == 1:
            scores = scores[:, 0]
        if convert_to_tensor:
            import torch

            scores = torch.from_numpy(scores)
        elif not convert_to_numpy:
            scores = list(scores)
        return scores[0] if is_one else scores

    def rank(
        self,
        query: str,
        documents: Iterable[str],
        top_k: Optional[int] = None,
        return_documents: bool = False,
        **options: Any,
    ) -> List[Dict[str, Any]]:
        """Returns a dictionary of corpus_id, score and, if wanted, text for each document, best first."""
        if self.num_labels != 1:
            raise ValueError("CrossEncoder.rank() only works for models with num_labels=1")
        check_texts(documents, "documents", "give a list of them")
        documents = list(documents)
        scores = self.predict([(query, document) for document in documents], **options)
        results: List[Dict[str, Any]] = []
        for index, score in enumerate(scores):
            results.append({"corpus_id": index, "score": score})
            if return_documents:
                results[-1]["text"] = documents[index]
        return sorted(results, key=lambda one: one["score"], reverse=True)[:top_k]

    def _activation(self) -> Callable[[Any], Any]:
        # sentence-transformers 6 has a file of its own, and earlier versions wrote to config.json.
        config, own = self._model.config, self._model._json("config_sentence_transformers.json")
        if own.get("prompts", {}).get(own.get("default_prompt_name")):
            raise ValueError(
                "config_sentence_transformers.json has a default prompt, which CrossEncoder does not read"
            )
        path = own.get("activation_fn") or config.get("sentence_transformers", {}).get("activation_fn")
        path = path or config.get("sbert_ce_default_activation_function")
        name = str(path or "").rpartition(".")[2]
        if name == "Sigmoid" or (not name and self.num_labels == 1):
            return _sigmoid
        if name in ("", "Identity"):
            return _identity
        raise ValueError(f"the model's activation_fn {path} is not known: pass activation_fn")


def _identity(logits: Any) -> Any:
    return logits


def _sigmoid(logits: Any) -> Any:
    import numpy

    return 1 / (1 + numpy.exp(-logits))


def _applied(function: Callable[[Any], Any], logits: Any) -> Any:
    """Applies a function of arrays, or a module of torch to a tensor of the same memory."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(function, torch.nn.Module):
        return function(torch.from_numpy(logits)).detach().numpy()
    return function(logits)
