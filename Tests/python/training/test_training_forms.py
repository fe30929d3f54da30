"""training/qa/forms.py: the forms that students read. Needs torch."""

import numpy as np
import pytest

from conftest import FIXTURES
from runs import log, trainer_fixture  # noqa: F401

TINY = str(FIXTURES / "tiny-bert")
OWN_TEACHER = "--dropout", "0", "--teacher", TINY, "--teacher-share", "1"


@pytest.fixture
def tokenizer():
    pytest.importorskip("tokenizers", reason="training/requirements.txt is not installed: no tokenizers")
    from common.models import load_tokenizer

    return load_tokenizer(TINY)


@pytest.fixture
def windows(trainer):
    """The windows of a run of no steps."""
    train, Windows = trainer
    state = train("run", "--deadline", "2020-01-01T00:00")
    return Windows.load(str(next(state.glob("windows-*.npz"))))


def tokens(tokenizer, text):
    return np.array(tokenizer.encode(text, add_special_tokens=False).ids, np.uint32)


def test_questions_with_other_marks(trainer, windows, tokenizer):
    """Only the question changes; teachers read it as it is."""
    from qa.forms import other_marks

    train, _ = trainer
    mark = tokenizer.token_to_id("?")
    other = other_marks(windows, 1, mark, seed=1)
    for index in range(len(windows)):
        ids, _, candidates, *labels = windows.batch([index], 1)
        other_ids, _, other_candidates, *other_labels = other.batch([index], 1)
        place = ids[0].tolist().index(mark)
        assert other_ids[0].tolist() == ids[0, :place].tolist() + ids[0, place + 1 :].tolist()
        assert other_candidates.sum() == candidates.sum()
        assert other_labels == [label - (label > 0).long() for label in labels]
        assert other_marks(windows, 0, mark, seed=1).batch([index], 1)[0].tolist() == ids.tolist()
        assert other_marks(other, 1, mark, seed=2).batch([index], 1)[0].tolist() == ids.tolist()
    assert set((other_marks(windows, 0.5, mark, seed=1).lengths - windows.lengths).tolist()) == {-1, 0}

    first, second = (
        log(train(name, *OWN_TEACHER, "--other-marks", share))[0] for name, share in [("a", "0"), ("b", "1")]
    )
    assert first["loss"] < second["loss"]


@pytest.mark.parametrize(
    "question, expected",
    [
        ("What is the king of france?", "king france"),
        ("king france", "king france"),
        # Fewer than two pieces would be left.
        ("Who was the king?", "Who was the king?"),
        ("Who is it?", "Who is it?"),
        # A piece of a longer word is no function word.
        ("is isz made in a film", "isz made film"),
    ],
)
def test_keywords(question, expected, tokenizer):
    from common.forms import Pieces
    from qa.forms import keywords

    found = keywords(tokens(tokenizer, question), Pieces(tokenizer))
    assert found.tolist() == tokens(tokenizer, expected).tolist()


@pytest.mark.parametrize(
    "text, expected",
    [
        ("The king, he said: war. It was", "the king he said war it was"),
        ("it is the dog's (new) name", "it is the dog's new name"),
        ("at 10:30 or 3.5, in 1.5.", "at 10:30 or 3.5 in 1.5"),
        ("?!.", ""),
    ],
)
def test_text_without_punctuation(text, expected, tokenizer):
    from common.forms import Pieces, without_punctuation

    ids = tokens(tokenizer, text)
    assert ids[without_punctuation(ids, Pieces(tokenizer))].tolist() == tokens(tokenizer, expected).tolist()


@pytest.mark.parametrize("seed", range(40))
def test_lines_with_marks(seed, tokenizer):
    """Marks stand between words, also before the first; they differ in their numbers only."""
    from common.forms import Pieces, with_line_marks

    pieces = Pieces(tokenizer)
    text = tokens(tokenizer, "The quick brown fox jumps over the lethargic dog. So it was said. " * 4)
    ids, places = with_line_marks(text, pieces, np.random.default_rng(seed))
    assert places[places >= 0].tolist() == list(range(len(text)))
    assert ids[places >= 0].tolist() == text.tolist()
    edges = np.flatnonzero(np.diff(places >= 0, prepend=True, append=True))
    begins, ends = edges[::2], edges[1::2]
    assert begins[0] == 0 and len(begins) >= 2 and len(set(ends - begins)) == 1 and 1 <= ends[0] <= 8
    assert not pieces.continues[ids[ends]].any()
    marks = np.stack([ids[begin:end] for begin, end in zip(begins, ends, strict=True)])
    same = (marks == marks[0]).all(0)
    assert pieces.digits[marks[:, ~same]].all()


def test_words_with_marks(tokenizer):
    """Marks stand around some runs of words, never inside a word that the text has from its beginning."""
    from common.forms import AROUND, Pieces, with_word_marks

    class Choices:
        """Two words a run, every second run, each with the mark of this number."""

        def __init__(self, number):
            self.number, self.runs = number, 0

        def integers(self, low, high=None):
            return self.number if high is None else 2

        def random(self):
            self.runs += 1
            return self.runs % 2

    pieces = Pieces(tokenizer)
    text = tokens(tokenizer, "isz made the quick brown fox jumps over the lethargic")
    for number, (opening, closing) in enumerate(AROUND):
        marked = f"isz made{opening}the quick{closing}brown fox{opening}jumps over{closing}the lethargic"
        ids, places = with_word_marks(text, pieces, Choices(number))
        assert ids.tolist() == tokens(tokenizer, marked).tolist()
        assert ids[places >= 0].tolist() == text.tolist()
        assert places[places >= 0].tolist() == list(range(len(text)))

    rest = text[1:]
    assert pieces.continues[rest[0]]
    ids, places = with_word_marks(rest, pieces, np.random.default_rng(1))
    assert ids[places >= 0].tolist() == rest.tolist()


def test_windows_in_other_forms(windows, tokenizer):
    """Each token of the passage is the one at its place; the answer is what is left of it; no window is too long."""
    from common.forms import Pieces
    from qa.forms import other_forms

    pieces = Pieces(tokenizer)
    unchanged, none = other_forms(windows, tokenizer, 0, 0, longest=64, seed=1)
    assert none == [None] * len(windows)
    read, places = other_forms(windows, tokenizer, 1, 0, longest=64, seed=1)
    kinds = set()
    for index in range(len(windows)):
        ids, _, candidates, start, end = windows.batch([index], 1)
        assert unchanged.batch([index], 1)[0].tolist() == ids.tolist()
        other_ids, _, other_candidates, other_start, other_end = read.batch([index], 1)
        assert other_ids.shape[1] <= 64
        order = places[index]
        if order is None:
            assert other_ids.tolist() == ids.tolist()
            continue
        passage, other = (
            row[candidate][1:] for row, candidate in ((ids, candidates), (other_ids, other_candidates))
        )
        kept = order >= 0
        assert other[kept].tolist() == passage[order[kept]].tolist()
        lost = np.setdiff1d(np.arange(len(passage)), order)
        assert pieces.punctuation[passage[lost]].all()
        kinds.add((bool(len(lost)), not kept.all()))
        assert (start == 0) == (other_start == 0)
        if start:
            # Marks may stand between the answer's words, but not at its ends.
            answer = other_ids[0, other_start : other_end + 1]
            first = np.flatnonzero(other_candidates[0])[1]
            kept = kept[other_start - first : other_end + 1 - first]
            assert answer[kept].tolist() == ids[0, start : end + 1].tolist() and kept[0] and kept[-1]
    # A short passage may have no run of words with marks.
    assert kinds == {(True, False), (False, True), (True, True), (False, False)}
    assert any(order is None for order in places)


def test_teachers_read_the_passage_as_it_is(trainer, windows, tokenizer):
    """A student's target at a token is the teacher's logit of that token, and nothing at an added one."""
    import torch

    from qa.forms import other_forms
    from qa.teacher import TeacherLogits

    used = np.arange(len(windows))[::2]
    plain = TeacherLogits(windows, used)
    plain.values = torch.arange(plain.values.numel()).reshape(plain.values.shape).half()
    read, places = other_forms(windows, tokenizer, 1, 0, longest=64, seed=1)
    moved = plain.at(places, read)
    for index in used:
        before, after = (
            logits.batch([index], candidates)[:, candidates]
            for logits, candidates in ((plain, windows.batch([index], 1)[2]), (moved, read.batch([index], 1)[2]))
        )
        order = np.arange(before.shape[1] - 1) if places[index] is None else places[index]
        assert after[:, 0].tolist() == before[:, 0].tolist()
        assert after[:, 1:][:, order >= 0].tolist() == before[:, 1:][:, order[order >= 0]].tolist()
        assert after[:, 1:][:, order < 0].isneginf().all()

    train, _ = trainer
    losses = [
        line["loss"]
        for line in log(train("b", *OWN_TEACHER, "--other-forms", "1", "--keywords", "1", "--passes", "40"))
    ]
    assert sum(losses[-30:]) < sum(losses[:30])


def test_forms_need_word_pieces(tokenizer):
    from tokenizers import Tokenizer, models

    from common.forms import Pieces

    with pytest.raises(SystemExit, match="WordPiece"):
        Pieces(Tokenizer(models.BPE({"a": 0, "?": 1}, [])))
