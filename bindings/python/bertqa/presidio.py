"""A recognizer for Presidio's analyzer: personal data by rule and, with a model, names. Needs presidio-analyzer.

registry.add_recognizer(BertQARecognizer("entities-minilm-l6"))
"""

from typing import Any, Dict, Iterable, List, Mapping, Optional

from presidio_analyzer import AnalysisExplanation, EntityRecognizer, RecognizerResult

from ._entities import PATTERN_GROUPS, patterns
from ._hosts import opened, serializable, untagged
from ._text import check_texts, text_list

#: Presidio's names for the labels of rules and of common models.
ENTITIES = {
    "EMAIL": "EMAIL_ADDRESS", "PHONE": "PHONE_NUMBER", "CARD": "CREDIT_CARD", "IBAN": "IBAN_CODE",
    "IP": "IP_ADDRESS", "MAC": "MAC_ADDRESS", "ES_DNI": "ES_NIF", "PER": "PERSON", "LOC": "LOCATION", "ORG": "ORGANIZATION",
    "ORGANISATION": "ORGANIZATION", "GPE": "LOCATION",
}  # fmt: skip


class BertQARecognizer(EntityRecognizer):
    """model: a directory or name for bertqa.Context; None: rules alone.

    rules: the kinds and groups of personal data that rules find, see help(bertqa.patterns); None: "all".
    names: Presidio's names for labels of the model, added to the usual ones; other labels become upper case.
    labels: the labels of the model to return; default: all. For a GLiNER model, the labels to find. A dict has a
        threshold for each.
    threshold: the lowest score of the model's entities.
    regions: countries whose telephone numbers are found in every form, as in bertqa.patterns.
    supported_entities: the entities to return, under Presidio's names; default: all.
    """

    def __init__(
        self,
        model: Any = None,
        rules: Optional[Iterable[str]] = None,
        names: Optional[Dict[str, str]] = None,
        threshold: float = 0.5,
        supported_language: str = "en",
        regions: Optional[Iterable[str]] = None,
        labels: Optional[Iterable[str]] = None,
        supported_entities: Optional[List[str]] = None,
        **options: Any,
    ):
        self.model, self.threshold = model, threshold
        self.wanted = (
            labels if labels is None or isinstance(labels, (Mapping, str)) else text_list(labels, "labels")
        )
        self.regions = regions if regions is None else text_list(regions, "regions")
        groups = ["all"] if rules is None else text_list(rules, "rules")
        self.rules = [rule for group in groups for rule in PATTERN_GROUPS.get(group, (group,))]
        self.names = {**ENTITIES, **(names or {})}
        kinds = [rule.upper() for rule in self.rules]
        if model is not None:
            own = opened(model, "entities").info.labels if self.wanted is None else self.wanted
            kinds += sorted({untagged(label) for label in own} - {"O"})
        check_texts(supported_entities or [], "supported_entities", "pass a list of them")
        entities = (
            list(dict.fromkeys(map(self._name, kinds))) if supported_entities is None else supported_entities
        )
        super().__init__(supported_entities=entities, supported_language=supported_language, **options)
        self.analyze("", [])  # rejects invalid arguments

    def load(self) -> None:
        """The model is open."""

    def analyze(self, text: str, entities: List[str], nlp_artifacts: Any = None) -> List[RecognizerResult]:
        found = list(patterns(text, self.rules, regions=self.regions)) if self.rules else []
        if self.model is not None:
            options: Any = {"labels": self.wanted, "threshold": self.threshold}
            names = opened(self.model, "entities").entities(text, **options)
            # A name within an address is no person or place.
            found += [
                one for one in names if not any(one.start < two.end and two.start < one.end for two in found)
            ]
        results = [
            RecognizerResult(
                entity_type=self._name(one.label),
                start=one.start,
                end=one.end,
                score=one.score,
                # Presidio adds the word of `context` that raised the score.
                analysis_explanation=AnalysisExplanation(recognizer=self.name, original_score=one.score),
                recognition_metadata={
                    RecognizerResult.RECOGNIZER_NAME_KEY: self.name,
                    RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
                },
            )
            for one in found
        ]
        wanted = set(entities or self.supported_entities).intersection(self.supported_entities)
        return [one for one in results if one.entity_type in wanted]

    def to_dict(self) -> Dict[str, Any]:
        """Returns the constructor's arguments, for from_dict."""
        own = {"model": serializable(self.model), "rules": self.rules, "names": self.names, "labels": self.wanted}
        own.update(threshold=self.threshold, regions=self.regions, context=self.context)
        return {**super().to_dict(), **own}

    def _name(self, label: str) -> str:
        return self.names.get(label, self.names.get(label.upper(), label.upper()))
