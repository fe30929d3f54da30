"""A pipeline component for spaCy that sets the entities of documents. Needs spacy.

    nlp = spacy.blank("en")
    nlp.add_pipe("bertqa", config={"threshold": 0.5})

spaCy finds the component by the wheel's entry point; without the wheel, import bertqa.spacy first.
"""

from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Union

from spacy.language import Language
from spacy.scorer import get_ner_prf
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import filter_spans, minibatch, raise_error

from ._hosts import opened, untagged

#: The labels, or a threshold for each; None is the component's.
Labels = Union[List[str], Dict[str, Optional[float]], None]


class BertQAEntities:
    """model: a directory or name for bertqa.Context; default: the default model.

    labels: the labels to keep; default: all. For a GLiNER model, the labels to find. A dict has a threshold for each.
    names: spaCy's labels for the model's labels, such as {"person": "PERSON"}.
    threshold: the lowest score of an entity.
    """

    def __init__(
        self,
        name: str,
        model: Optional[str],
        labels: Labels,
        threshold: float,
        names: Dict[str, str],
    ):
        self.name, self.model, self.wanted, self.threshold, self.names = name, model, labels, threshold, names
        self._error_handler = raise_error

    def set_error_handler(self, error_handler: Callable[..., Any]) -> None:
        """error_handler: what nlp.pipe calls with the documents that cannot be read, which it then leaves out."""
        self._error_handler = error_handler

    def get_error_handler(self) -> Callable[..., Any]:
        return self._error_handler

    def __call__(self, doc: Doc) -> Doc:
        return self._read([doc])[0]

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        for docs in minibatch(stream, size=batch_size):
            try:
                read = self._read(docs)
            except Exception as error:
                self._error_handler(self.name, self, docs, error)
            else:
                yield from read

    @property
    def labels(self) -> Any:
        """The labels that this component can set."""
        own = opened(self.model, "entities").info.labels
        found = {untagged(label) for label in own} - {"O"} if own else set(self.wanted or ())
        return tuple(sorted(self.names.get(label, label) for label in found))

    def _read(self, docs: List[Doc]) -> List[Doc]:
        texts = [doc.text for doc in docs]
        options: Dict[str, Any] = {"labels": self.wanted, "threshold": self.threshold}
        for doc, entities in zip(docs, opened(self.model, "entities").entities_batch(texts, **options)):
            spans = [
                doc.char_span(one.start, one.end, self.names.get(one.label, one.label), alignment_mode="expand")
                for one in entities
            ]
            # Earlier entities stay; of overlapping ones, the longest stays.
            doc.set_ents(filter_spans([*(span for span in spans if span is not None), *doc.ents]))
        return docs

    def score(self, examples: Iterable[Example], **options: Any) -> Dict[str, Any]:
        """Returns the scores that nlp.evaluate adds for entities."""
        return get_ner_prf(examples, **options)

    def to_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> None:
        """Writes nothing: the config names the model's own directory."""

    def from_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> "BertQAEntities":
        return self


@Language.factory(
    "bertqa",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={"model": None, "labels": None, "threshold": 0.0, "names": {}},
)
def make(
    nlp: Language,
    name: str,
    model: Optional[str],
    labels: Labels,
    threshold: float,
    names: Dict[str, str],
) -> BertQAEntities:
    """Makes the component."""
    return BertQAEntities(name, model, labels, threshold, names)
