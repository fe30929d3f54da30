"""Random texts and options for the pipelines, from a seed."""

import random

#: Words that the vocabularies of the fixtures have, words that they divide, and words that they do not know.
WORDS = (
    "the a and of in king France river film fox dog dogs brown quick jumps over lazy made was he she it city Paris "
    "kings foxes river's don't well-known 12 3.5 x1 caf\u00e9 \u4e2d\u6587 Ann Bob (quick) \u201cfox\u201d U.S. e.g. rivers, films; #1"
).split()
ENDS = [".", ".", "?", "!", ",", ";", ":", ""]


def text(rng, words):
    parts = []
    for _ in range(words):
        word = rng.choice(WORDS)
        parts.append(word + (rng.choice(ENDS) if rng.random() < 0.2 else ""))
    return " ".join(parts) or "fox"


def question_answering(rng):
    """(example, options)"""
    example = {"question": text(rng, rng.randint(1, 8)), "context": text(rng, rng.choice([1, 4, 12, 30, 60]))}
    options = {"max_seq_len": rng.choice([48, 56, 64])}
    if rng.random() < 0.7:
        options["top_k"] = rng.randint(1, 5)
    if rng.random() < 0.5:
        options["doc_stride"] = rng.randint(0, 8)
    if rng.random() < 0.5:
        options["max_answer_len"] = rng.randint(1, 20)
    if rng.random() < 0.4:
        options["handle_impossible_answer"] = True
    if rng.random() < 0.4:
        options["align_to_words"] = rng.random() < 0.5
    return example, options


def text_classification(rng):
    """(text or pair, options)"""
    given = text(rng, rng.choice([1, 3, 8, 12]))
    if rng.random() < 0.3:
        given = {"text": text(rng, rng.randint(1, 5)), "text_pair": text(rng, rng.randint(1, 5))}
    options = {}
    if rng.random() < 0.6:
        options["top_k"] = rng.choice([None, 1, 2, 3])
    if rng.random() < 0.4:
        options["function_to_apply"] = rng.choice(["sigmoid", "softmax", "none"])
    return given, options


def token_classification(rng):
    """(text, options)"""
    options = {"aggregation_strategy": rng.choice(["none", "simple", "first", "average", "max"])}
    if rng.random() < 0.3:
        options["ignore_labels"] = rng.choice([[], ["O", "LOC"], ["B-PER"]])
    return text(rng, rng.choice([1, 3, 8, 12])), options


def feature_extraction(rng):
    """(text, options)"""
    options = (
        {"truncation": True, "tokenize_kwargs": {"max_length": rng.randint(3, 9)}} if rng.random() < 0.3 else {}
    )
    return text(rng, rng.choice([1, 3, 8, 12])), options


def zero_shot_classification(rng):
    """(text, options)"""
    options = {"candidate_labels": rng.sample(["fox", "dog", "river", "king", "film"], rng.randint(1, 4))}
    if rng.random() < 0.4:
        options["multi_label"] = True
    if rng.random() < 0.3:
        options["hypothesis_template"] = "It is a {}!"
    return text(rng, rng.randint(1, 10)), options


TASKS = {
    "question-answering": question_answering,
    "text-classification": text_classification,
    "token-classification": token_classification,
    "feature-extraction": feature_extraction,
    "zero-shot-classification": zero_shot_classification,
}


def cases(task, count, seed=0):
    rng = random.Random(f"{task} {seed}")
    return [TASKS[task](rng) for _ in range(count)]
