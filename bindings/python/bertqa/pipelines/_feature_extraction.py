"""Feature extraction: the vectors of a text's tokens, as nested lists."""

from typing import Any, Dict, List

from ._base import Pipeline, truncated, unknown
from ._pairs import Cutter


class FeatureExtractionPipeline(Pipeline):
    """extractor(text), with a text, or a list or generator of texts: [1][tokens][floats] for each text, special tokens
    included. return_tensors=True: torch tensors of this shape."""

    model_task = "embed"

    def _settings(self, options: Dict[str, Any]) -> Dict[str, Any]:
        options = dict(options)
        found: Dict[str, Any] = {}
        of_tokenizer = dict(options.pop("tokenize_kwargs", None) or {})
        if options.get("truncation") is not None:
            if "truncation" in of_tokenizer:
                raise ValueError("truncation is given twice: as an argument and in tokenize_kwargs")
            of_tokenizer["truncation"] = options["truncation"]
        options.pop("truncation", None)
        if of_tokenizer:
            found["truncation"] = truncated(of_tokenizer)
            unknown(of_tokenizer)
        if "return_tensors" in options:
            found["is_tensor"] = bool(options.pop("return_tensors"))
        unknown(options)
        return found

    def _results(self, inputs: List[Any], settings: Dict[str, Any]) -> List[Any]:
        cutter = Cutter(self.model, self.is_strict, *settings.get("truncation", (False, None)))
        texts = [cutter.cut((text, None))[0] for text in inputs]
        # transformers' pipeline ignores the prompt and length of sentence-transformers.
        vectors = self.context.embed_tokens(texts, prompt="", max_seq_len=self.model.maximum or None)
        if not settings.get("is_tensor"):
            return [[[list(vector) for vector in one]] for one in vectors]
        import numpy
        import torch

        return [torch.from_numpy(numpy.array(one))[None] for one in vectors]
