#!/usr/bin/env python3
"""Compares a model as the library reads it with transformers and sentence-transformers, or model2vec: ids and ranges of
tokens, and the numbers of its task. Prints a line for each; the exit status is 1 if one differs.

usage: PYTHONPATH=bindings/python python3 Scripts/check-model.py DIRECTORY   (needs torch and those packages)
"""

import itertools
import pathlib
import sys

import numpy
import torch
import transformers

import bertqa

TOLERANCE = 1e-4
TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "",
    "Zürich's Straße, ½ of 42% – naïve İstanbul e\u0301",
    "中文字 ｶﾀｶﾅ 한국어 العربية हिन्दी",
    "don't stop@example.org http://a.b/c?d=1 <b>x</b>",
    "one\ttwo\u200bthree  four\n" * 2,
]
PAIRS = list(itertools.islice(zip(TEXTS, reversed(TEXTS)), 3))


def tokens(directory):
    """Of each text, or why there is nothing to compare."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    different = []
    with bertqa.Context(directory, tokenizer_only=True) as context:
        for text in TEXTS:
            theirs = tokenizer(text, add_special_tokens=False, return_offsets_mapping=tokenizer.is_fast)
            ours = context.tokenize(text)
            if ours.ids != theirs["input_ids"]:
                different.append(text)
            elif tokenizer.is_fast and ours.offsets != theirs["offset_mapping"]:
                different.append(text)
    return different


def embeddings(directory, context):
    if context.info.architecture == "StaticModel":
        from model2vec import StaticModel

        theirs = StaticModel.from_pretrained(directory).encode(TEXTS).astype(numpy.float32)
    else:
        from sentence_transformers import SentenceTransformer

        theirs = SentenceTransformer(str(directory), device="cpu", model_kwargs={"dtype": torch.float32}).encode(
            TEXTS
        )
    return numpy.abs(numpy.asarray(context.embed(TEXTS, truncate=True)) - theirs).max()


def logits(directory, context):
    """Of pairs, which every classifier takes."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(directory, dtype=torch.float32).eval()
    largest = 0.0
    for pair in PAIRS:
        with torch.no_grad():
            theirs = model(**tokenizer(*pair, return_tensors="pt")).logits[0].numpy()
        found = {score.id: score.logit for score in context.classify(pair).scores}
        largest = max(largest, numpy.abs(numpy.array([found[id] for id in range(len(found))]) - theirs).max())
    return largest


def answers(directory, context):
    """The logits of every token of questions with documents."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(directory, dtype=torch.float32).eval()
    largest = 0.0
    for pair in PAIRS:
        inputs = tokenizer(*pair, return_tensors="pt")
        with torch.no_grad():
            output = model(**inputs)
        ids = inputs["input_ids"][0].tolist()
        types = inputs.get("token_type_ids", torch.zeros(1, len(ids)))[0].tolist()
        [ours] = context.logits([ids], [types.index(1) if 1 in types else len(ids)])
        theirs = torch.stack([output.start_logits[0], output.end_logits[0]]).numpy()
        largest = max(largest, numpy.abs(numpy.asarray(ours) - theirs).max())
    return largest


def entities(directory, context):
    """The score of every token; 1 if a label differs."""
    model = transformers.AutoModelForTokenClassification.from_pretrained(directory, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    pipeline = transformers.pipeline(
        "token-classification", model, tokenizer=tokenizer, aggregation_strategy="none", ignore_labels=[]
    )
    largest = 0.0
    for text in filter(None, TEXTS):
        theirs = [(entity["entity"], entity["score"]) for entity in pipeline(text)]
        ours = [(e.label, e.score) for e in context.entities(text, aggregation="none", ignore_labels=[])]
        if [label for label, _ in ours] != [label for label, _ in theirs]:
            return 1.0
        largest = max(largest, *(abs(mine - other) for (_, mine), (_, other) in zip(ours, theirs)))
    return largest


COMPARED = {"embed": embeddings, "classify": logits, "answer": answers, "entities": entities}


def main(directory):
    passed = True
    try:
        different = tokens(directory)
        passed &= not different
        print(f"tokens: {len(TEXTS) - len(different)} of {len(TEXTS)} texts are the same", *map(repr, different))
    except (OSError, ValueError, KeyError) as error:
        print(f"tokens: not compared, as transformers has no tokenizer for it: {str(error).splitlines()[0]}")
    with bertqa.Context(directory, precision="f32") as context:
        task = context.info.task
        if task not in COMPARED:
            print(f"{task}: numbers are not compared")
            return passed
        distance = COMPARED[task](directory, context)
    print(f"{task}: at most {distance:.2g} apart")
    return passed and distance <= TOLERANCE


if __name__ == "__main__":
    sys.exit(0 if main(pathlib.Path(sys.argv[1])) else 1)
