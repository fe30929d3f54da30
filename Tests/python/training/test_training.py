"""training/: what precedes and follows the arithmetic: files, windows, order, checkpoints."""

import collections
import json
import lzma

import pytest

import accuracy
from common.batches import balanced_order, padded_length, padding_share, source_weights, token_batches
from common.checkpoints import latest_checkpoint, remove_old_checkpoints, snapshots
from common.schedule import learning_rate
from conftest import FIXTURES
from qa import balance
from qa.examples import chosen_answer, read_examples, with_article
from qa.windows import Layout, Part, parts, token_range
from questions import question
from samples import FOX

# Files of questions


def test_squad_json_and_both_forms_of_lines_are_read(tmp_path):
    qas = [question("1", "Who?", ("quick brown fox", 4)), question("2", "Why?", ("fox", 16), is_impossible=True)]
    (tmp_path / "a.json").write_text(json.dumps({"data": [{"paragraphs": [{"context": FOX, "qas": qas}]}]}))
    (tmp_path / "b.jsonl").write_text(json.dumps({"context": FOX, "qas": qas, "source": "foxes"}) + "\n\n")
    with lzma.open(tmp_path / "c.jsonl.xz", "wt") as file:
        for item in qas:
            print(json.dumps({**item, "context": FOX, "source": "foxes"}), file=file)
    a, b, c = (read_examples(str(tmp_path / name)) for name in ("a.json", "b.jsonl", "c.jsonl.xz"))
    assert [(e.id, e.question, e.answer) for e in a] == [("1", "Who?", (0, 19)), ("2", "Why?", None)]
    assert b == c and [(e.source, e.answer) for e in b] == [("foxes", (0, 19)), ("foxes", None)]
    assert read_examples(str(tmp_path / "a.json"), articles=False)[0].answer == (4, 19)


def test_an_answer_that_is_not_in_its_place_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"context": FOX, **question("7", "Who?", ("fox", 4))}))
    with pytest.raises(SystemExit, match="a.jsonl:1: question '7': the answer 'fox' is not at answer_start 4"):
        read_examples(str(path))
    path.write_text(json.dumps({"context": FOX, **question("7", "Who?", ("dog.", -4))}))
    with pytest.raises(SystemExit, match="not at answer_start -4"):
        read_examples(str(path))
    path.write_text("\n")
    with pytest.raises(SystemExit, match="no questions"):
        read_examples(str(path))


def test_development_questions_are_read_in_the_same_forms(tmp_path):
    whole = [
        question("1", "Who?", ("fox", 16)),
        question("2", "Why?", ("dog", 3), is_impossible=True),
        question("3", "How?"),
    ]
    columns = [{**item, "answers": {"text": [a["text"] for a in item["answers"]], "answer_start": [16] * len(item["answers"])}}
               for item in whole]  # fmt: skip
    lines = {
        "a.jsonl": [{**item, "context": FOX, "source": None} for item in whole],
        "b.jsonl": [{"context": FOX, "qas": whole}],
        "c.jsonl": [{**item, "context": FOX} for item in columns],
        "d.json": [{"data": [{"paragraphs": [{"context": FOX, "qas": whole}]}]}],
        "e.jsonl": [{"context": FOX, "id": item["id"], "question": item["question"], "is_impossible": True} for item in whole],
    }  # fmt: skip
    for name, records in lines.items():
        path = tmp_path / name
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8-sig")
        found = accuracy.read(path)
        assert [len(q["answers"]) for q in found] == ([0, 0, 0] if name == "e.jsonl" else [1, 0, 0]), name
        assert {(q["context"], q["source"]) for q in found} == {(FOX, "")} and found[0]["id"] == "1"
        assert [(e.id, e.source) for e in read_examples(str(path))] == [(item["id"], str(path)) for item in whole]


@pytest.mark.parametrize(
    "line, message",
    [
        ("{", "Expecting property name"),
        ("[]", "not an object"),
        ('{"question": "Who?", "answers": []}', "no 'context'"),
        ('{"context": "A", "question": "Who?"}', "no 'answers'"),
        ('{"context": "A", "question": null, "answers": []}', "None is not a text"),
        ('{"context": "A", "question": "Who?", "answers": ["A"]}', "indices must be"),
        ('{"context": "A", "question": "Who?", "answers": [{"text": 1}]}', "1 is not a text"),
    ],
)
def test_a_bad_question_is_named_by_its_line(tmp_path, line, message):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"context": FOX, **question("1", "Who?")}) + f"\n\n{line}\n")
    with pytest.raises(SystemExit, match=f"a.jsonl:3: .*{message}"):
        accuracy.read(path)
    path.write_bytes(b"\xff\n")
    with pytest.raises(SystemExit, match="a.jsonl: .*can't decode"):
        accuracy.read(path)


def test_an_answer_without_tokens_is_refused():
    pytest.importorskip("tokenizers")
    from common.models import load_tokenizer
    from qa.examples import Example
    from qa.tokenized import tokenized

    tokenizer = load_tokenizer(str(FIXTURES / "tiny-bert"))
    with pytest.raises(SystemExit, match="foxes: question '1': the answer ' ' has no tokens"):
        tokenized([Example("1", "foxes", "Who?", FOX, (3, 4))], tokenizer, 64, 8, [[]])


def test_the_most_frequent_answer_is_chosen():
    answers = question("", "", ("quick brown fox", 4), ("fox", 16), ("fox", 16))["answers"]
    assert chosen_answer(FOX, answers, "") == (16, 19)
    assert chosen_answer(FOX, answers[:2], "") == (4, 19)
    assert chosen_answer(FOX, [], "") is None


@pytest.mark.parametrize(
    "context, answer, expected",
    [
        (FOX, "quick brown fox", "The quick brown fox"),
        (FOX, "lethargic dog", "the lethargic dog"),
        (FOX, "dog", "dog"),
        ("An old man sat.", "old man", "An old man"),
        ("It lathe big dog.", "big dog", "big dog"),
        ("In the 1960 Olympics", "1960 Olympics", "1960 Olympics"),
        ("Anna a b", "a b", "a b"),
    ],
)
def test_articles(context, answer, expected):
    start = context.index(answer)
    first, end = with_article(context, (start, start + len(answer)))
    assert context[first:end] == expected
    # SQuAD's scores do not change.
    assert accuracy.normalized(expected) == accuracy.normalized(answer)


def test_an_answer_between_marks():
    question = {"context": f"A fox. {FOX}", "answers": [{"text": "fox", "answer_start": 23}, {"text": "A fox"}]}
    assert accuracy.around_answer(question, "<b>{}*") == f"A fox. {FOX}".replace("brown fox", "brown <b>fox*")
    del question["answers"][0]["answer_start"]
    assert accuracy.around_answer(question, "_{}_") == f"A _fox_. {FOX}"
    assert accuracy.around_answer({"context": FOX, "answers": []}, "_{}_") == FOX


# Windows and labels

OFFSETS = [(0, 3), (4, 9), (10, 15), (16, 19), (19, 20)]


@pytest.mark.parametrize(
    "answer, expected",
    [((4, 19), (1, 3)), ((0, 3), (0, 0)), ((5, 6), (1, 1)), ((3, 9), (1, 1)), ((19, 20), (4, 4)), ((3, 4), None)],
)
def test_token_range(answer, expected):
    assert token_range(OFFSETS, answer) == expected


def test_one_part():
    assert parts(3, (1, 2), room=10, overlap=4) == [Part(0, 3, 1, 2)]
    assert parts(3, None, room=10, overlap=4) == [Part(0, 3, -1, -1)]
    assert parts(0, None, room=10, overlap=4) == [Part(0, 0, -1, -1)]
    assert parts(10, None, room=10, overlap=4) == [Part(0, 10, -1, -1)]


def test_parts_share_the_overlap_and_label_only_whole_answers():
    found = parts(20, (6, 7), room=8, overlap=3)
    assert found == [Part(0, 8, 6, 7), Part(5, 8, 1, 2), Part(10, 8, -1, -1), Part(15, 5, -1, -1)]
    found = parts(20, (7, 9), room=8, overlap=3)
    assert [(part.start, part.end) for part in found] == [(-1, -1), (2, 4), (-1, -1), (-1, -1)]
    with pytest.raises(SystemExit, match="leave 8 tokens for the passage"):
        parts(20, None, room=8, overlap=8)


@pytest.mark.parametrize("name, separators, second_type", [("tiny-bert", 1, 1), ("tiny-roberta", 2, 0)])
def test_the_layout_is_that_of_the_template(name, separators, second_type):
    pytest.importorskip("tokenizers")
    from common.models import load_tokenizer

    tokenizer = load_tokenizer(str(FIXTURES / name))
    layout = Layout.of(tokenizer)
    assert (layout.separators, layout.second_type) == (separators, second_type)
    pair = tokenizer.encode("a a", "a")
    assert pair.ids[0] == layout.cls and pair.ids[-1] == layout.sep
    first = pair.sequence_ids.index(1)
    assert first == layout.context_start(pair.sequence_ids.count(0))
    assert len(pair.ids) == pair.sequence_ids.count(0) + pair.sequence_ids.count(1) + layout.specials


@pytest.mark.parametrize("name", ["tiny-bert", "tiny-roberta", "tiny-mpnet", "tiny-bert-cased"])
def test_names_of_special_tokens_in_a_text_are_text(name):
    """As in the library; a [PAD] would end a window."""
    pytest.importorskip("tokenizers")
    import bertqa
    from common.models import load_tokenizer

    text = "a [PAD] b [SEP] <pad> </s> c The Fox"
    tokenizer = load_tokenizer(str(FIXTURES / name))
    with bertqa.Context(FIXTURES / name, tokenizer_only=True) as context:
        assert tokenizer.encode(text, add_special_tokens=False).ids == list(context.tokenize(text).ids)


@pytest.mark.parametrize(
    "settings",
    [{}, {"do_lower_case": False}, {"strip_accents": False}, {"do_lower_case": False, "strip_accents": True},
     {"tokenize_chinese_chars": False}, {"do_lower_case": None, "cls_token": {"content": "[CLS]"}}],
)  # fmt: skip
def test_a_vocabulary_is_read_as_the_library_reads_it(tmp_path, settings):
    pytest.importorskip("tokenizers")
    import bertqa
    from common.models import load_tokenizer

    for name in "config.json", "model.safetensors":
        (tmp_path / name).write_bytes((FIXTURES / "tiny-bert" / name).read_bytes())
    pieces = (FIXTURES / "tiny-bert" / "vocab.txt").read_text().splitlines()
    # In the places of pieces that the text does not have.
    pieces[-6:] = ["\u00e4pfel", "apfel", "\u00c4pfel", "Apfel", "\u4e2d", "\u4e2d\u6587"]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces) + "\n")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    text = "\u00c4pfel, \u00e4pfel \u4e2d\u6587 the Fox"
    with bertqa.Context(tmp_path, tokenizer_only=True) as context:
        expected = list(context.tokenize(text).ids)
    assert load_tokenizer(str(tmp_path)).encode(text, add_special_tokens=False).ids == expected


# Order and batches

SOURCES = ["wiki"] * 600 + ["reviews"] * 300 + ["forum"] * 100


def test_every_prefix_of_the_order_has_all_sources():
    order = balanced_order(SOURCES, {}, 1, seed=5)
    assert sorted(order) == list(range(1000))
    for length in (100, 250, 500):
        counts = collections.Counter(SOURCES[i] for i in order[:length])
        for source, share in (("wiki", 0.6), ("reviews", 0.3), ("forum", 0.1)):
            assert abs(counts[source] - share * length) <= 2
    assert balanced_order(SOURCES, {}, 1, seed=5) == order != balanced_order(SOURCES, {}, 1, seed=6)


def test_weights_name_sources():
    assert source_weights(["forum=2.5", "a=b=1"], ["forum", "a=b", "wiki"]) == {"forum": 2.5, "a=b": 1.0}
    with pytest.raises(SystemExit, match="no such source: formu"):
        source_weights(["formu=2"], ["forum"])


@pytest.mark.parametrize("weight", ["forum", "forum=much", "forum=-1", "forum=nan"])
def test_weights_are_numbers(weight):
    with pytest.raises(SystemExit, match=f"{weight} is not SOURCE=W"):
        source_weights([weight], ["forum"])


def test_nothing_to_read():
    with pytest.raises(SystemExit, match="nothing to read"):
        balanced_order(["forum"] * 3, {"forum": 0}, 1, seed=1)


@pytest.mark.parametrize(
    "option",
    ["--passes 0", "--snapshot-steps 0", "--average 0", "--log-steps -1", "--batch-tokens 0", "--learning-rate nan",
     "--dropout 1", "--other-forms 2", "--temperature 0", "--windows 0", "--answerable-share 1", "--overlap -1"],
)  # fmt: skip
def test_options_have_limits(option, capsys):
    pytest.importorskip("tokenizers")
    import finetune_qa

    with pytest.raises(SystemExit):
        finetune_qa.parsed(["--data", "a", "--init", "b", "--state", "c", *option.split()])
    name, value = option.split()
    assert f"argument {name}: {value} is not " in capsys.readouterr().err


def test_weights_and_passes():
    order = balanced_order(SOURCES, {"forum": 2.5, "wiki": 0.5}, 2, seed=1)
    counts = collections.Counter(order)
    assert collections.Counter(SOURCES[i] for i in order) == {"wiki": 600, "reviews": 600, "forum": 500}
    assert {counts[i] for i in range(900, 1000)} == {5} and {counts[i] for i in range(600)} == {1}


def test_batches_hold_everything_once_within_their_tokens():
    lengths = [20 + 37 * i % 300 for i in range(1000)]
    order = balanced_order(SOURCES, {}, 1, seed=3)
    batches = token_batches(order, lengths, tokens=2048, multiple=16, seed=3, pool=8)
    assert sorted(i for batch in batches for i in batch) == list(range(1000))
    for batch in batches:
        assert len(batch) * padded_length(max(lengths[i] for i in batch), 16) <= 2048
    unsorted = [order[i : i + 8] for i in range(0, 1000, 8)]
    assert padding_share(batches, lengths, 16) < 0.4 * padding_share(unsorted, lengths, 16)
    # Batches of the first pool have the first questions only: a prefix of the run is a prefix of the order.
    total, first = 0, set()
    for index in order:
        if total >= 8 * 2048:
            break
        first.add(index)
        total += padded_length(lengths[index], 16)
    seen = set()
    for batch in batches:
        if seen >= first:
            break
        seen |= set(batch)
    assert seen == first
    # Batches are filled completely.
    assert [len(batch) for batch in token_batches(range(8), [16] * 8, 64, 16, seed=1)] == [4, 4]
    # One that is longer than a batch is a batch of its own.
    assert sorted(token_batches([0, 1], [500, 20], 100, 16, seed=1)) == [[0], [1]]


def test_padding_share():
    assert padding_share([[0, 1], [2]], [10, 16, 32], 16) == 1 - 58 / 64


def test_learning_rate():
    assert learning_rate(0, 0, 1.0, 10) == pytest.approx(0.1)
    assert learning_rate(0.25, 10, 2.0, 10) == pytest.approx(1.5)
    assert learning_rate(1, 500, 2.0, 10) == 0
    assert learning_rate(0.5, 0, 1.0, 0) == 0.5
    rates = [learning_rate(progress, 10, 2.0, 10, floor=0.4) for progress in (0.5, 0.6, 0.75, 0.9, 0.95, 1)]
    assert rates == pytest.approx([1, 0.8, 0.8, 0.8, 0.4, 0])


# Balance by kind of text


def test_kinds_join_the_sources_of_one_text():
    assert balance.kind("squad-v2.0-train-unanswerable") == balance.kind("squad-v1.1-train") == "squad"
    assert balance.kind("squad-v1.1-train-crossparagraph-synthetic") == "squad"
    assert balance.kind("squadshifts-reddit-crosspassage-synthetic") == balance.kind("squadshifts-reddit")
    assert balance.kind("tickets") == "tickets"


def test_texts_that_are_always_answered_are_reported():
    rows = [("reviews", True)] * 95 + [("reviews-unanswerable", False)] * 5 + [("wiki", True), ("wiki", False)]
    table = balance.balance(rows)
    assert table == [("reviews", 95, 5), ("wiki", 1, 1)]
    assert balance.one_sided(table) == ["reviews"]
    assert balance.one_sided([("asked", 5, 95), ("wiki", 20, 80)]) == ["asked"]
    assert "warning: reviews" in balance.report(table) and "warning: wiki" not in balance.report(table)


# Files of a run


def test_checkpoints(tmp_path):
    assert latest_checkpoint(str(tmp_path)) is None
    for name in ("checkpoint-000900.pt", "checkpoint-001000.pt", "checkpoint-1000000.pt", "checkpoint-2000000.pt.part",
                 "weights-000200.safetensors", "weights-000100.safetensors", "log.jsonl"):  # fmt: skip
        (tmp_path / name).touch()
    assert latest_checkpoint(str(tmp_path)).endswith("checkpoint-1000000.pt")
    remove_old_checkpoints(str(tmp_path), keep=2)
    assert not (tmp_path / "checkpoint-000900.pt").exists() and (tmp_path / "checkpoint-001000.pt").exists()
    assert [path[-18:-12] for path in snapshots(str(tmp_path))] == ["000100", "000200"]


# Checkpoints as files


def test_the_mean_of_checkpoints(tmp_path):
    numpy = pytest.importorskip("numpy")
    safetensors = pytest.importorskip("safetensors.numpy")
    from common.averaging import averaged, mixed, with_temperature

    for name, value in (("a", 1.0), ("b", 4.0)):
        safetensors.save_file({"w": numpy.full((2, 2), value, numpy.float16),
                               "qa_outputs.bias": numpy.full(2, value, numpy.float16)}, tmp_path / name)  # fmt: skip
    safetensors.save_file({"w": numpy.zeros((2, 2), numpy.float16)}, tmp_path / "c")
    paths = [str(tmp_path / "a"), str(tmp_path / "b")]
    mean = averaged(paths)
    assert mean["w"].dtype == numpy.float32 and (mean["w"] == 2.5).all()
    (tmp_path / "model").mkdir()
    (tmp_path / "b").rename(tmp_path / "model" / "model.safetensors")
    assert numpy.allclose(mixed(averaged(paths[:1]), [f"{tmp_path / 'model'}=0.25"])["w"], 1.75)
    for mix in "model", f"{tmp_path / 'model'}=much", f"{tmp_path}=0.5":
        with pytest.raises(SystemExit, match="--mix"):
            mixed(averaged(paths[:1]), [mix])
    cooled = with_temperature(mean, 2)
    assert (cooled["w"] == 2.5).all() and (cooled["qa_outputs.bias"] == 1.25).all()
    with pytest.raises(ValueError, match="c: other tensors"):
        averaged([paths[0], str(tmp_path / "c")])


def test_bf16_is_read(tmp_path):
    numpy = pytest.importorskip("numpy")
    pytest.importorskip("safetensors")
    from common.averaging import averaged, load

    values = numpy.array([[1, -2.5], [0, 1e38]], numpy.float32)
    parts = (values.view("u4") >> 16).astype("u2").tobytes(), numpy.array([1, -1], "i8").tobytes()
    header = {"b": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]},
              "i": {"dtype": "I64", "shape": [2], "data_offsets": [8, 24]}}  # fmt: skip
    header = json.dumps(header).encode()
    (tmp_path / "a").write_bytes(len(header).to_bytes(8, "little") + header + b"".join(parts))
    found = load(str(tmp_path / "a"))
    assert found["i"].tolist() == [1, -1] and found["b"].dtype == numpy.float32
    assert found["b"].tolist() == (values.view("u4") & 0xFFFF0000).view("f4").tolist()
    assert (averaged([str(tmp_path / "a")] * 2)["b"] == found["b"]).all()


def test_our_int8_form_is_averaged_by_its_values(tmp_path):
    numpy = pytest.importorskip("numpy")
    safetensors = pytest.importorskip("safetensors.numpy")
    from common.averaging import averaged

    safetensors.save_file({"w.weight": numpy.array([[1, -2], [3, 4]], numpy.int8), "b": numpy.ones(2, numpy.float32),
                           "w.weight_scale": numpy.array([2.0, 0.5], numpy.float32),
                           "w.weight_sum": numpy.array([-1, 7], numpy.int32)}, tmp_path / "int8")  # fmt: skip
    safetensors.save_file({"w.weight": numpy.zeros((2, 2), numpy.float16), "b": numpy.zeros(2, numpy.float16)},
                          tmp_path / "f16")  # fmt: skip
    mean = averaged([str(tmp_path / "int8"), str(tmp_path / "f16")])
    assert mean["w.weight"].tolist() == [[1, -2], [0.75, 1]] and mean["b"].tolist() == [0.5, 0.5]
    assert set(mean) == {"w.weight", "b"}


def test_passages_compete_by_words_and_by_vectors():
    """The best of both rankings first; never the own passage, nor one that holds the answer."""
    pytest.importorskip("sklearn")
    from qa.examples import Example
    from qa.passages import Collection, fused

    texts = ["The fox jumps high.", "The Fox sleeps.", "A hound runs.", "Foxes jump; the high fence.", "Rain."]
    vectors = {"Who jumps?": [1, 0], texts[0]: [1, 0], texts[1]: [0, 1], texts[2]: [0.9, 0.1], texts[3]: [0.5, 0.5],
               texts[4]: [-1, 0], "Why?": [0, 1]}  # fmt: skip

    class Context:
        def embed(self, texts):
            return [vectors[text] for text in texts]

    examples = [Example("1", "s", "Who jumps?", texts[0], (4, 7))]
    examples += [Example(str(n), "s", "Why?", text, None) for n, text in enumerate(texts[1:], 2)]
    first, *others = Collection(examples, Context()).competing(3)
    assert first == [2, 4]
    assert all(index + 1 not in found for index, found in enumerate(others))
    import numpy

    scores = numpy.array([[3.0, 2.0, 1.0, 0.0]])
    assert fused(scores, scores[:, ::-1], 2) == [[0, 3, 1, 2]]
