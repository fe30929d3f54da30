"""Classification with the caller's labels, by an entailment model."""

from typing import Any, Dict, List

from ._base import Pipeline, softmax, unknown
from ._pairs import Cutter, Pair, logits_of

TEMPLATE = "This example is {}."


class ZeroShotClassificationPipeline(Pipeline):
    """classifier(sequences, candidate_labels=…): a dictionary of sequence, labels and scores for each sequence."""

    model_task = "classify"

    def __call__(self, sequences: Any, *args: Any, **options: Any) -> Any:
        if len(args) == 1 and "candidate_labels" not in options:
            options["candidate_labels"] = args[0]
        elif args:
            raise ValueError(f"Unable to understand extra arguments {args}")
        return self._called(sequences, **options)

    def _settings(self, options: Dict[str, Any]) -> Dict[str, Any]:
        options = dict(options)
        found: Dict[str, Any] = {}
        if options.get("multi_class") is not None:
            options["multi_label"] = options["multi_class"]
        options.pop("multi_class", None)
        if "candidate_labels" in options:
            labels = options.pop("candidate_labels")
            if isinstance(labels, str):
                labels = [label.strip() for label in labels.split(",") if label.strip()]
            found["labels"] = labels
        for name in "hypothesis_template", "multi_label":
            if name in options:
                found[name] = options.pop(name)
        unknown(options)
        return found

    def _results(self, inputs: List[Any], settings: Dict[str, Any]) -> List[Any]:
        if "labels" not in settings:
            raise TypeError("candidate_labels are missing")
        labels, template = list(settings["labels"]), settings.get("hypothesis_template", TEMPLATE)
        if not labels or not all(inputs):
            raise ValueError("You must include at least one label and at least one sequence.")
        if template.format(labels[0]) == template:
            raise ValueError(
                f'The provided hypothesis_template "{template}" was not able to be formatted with the target labels. '
                "Make sure the passed template includes formatting syntax such as {} where the label should go."
            )
        cutter = Cutter(self.model, self.is_strict, is_on=self.is_strict, first_only=True)
        pairs: List[Pair] = [cutter.cut((text, template.format(label))) for text in inputs for label in labels]
        logits = logits_of(self.context, pairs)
        count = len(labels)
        is_multi = settings.get("multi_label", False)
        return [
            self._result(text, labels, logits[row * count : (row + 1) * count], is_multi)
            for row, text in enumerate(inputs)
        ]

    def _result(self, text: str, labels: List[str], logits: List[List[float]], is_multi: bool) -> Dict[str, Any]:
        entailment = self._entailment()
        if is_multi or len(labels) == 1:
            contradiction = -1 if entailment == 0 else 0
            scores = [softmax([row[contradiction], row[entailment]])[1] for row in logits]
        else:
            scores = softmax([row[entailment] for row in logits])
        order = sorted(range(len(labels)), key=lambda index: (scores[index], index), reverse=True)
        return {
            "sequence": text,
            "labels": [labels[index] for index in order],
            "scores": [scores[index] for index in order],
        }

    def _entailment(self) -> int:
        names = self.context.info.labels
        return next((id for id, name in enumerate(names) if name.lower().startswith("entail")), -1)
