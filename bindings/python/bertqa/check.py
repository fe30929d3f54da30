"""Compares the library's reading of a model with transformers, sentence-transformers or model2vec.

`python -m bertqa.check X` or `bertqa info --check X` compares ids and ranges of tokens, and the numbers of the model's
task. It prints a line for each; the exit status is 1 if one differs.
"""

import itertools
import json
import pathlib
import sys
from typing import Any, Callable, Dict, List, Tuple

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


class NotCompared(Exception):
    """The other libraries do not read the model."""


def main(model: str) -> int:
    try:
        import torch
        import transformers
    except ImportError as error:
        print(f"bertqa: the check needs torch, transformers and sentence-transformers: {error}", file=sys.stderr)
        return 3
    transformers.logging.set_verbosity_error()
    torch.set_grad_enabled(False)
    try:
        with bertqa.Context(model, precision="f32") as context:
            return compare(pathlib.Path(context.info.directory), context)
    except bertqa.BertQAError as error:
        print(f"bertqa: {error}", file=sys.stderr)
        return 3


def compare(directory: pathlib.Path, context: bertqa.Context) -> int:
    is_same = True
    task = str(context.info.task)
    numbers = no_comparison if is_own(directory, context) else COMPARED.get(task, no_comparison)
    for name, comparison in (("tokens", tokens), (task, numbers)):
        try:
            result = reading(comparison, directory, context)
        except NotCompared as reason:
            print(f"{name}: not compared: {reason}")
            continue
        is_same &= result[0]
        print(f"{name}: {result[1]}")
    return 0 if is_same else 1


Result = Tuple[bool, str]


def reading(
    comparison: Callable[[pathlib.Path, bertqa.Context], Result], directory: pathlib.Path, context: bertqa.Context
) -> Result:
    """Returns whether both agree, and a line that says so. Failures of the other libraries raise NotCompared."""
    try:
        return comparison(directory, context)
    except (bertqa.BertQAError, NotCompared):
        raise
    except Exception as error:  # transformers raises any kind
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise NotCompared(lines[0]) from error


def is_own(directory: pathlib.Path, context: bertqa.Context) -> bool:
    """True if other libraries would misread the model: a classifier that bertqa trained, or int8 weights."""
    if context.info.architecture in ("WordCountClassifier", "EmbeddingClassifier"):
        return True
    config = directory / "config.json"
    return config.exists() and "weight_format" in json.loads(config.read_text("utf-8")).get("bertqa", {})


def no_comparison(_directory: pathlib.Path, _context: bertqa.Context) -> Result:
    raise NotCompared("no other library reads this kind of model")


def apart(distance: float) -> Result:
    return distance <= TOLERANCE, f"at most {distance:.2g} apart"


def tokens(directory: pathlib.Path, context: bertqa.Context) -> Result:
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    different = []
    for text in TEXTS:
        theirs = tokenizer(text, add_special_tokens=False, return_offsets_mapping=tokenizer.is_fast)
        ours = context.tokenize(text)
        if ours.ids != theirs["input_ids"] or (tokenizer.is_fast and ours.offsets != theirs["offset_mapping"]):
            different.append(repr(text))
    return not different, " ".join(
        [f"{len(TEXTS) - len(different)} of {len(TEXTS)} texts are the same", *different]
    )


def vectors(directory: pathlib.Path, context: bertqa.Context) -> Result:
    import numpy

    if context.info.embedding_length == 0:
        return token_vectors(directory, context)
    if context.info.architecture == "StaticModel":
        from model2vec import StaticModel

        theirs = StaticModel.from_pretrained(directory).encode(TEXTS).astype(numpy.float32)
    else:
        theirs = sentence_model("SentenceTransformer", directory).encode(TEXTS, batch_size=1)
    return apart(numpy.abs(numpy.asarray(context.embed(TEXTS, truncate=True)) - theirs).max())


def token_vectors(directory: pathlib.Path, context: bertqa.Context) -> Result:
    """Compares vectors of late interaction, or weights of pieces."""
    import numpy

    ours = context.embed_tokens(TEXTS, truncate=True)
    if (directory / "modules.json").exists() and "SpladePooling" in (directory / "modules.json").read_text(
        "utf-8"
    ):
        encode = sentence_model("SparseEncoder", directory).encode
        largest = 0.0
        for mine, expected in zip(ours, encode(TEXTS, convert_to_sparse_tensor=False, batch_size=1).numpy()):
            weights = numpy.zeros_like(expected)
            weights[mine.ids] = numpy.asarray(mine)[:, 0]
            largest = max(largest, numpy.abs(weights - expected).max())
        return apart(largest)
    theirs = sentence_model("MultiVectorEncoder", directory).encode_document(TEXTS, batch_size=1)
    pairs = [(numpy.asarray(mine), numpy.asarray(other)) for mine, other in zip(ours, theirs)]
    if any(mine.shape != other.shape for mine, other in pairs):
        return False, "other numbers of vectors"
    return apart(max(numpy.abs(mine - other).max() for mine, other in pairs))


def sentence_model(kind: str, directory: pathlib.Path) -> Any:
    import sentence_transformers
    import torch

    return getattr(sentence_transformers, kind)(
        str(directory), device="cpu", model_kwargs={"dtype": torch.float32}
    )


def transformers_model(kind: str, directory: pathlib.Path) -> Any:
    import torch
    import transformers

    loaded = getattr(transformers, f"AutoModelFor{kind}").from_pretrained(directory, dtype=torch.float32).eval()
    return loaded, transformers.AutoTokenizer.from_pretrained(directory)


def logits(directory: pathlib.Path, context: bertqa.Context) -> Result:
    """Compares logits of pairs, which every classifier takes."""
    import numpy

    model, tokenizer = transformers_model("SequenceClassification", directory)
    largest = 0.0
    for pair in PAIRS:
        theirs = model(**tokenizer(*pair, return_tensors="pt")).logits[0].numpy()
        found = {score.id: score.logit for score in context.classify(pair).scores}
        largest = max(largest, numpy.abs(numpy.array([found[id] for id in range(len(found))]) - theirs).max())
    return apart(largest)


def answers(directory: pathlib.Path, context: bertqa.Context) -> Result:
    """Compares the logits of every token of questions and documents."""
    import numpy
    import torch

    model, tokenizer = transformers_model("QuestionAnswering", directory)
    largest = 0.0
    for pair in PAIRS:
        inputs = tokenizer(*pair, return_tensors="pt")
        output = model(**inputs)
        ids = inputs["input_ids"][0].tolist()
        types = inputs.get("token_type_ids", torch.zeros(1, len(ids)))[0].tolist()
        [ours] = context.logits([ids], [types.index(1) if 1 in types else len(ids)])
        theirs = torch.stack([output.start_logits[0], output.end_logits[0]]).numpy()
        largest = max(largest, numpy.abs(numpy.asarray(ours) - theirs).max())
    return apart(largest)


def entities(directory: pathlib.Path, context: bertqa.Context) -> Result:
    """Compares every token's label and score."""
    import transformers

    if (directory / "gliner_config.json").exists():
        raise NotCompared("models of GLiNER are not compared")
    model, tokenizer = transformers_model("TokenClassification", directory)
    pipeline = transformers.pipeline(
        "token-classification", model, tokenizer=tokenizer, aggregation_strategy="none", ignore_labels=[]
    )
    largest = 0.0
    for text in filter(None, TEXTS):
        # A token of white space has no label in the library.
        theirs = [
            (str(entity["entity"]), entity["score"])
            for entity in pipeline(text)
            if text[entity["start"] : entity["end"]].strip()
        ]
        ours: List[Tuple[str, float]] = [
            (entity.label, entity.score) for entity in context.entities(text, aggregation="none", ignore_labels=[])
        ]
        if [label for label, _ in ours] != [label for label, _ in theirs]:
            return False, f"other labels in {text!r}"
        largest = max(largest, *(abs(mine - other) for (_, mine), (_, other) in zip(ours, theirs)))
    return apart(largest)


COMPARED: Dict[str, Callable[[pathlib.Path, bertqa.Context], Result]] = {
    "embed": vectors,
    "classify": logits,
    "answer": answers,
    "entities": entities,
}

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m bertqa.check MODEL")
    sys.exit(main(sys.argv[1]))
