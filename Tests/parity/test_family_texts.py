"""Small encoders with tokenizers of their family's own kind against transformers, from the same texts.

Here the tokenizers are what matters: ids, the special tokens around texts and pairs, types and positions.
"""

import json
import os
import pathlib
import random
import subprocess

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import AlbertConfig, CamembertConfig, ElectraConfig, RobertaConfig, XLMRobertaConfig

import bertqa
from conftest import TINY, WORDS, randomise, text_of

TOLERANCE = 1e-4
TOOL = pathlib.Path(os.environ["BERTQA_PREFIX"]) / "bin" / "bertqa"
TEXTS = [text_of(words, words) for words in (1, 2, 5, 17, 60)] + [
    "",
    "  two  spaces\n",
    "Élan, naïve \u4e2d\u56fd \U0001f98a",
]
PAIRS = [
    (text_of(5, 1), text_of(30, 2)),
    (text_of(40, 3), text_of(40, 4)),
    (text_of(3, 5), ""),
    ("", text_of(9, 6)),
]


def corpus():
    rng = random.Random(0)
    return [" ".join(rng.choice(WORDS) for _ in range(20)) for _ in range(400)] + TEXTS


def byte_pairs(kind):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=900,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return kind(vocab=model["vocab"], merges=[tuple(pair) for pair in model["merges"]])


def unigram(kind, special):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=600, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    return kind(vocab=[tuple(piece) for piece in json.loads(tokenizer.to_str())["model"]["vocab"]])


def word_pieces(kind):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + list(".,?") + ["##s"] + WORDS
    return kind(vocab={piece: row for row, piece in enumerate(pieces)})


ROBERTA_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
FAMILIES = {
    "Roberta": (RobertaConfig, lambda: byte_pairs(transformers.RobertaTokenizer)),
    "XLMRoberta": (XLMRobertaConfig, lambda: unigram(transformers.XLMRobertaTokenizer, ROBERTA_SPECIAL)),
    "Camembert": (CamembertConfig, lambda: unigram(transformers.CamembertTokenizer, ROBERTA_SPECIAL)),
    "Electra": (ElectraConfig, lambda: word_pieces(transformers.ElectraTokenizer)),
    "Albert": (
        AlbertConfig,
        lambda: unigram(transformers.AlbertTokenizer, ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]),
    ),
}


@pytest.fixture(scope="module", params=FAMILIES)
def saved(request, tmp_path_factory):
    """(family, function that saves a model with a head and gives directory, model and tokenizer)"""
    family = request.param
    config_class, make = FAMILIES[family]
    tokenizer = make()

    def save(head, **settings):
        if family in ("Roberta", "XLMRoberta", "Camembert"):
            settings |= {"max_position_embeddings": 514, "type_vocab_size": 1}
        config = config_class(
            vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, embedding_size=32, **TINY, **settings
        )
        model = getattr(transformers, family + head)._from_config(config, attn_implementation="eager").eval()
        randomise(model, seed=len(family))
        directory = tmp_path_factory.mktemp(family)
        model.save_pretrained(directory)
        tokenizer.save_pretrained(directory)
        return directory, model, tokenizer

    return family, save


def encode(tokenizer, text):
    # Lists, because transformers takes an empty second text alone for none.
    parts = [[part] for part in ([text] if isinstance(text, str) else text)]
    # transformers 5 gives ALBERT its token types only if asked.
    has_types = type(tokenizer).__name__ in ("AlbertTokenizer", "BertTokenizer")
    return tokenizer(*parts, return_token_type_ids=has_types, return_tensors="pt")


def test_classifier(saved, tmp_path):
    _, save = saved
    directory, model, tokenizer = save("ForSequenceClassification", num_labels=3)
    with torch.no_grad():
        theirs = [model(**encode(tokenizer, text)).logits[0].numpy() for text in TEXTS + PAIRS]
    assert np.ptp(theirs, axis=0).max() > 0.02, "not all the same"
    subprocess.run([TOOL, "quantize", directory, tmp_path / "int8"], check=True, capture_output=True)
    for path, precision, bound in ((directory, "f32", TOLERANCE), (tmp_path / "int8", "int8", 0.15)):
        with bertqa.Context(path, precision=precision) as context:
            results = context.classify_batch(TEXTS + PAIRS)
        for result, expected in zip(results, theirs, strict=True):
            ours = [score.logit for score in sorted(result.scores, key=lambda score: score.id)]
            assert np.abs(ours - expected).max() <= bound


def test_vectors(saved):
    _, save = saved
    directory, model, tokenizer = save("Model")
    with bertqa.Context(directory, precision="f32") as context:
        ours = np.asarray(context.embed(TEXTS + PAIRS, pooling="mean", normalize=False))
    for text, vector in zip(TEXTS + PAIRS, ours, strict=True):
        with torch.no_grad():
            theirs = model(**encode(tokenizer, text)).last_hidden_state[0].mean(dim=0).numpy()
        assert np.abs(vector - theirs).max() <= TOLERANCE


def test_answers(saved):
    """The best span of a short document, which is one window."""
    _, save = saved
    directory, model, tokenizer = save("ForQuestionAnswering", num_labels=2)
    question, document = text_of(6, 11), text_of(50, 12)
    encoded = encode(tokenizer, (question, document))
    offsets = tokenizer(question, document, return_offsets_mapping=True)["offset_mapping"]
    with torch.no_grad():
        output = model(**encoded)
    start, end = output.start_logits[0].tolist(), output.end_logits[0].tolist()
    tokens = [token for token, part in enumerate(encoded.sequence_ids(0)) if part == 1]
    score = max(start[i] + end[j] for i in tokens for j in tokens if i <= j < i + 10)
    with bertqa.Context(directory, precision="f32") as context:
        answer = context.answer(question, document, max_answer_len=10, align_to_words=False).answers[0]
    assert abs(answer.score - score) <= 2 * TOLERANCE
    i, j = next((i, j) for i in tokens for j in tokens if i <= j < i + 10 and start[i] + end[j] == score)
    assert document[offsets[i][0] : offsets[j][1]].strip() == answer.text.strip()


@pytest.mark.parametrize("strategy", ["none", "simple", "first", "average", "max"])
def test_entities(saved, strategy):
    """Words have spaces between them: docs/entities.md describes transformers' words in other places."""
    family, save = saved
    labels = dict(enumerate(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]))
    directory, model, tokenizer = save("ForTokenClassification", id2label=labels)
    tagger = transformers.pipeline("token-classification", model=model, tokenizer=tokenizer, device="cpu")
    texts = [text_of(words, words).replace(",", "").replace("\u2603 ", "") for words in (1, 2, 5, 17, 60, 90)]
    # A mark of a space alone is a word of its own in transformers, and its word's first piece here, as in training.
    texts = [" ".join(w for w in text.split() if "\u2581" not in tokenizer.tokenize(w)) for text in texts]
    count = 0
    with bertqa.Context(directory, precision="f32") as context:
        for text, found in zip(texts, context.entities_batch(texts, aggregation=strategy), strict=True):
            expected = []
            for one in tagger(text, aggregation_strategy=strategy):
                part = text[one["start"] : one["end"]]
                start, end = one["end"] - len(part.lstrip()), one["start"] + len(part.rstrip())
                if start < end:
                    expected.append((start, end, one.get("entity", one.get("entity_group")), one["score"]))
            assert [(e.start, e.end, e.label) for e in found] == [e[:3] for e in expected], text
            assert np.allclose([e.score for e in found], [e[3] for e in expected], atol=1e-5)
            count += len(found)
    assert count >= 5, family
