"""bertqa.pipeline returns what transformers 4.57 returned for the same calls (Tests/parity4 compares them live)."""

import importlib.util
import json
import pathlib
import random

import pytest

import bertqa
from conftest import FIXTURES, ROOT

RECORDS = json.loads((pathlib.Path(__file__).parent / "pipeline_calls.json").read_text())
SINGLE = [record for record in RECORDS if "form" not in record]
FORMED = [record for record in RECORDS if "form" in record]
# Their records with "average" have words whose tokens have several labels.
WITHOUT_AVERAGE = ["tiny-deberta-entities", "tiny-electra-entities", "tiny-modernbert-entities"]
TEXT = "The quick fox jumps over the dog in Paris. "


def module(name):
    """A module beside the live comparison."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "Tests" / "parity4" / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


FORMS = module("forms").FORMS
pytestmark = pytest.mark.filterwarnings("ignore:`grouped_entities`")


@pytest.fixture(scope="module")
def pipes():
    """Pipelines by model and task."""
    opened = {}

    def get(record, compat="strict"):
        key = record["model"], record["task"], compat
        if key not in opened:
            opened[key] = bertqa.pipeline(record["task"], FIXTURES / record["model"], compat=compat)
        return opened[key]

    return get


def is_visible(text, one):
    """False for an answer without probability and for a token that is a space alone: bertqa returns neither."""
    return one["score"] > 0 if "answer" in one else text[one["start"] : one["end"]].strip() != ""


def labelled(text, groups):
    return [(one["entity_group"], text[one["start"] : one["end"]].strip()) for one in groups]


def same(found, expected):
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, value in expected.items():
            same(found[key], value)
    elif isinstance(expected, list):
        assert isinstance(found, list) and len(found) == len(expected)
        for one, other in zip(found, expected):
            same(one, other)
    elif isinstance(expected, float):
        assert isinstance(found, float) and abs(found - expected) < 1e-4
    else:
        assert found == expected


@pytest.mark.parametrize("record", SINGLE, ids=lambda record: f"{record['task']}-{record['model']}")
def test_calls(pipes, record):
    given, options, expected = record["input"], record["options"], record["result"]
    pipe = pipes(record)
    if "exception" in expected:
        with pytest.raises(bertqa.InvalidArgument):
            pipe(given, **options)
        return
    if record["task"] == "token-classification":
        strategy = options["aggregation_strategy"]
        if strategy == "average" and record["model"] in WITHOUT_AVERAGE:
            with pytest.raises(bertqa.Unsupported, match="the probability of every label"):
                pipe(given, **options)
            return
        expected = [one for one in expected if is_visible(given, one)]
        tokens = pipe.model.tokens(given)
        has_blanks = any(not given[start:end].strip() for start, end in tokens.offsets)
        if has_blanks and strategy != "none":
            # Groups are the same, but their words and scores lack the tokens that are a space alone.
            assert labelled(given, pipe(given, **options)) == labelled(given, expected) != []
            return
    if record["task"] == "question-answering":
        kept = [one for one in (expected if isinstance(expected, list) else [expected]) if is_visible("", one)]
        expected = kept[0] if len(kept) == 1 else kept
    same(pipe(given, **options), expected)


@pytest.mark.parametrize(
    "record", FORMED, ids=lambda record: f"{record['task']}-{record['model']}-{record['form']}"
)
def test_forms(pipes, record):
    def call():
        return FORMS[record["task"]][record["form"]](pipes(record))

    expected = record["result"]
    if isinstance(expected, dict) and "exception" in expected:
        kinds = {kind.__name__: kind for kind in (ValueError, KeyError, TypeError, RuntimeError)}
        # transformers lets the error of its tokenizers through as it is.
        kinds["Exception"] = bertqa.InvalidArgument
        with pytest.raises(kinds[expected["exception"]]):
            call()
    else:
        same(call(), expected)


def test_the_default_reads_long_texts():
    """Where transformers cuts a text or fails, the default reads all of it."""
    tagger = bertqa.pipeline("ner", FIXTURES / "tiny-bert-entities")
    strict = bertqa.pipeline("ner", FIXTURES / "tiny-bert-entities", compat="strict")
    assert len(tagger(TEXT * 30)) > len(strict(TEXT * 30)) > 0
    assert tagger(TEXT * 30)[-1]["end"] > strict(TEXT * 30)[-1]["end"]
    classifier = bertqa.pipeline("sentiment-analysis", FIXTURES / "tiny-bert-classifier")
    assert classifier(TEXT * 90)[0]["label"] in classifier.context.info.labels
    with pytest.raises(RuntimeError, match="tokens more"):
        bertqa.pipeline(None, classifier.context, compat="strict")(TEXT * 90)


def test_scores_over_windows():
    """By default one softmax goes over all windows of a context; strictly, each window has its own."""
    options = {"top_k": 50, "max_seq_len": 24, "doc_stride": 4, "align_to_words": False, "max_answer_len": 1}
    given = {"question": "Who jumps?", "context": TEXT * 5}
    default = bertqa.pipeline("question-answering", FIXTURES / "tiny-bert")(given, **options)
    strict = bertqa.pipeline("question-answering", FIXTURES / "tiny-bert", compat="strict")(given, **options)
    assert sum(answer["score"] for answer in default) < sum(answer["score"] for answer in strict)
    assert {answer["answer"] for answer in default} == {answer["answer"] for answer in strict}


def test_special_tokens_in_texts():
    given = {"question": "Who?", "context": "a [SEP] fox", "top_k": 9}
    default = bertqa.pipeline("question-answering", FIXTURES / "tiny-bert")
    strict = bertqa.pipeline("question-answering", FIXTURES / "tiny-bert", compat="strict")
    assert len(default.model.tokens("[SEP]")) > 3 and len(default.model.tokens("[SEP]", parse=True)) == 1
    assert default(**given) != strict(**given)


def test_a_long_question():
    """The default cuts a question at max_question_len, as the documentation of transformers says."""
    given = {"question": TEXT * 9, "context": TEXT}
    assert bertqa.pipeline("question-answering", FIXTURES / "tiny-bert")(**given)["answer"] in TEXT
    with pytest.raises(bertqa.InvalidArgument, match="no room"):
        bertqa.pipeline("question-answering", FIXTURES / "tiny-bert", compat="strict")(**given, max_seq_len=64)


ODD = [
    "\u00e9\u0301\u200d",
    "\U0001f469\u200d\U0001f4bb",
    "\ud800",
    "\u3000",
    "\x00",
    "\r\n",
    "[CLS]",
    "##s",
    "\u0130",
    "\ufdfa",
    "'ll",
]


@pytest.mark.parametrize("name", ["tiny-bert", "tiny-albert", "tiny-roberta", "tiny-deberta", "tiny-modernbert"])
def test_odd_texts(name):
    """Ranges are those of the text, whatever is in it."""
    rng = random.Random(name)
    for compat in None, "strict":
        reader = bertqa.pipeline("question-answering", FIXTURES / name, compat=compat)
        entities = FIXTURES / f"{name}-entities"
        tagger = bertqa.pipeline("ner", entities, compat=compat) if entities.exists() else None
        for _ in range(30):
            text = "".join(rng.choice([*ODD, "fox ", "the ", "a", " "]) for _ in range(rng.randint(1, 40)))
            found = reader(question="Who?", context=text, top_k=3)
            for one in found if isinstance(found, list) else [found]:
                assert text[one["start"] : one["end"]] == one["answer"]
            if tagger is None:
                continue
            for strategy in "none", "simple", "first":
                for one in tagger(text, aggregation_strategy=strategy, ignore_labels=[]):
                    assert 0 <= one["start"] <= one["end"] <= len(text) and 0 < one["score"] <= 1


def test_vectors_of_tokens():
    extract = bertqa.pipeline("feature-extraction", FIXTURES / "tiny-bert-embedder")
    with bertqa.Context(FIXTURES / "tiny-bert-embedder", precision="f32") as context:
        first, second = [[list(vector) for vector in one] for one in context.embed_tokens([TEXT, "the king"])]
    assert extract(TEXT) == [first] and extract([TEXT, "the king"]) == [[first], [second]]
    assert list(extract(text for text in [TEXT, "the king"])) == [[first], [second]]
    assert len(extract(TEXT, truncation=True, tokenize_kwargs={"max_length": 5})[0]) == 5
    # The directory's max_seq_length, of sentence-transformers, is 32.
    assert len(extract(TEXT * 4)[0]) == len(extract.model.tokens(TEXT * 4)) + 2 > 34
    assert len(extract(TEXT * 400)[0]) > extract.context.info.max_position_embeddings
    strict = bertqa.pipeline("feature-extraction", extract.context, compat="strict")
    with pytest.raises(RuntimeError, match="more than"):
        strict(TEXT * 400)
    with pytest.raises(ValueError, match="twice"):
        extract(TEXT, truncation=True, tokenize_kwargs={"truncation": True})
    with pytest.raises(TypeError, match="pooling"):
        extract(TEXT, pooling="mean")


def test_creating():
    with pytest.raises(KeyError, match="Unknown task answering"):
        bertqa.pipeline("answering", FIXTURES / "tiny-bert")
    with pytest.raises(RuntimeError):
        bertqa.pipeline()
    with pytest.raises(bertqa.WrongModel):
        bertqa.pipeline("ner", FIXTURES / "tiny-bert")
    for device in 0, "cuda", "cuda:1":
        with pytest.raises(ValueError, match="device"):
            bertqa.pipeline("question-answering", FIXTURES / "tiny-bert", device=device)
    for device in None, -1, "cpu":
        pipe = bertqa.pipeline(model=FIXTURES / "tiny-bert", device=device, use_fast=True, framework="pt", top_k=2)
        assert pipe.task == "question-answering" and len(pipe(question="Who?", context=TEXT)) == 2
    for wrong in {"compat": "exact"}, {"config": 1}, {"tokenizer": "another"}:
        with pytest.raises(ValueError):
            bertqa.pipeline("question-answering", FIXTURES / "tiny-bert", **wrong)
    with pytest.raises(TypeError, match="unexpected"):
        bertqa.pipeline("question-answering", FIXTURES / "tiny-bert", topk_=3)
    files = {file.name: file.read_bytes() for file in (FIXTURES / "tiny-bert").iterdir() if file.is_file()}
    given = {"question": "Who?", "context": TEXT}
    of_files = bertqa.pipeline("question-answering", files)(given)
    assert of_files == bertqa.pipeline("question-answering", FIXTURES / "tiny-bert")(given)


def test_the_default_models():
    reader = bertqa.pipeline("question-answering")
    assert reader(question="In which city does the fox jump?", context=TEXT)["answer"] == "Paris"
    assert bertqa.pipeline("ner", aggregation_strategy="simple")("Ann Smith lives.")[0]["word"] == "ann smith"
    classifier = bertqa.pipeline("text-classification", top_k=None)
    found, short = classifier(["The striker scored twice in the match.", "a"])
    assert found[0]["label"] == "sport" and sum(one["score"] for one in found) == pytest.approx(1)
    expected = classifier.context.classify("The striker scored twice in the match.").probabilities
    assert {one["label"]: one["score"] for one in found} == pytest.approx(expected, abs=1e-6)
    assert len(short) == len(found) and len({one["score"] for one in short}) == 1
