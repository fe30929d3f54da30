"""A reader: answers from documents."""

from typing import Any, Dict, List, Optional

from haystack import Document, ExtractedAnswer, component

from .._hosts import opened
from ._base import Component


@component
class ExtractiveReader(Component):
    """Finds answers in documents, which are read as one collection, so that scores (probabilities) are comparable.

    no_answer: adds an answer without data. Its score is the probability that no document has one.
    """

    task = "answer"

    def __init__(
        self,
        model: Optional[str] = None,
        top_k: int = 20,
        score_threshold: Optional[float] = None,
        max_seq_length: int = 384,
        stride: Optional[int] = None,
        no_answer: bool = True,
    ):
        self.model, self.top_k, self.score_threshold = model, top_k, score_threshold
        self.max_seq_length, self.stride, self.no_answer = max_seq_length, stride, no_answer

    @component.output_types(answers=List[ExtractedAnswer])
    def run(
        self,
        query: str,
        documents: List[Document],
        top_k: Optional[int] = None,
        score_threshold: Optional[float] = None,
        max_seq_length: Optional[int] = None,
        stride: Optional[int] = None,
        no_answer: Optional[bool] = None,
    ) -> Dict[str, Any]:
        given = [(document, document.content) for document in documents if document.content is not None]
        if not given:
            return {"answers": []}
        result = opened(self.model, self.task).answer_documents(
            query,
            [text for _, text in given],
            top_k=self.top_k if top_k is None else top_k,
            max_seq_len=self.max_seq_length if max_seq_length is None else max_seq_length,
            doc_stride=self.stride if stride is None else stride,
        )
        least = self.score_threshold if score_threshold is None else score_threshold
        answers = []
        for answer in result.answers:
            if least is not None and answer.probability < least:
                continue
            start, end = (place - answer.sentence_start for place in (answer.start, answer.end))
            answers.append(
                ExtractedAnswer(
                    query=query,
                    data=answer.text,
                    document=given[answer.document_index][0],
                    context=answer.sentence,
                    score=answer.probability,
                    document_offset=ExtractedAnswer.Span(answer.start, answer.end),
                    context_offset=ExtractedAnswer.Span(start, end),
                )
            )
        none = ExtractedAnswer(query=query, data=None, score=result.no_answer_probability)
        if (self.no_answer if no_answer is None else no_answer) and (least is None or none.score >= least):
            answers.append(none)
        return {"answers": sorted(answers, key=lambda answer: -answer.score)}
