"""Forms of calls, right and wrong: functions of a pipeline."""

import types

C = "The quick fox jumps over the dog in Paris. Ann made a film."
Q = "Who jumps?"


def generator(*items):
    yield from items


def seq(found):
    """A generator's or dataset's results as a list."""
    return list(found) if isinstance(found, types.GeneratorType) or hasattr(found, "__next__") else iterated(found)


def iterated(found):
    return found if isinstance(found, (list, dict)) else list(found)


FORMS = {
    "question-answering": {
        "keywords": lambda p: p(question=Q, context=C),
        "two texts": lambda p: p(Q, C),
        "a dictionary": lambda p: p({"question": Q, "context": C}),
        "a list": lambda p: p([{"question": Q, "context": C}, {"question": "Who?", "context": C}]),
        "a list of one": lambda p: p([{"question": Q, "context": C}]),
        "several": lambda p: p({"question": Q, "context": C}, {"question": "Who?", "context": C}),
        "questions": lambda p: p(question=[Q, "Who?"], context=C),
        "contexts": lambda p: p(question=[Q, "Who?"], context=[C, "Ann fell."]),
        "a generator": lambda p: seq(p(generator({"question": Q, "context": C}, {"question": "a", "context": C}))),
        "batch_size": lambda p: p(question=[Q, "Who?"], context=C, batch_size=2),
        "data": lambda p: p(data={"question": Q, "context": C}),
        "topk": lambda p: p(question=Q, context=C, topk=2),
        "top_k": lambda p: p(question=Q, context=C, top_k=3, max_answer_len=2),
        "a short context": lambda p: p(question=Q, context="fox", top_k=1),
        "only white space": lambda p: p(question=Q, context="  ", handle_impossible_answer=True),
        "no context": lambda p: p(question=Q),
        "an empty context": lambda p: p(question=Q, context=""),
        "an empty question": lambda p: p(question="", context=C),
        "None": lambda p: p(question=Q, context=None),
        "None in a dictionary": lambda p: p({"question": Q, "context": None}),
        "no key": lambda p: p({"question": Q}),
        "another key": lambda p: p({"question": Q, "context": C, "id": 7}),
        "lengths": lambda p: p(question=[Q, Q, Q], context=[C, C]),
        "numbers": lambda p: p(question=1, context=2),
        "a number": lambda p: p(1),
        "texts": lambda p: p([Q, C]),
        "nothing": lambda p: p(),
        "top_k 0": lambda p: p(question=Q, context=C, top_k=0),
        "max_answer_len 0": lambda p: p(question=Q, context=C, max_answer_len=0),
        "doc_stride": lambda p: p(question=Q, context=C, max_seq_len=20, doc_stride=21),
        "no room": lambda p: p(question=Q * 30, context=C, max_seq_len=20, doc_stride=1),
    },
    "feature-extraction": {
        "a text": lambda p: p(C),
        "a list": lambda p: p([C, Q]),
        "a generator": lambda p: seq(p(generator(C, Q))),
        "truncation": lambda p: p(C * 90, truncation=True),
        "max_length": lambda p: p(C, tokenize_kwargs={"truncation": True, "max_length": 9}),
        "truncation twice": lambda p: p(C, truncation=True, tokenize_kwargs={"truncation": True}),
        "tensors": lambda p: p(C, return_tensors=True).tolist(),
        "an empty list": lambda p: p([]),
    },
    "text-classification": {
        "a text": lambda p: p(C),
        "a list": lambda p: p([C, Q]),
        "a list of one": lambda p: p([C]),
        "a dictionary": lambda p: p({"text": C, "text_pair": Q}),
        "dictionaries": lambda p: p([{"text": C, "text_pair": Q}, {"text": C}]),
        "old pairs": lambda p: p([[[C, Q]]]),
        "a generator": lambda p: seq(p(generator(C, Q))),
        "a generator, top_k": lambda p: seq(p(generator(C, Q), top_k=2)),
        "top_k None": lambda p: p(C, top_k=None),
        "top_k 1": lambda p: p(C, top_k=1),
        "top_k of a list": lambda p: p([C, Q], top_k=2),
        "all scores": lambda p: p(C, return_all_scores=True),
        "one score": lambda p: p(C, return_all_scores=False),
        "truncation": lambda p: p(C * 9, truncation=True),
        "max_length": lambda p: p(C, truncation=True, max_length=9),
        "a long pair": lambda p: p({"text": C * 3, "text_pair": Q * 20}, truncation=True, max_length=20),
        "a short pair": lambda p: p({"text": C * 3, "text_pair": Q}, truncation=True, max_length=21),
        "padding": lambda p: p([C, Q], padding=True, batch_size=2),
        "an unknown function": lambda p: p(C, function_to_apply="sum"),
        "a list of lists": lambda p: p([[C, Q]]),
        "too long": lambda p: p(C * 90),
        "an empty list": lambda p: p([]),
    },
    "token-classification": {
        "a text": lambda p: p(C),
        "a list": lambda p: p([C, Q]),
        "a list of one": lambda p: p([C]),
        "a tuple": lambda p: p((C, Q)),
        "a generator": lambda p: seq(p(generator(C, Q))),
        "simple": lambda p: p(C, aggregation_strategy="simple"),
        "grouped": lambda p: p(C, grouped_entities=True),
        "without subwords": lambda p: p(C, grouped_entities=True, ignore_subwords=True),
        "labels": lambda p: p(C, ignore_labels=[]),
        "long": lambda p: p(C * 30),
        "long, simple": lambda p: p(C * 30, aggregation_strategy="simple"),
        "words": lambda p: p(["The", "quick", "fox"], is_split_into_words=True),
        "sentences of words": lambda p: p([["The", "dog"], ["a", "fox"]], is_split_into_words=True),
        "an empty list": lambda p: p([]),
        "a number": lambda p: p(7),
        "None": lambda p: p(None),
        "an unknown strategy": lambda p: p(C, aggregation_strategy="best"),
        "stride without groups": lambda p: p(C, aggregation_strategy="none", stride=4),
        "a large stride": lambda p: p(C, aggregation_strategy="simple", stride=10**20),
        "another option": lambda p: p(C, labels=["A"]),
    },
    "zero-shot-classification": {
        "labels": lambda p: p(C, candidate_labels=["fox", "dog"]),
        "positional": lambda p: p(C, ["fox", "dog"]),
        "one text of labels": lambda p: p(C, "fox, dog , king"),
        "one label": lambda p: p(C, "fox"),
        "a list": lambda p: p([C, Q], "fox, dog"),
        "multi_label": lambda p: p(C, "fox, dog", multi_label=True),
        "multi_class": lambda p: p(C, "fox, dog", multi_class=True),
        "a template": lambda p: p(C, "fox, dog", hypothesis_template="It is {}."),
        "a generator": lambda p: seq(p(generator(C, Q), candidate_labels="fox, dog")),
        "long": lambda p: p(C * 30, "fox, dog"),
        "no labels": lambda p: p(C, candidate_labels=[]),
        "an empty text": lambda p: p("", "fox"),
        "a template without a place": lambda p: p(C, "fox", hypothesis_template="It is."),
        "more": lambda p: p(C, "fox", "dog"),
    },
}
