"""Pipelines with the calls and results of transformers 4.57. docs/hosts.md describes the differences."""

from ._base import Pipeline
from ._create import pipeline
from ._feature_extraction import FeatureExtractionPipeline
from ._question_answering import QuestionAnsweringPipeline
from ._text_classification import TextClassificationPipeline
from ._token_classification import TokenClassificationPipeline
from ._zero_shot import ZeroShotClassificationPipeline

__all__ = [
    "FeatureExtractionPipeline",
    "Pipeline",
    "QuestionAnsweringPipeline",
    "TextClassificationPipeline",
    "TokenClassificationPipeline",
    "ZeroShotClassificationPipeline",
    "pipeline",
]
