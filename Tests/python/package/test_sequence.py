"""Predictions along a sequence: the default model, and tiny ones with random weights."""

import copy
import gc
import json
import math
import pickle
import threading

import numpy
import pytest

import bertqa
from conftest import FIXTURES
from samples import CONTINUATIONS, run_python

NAMES = ["tiny-lstm", "tiny-gru", "tiny-lstm-no-bias", "tiny-lstm-characters"]


@pytest.fixture(scope="module")
def play():
    with bertqa.Context(task="predict") as context:
        yield context


@pytest.fixture(scope="module")
def tiny():
    with bertqa.Context(FIXTURES / "tiny-lstm") as context:
        yield context


@pytest.mark.parametrize("name", NAMES)
def test_steps_are_those_of_pytorch(name):
    with bertqa.Context(FIXTURES / name) as context:
        for expected in json.loads((FIXTURES / name / "expected.json").read_text())["sequences"]:
            state = None
            for id, logits in zip(expected["ids"], expected["logits"], strict=True):
                [state], found = context.step([id], [state])
                assert numpy.abs(numpy.asarray(found)[0] - logits).max() < 5e-6
            assert numpy.abs(numpy.asarray(state.values) - expected["state"]).max() < 5e-6


@pytest.mark.parametrize("prompt", CONTINUATIONS)
def test_the_default_model_continues_the_play(play, prompt):
    seen = []
    generation = play.generate(prompt, on_word=lambda word: seen.append(word))
    assert generation.text == CONTINUATIONS[prompt] == " ".join(word.text for word in generation.words)
    assert (generation.stop, generation.unknown_count) == ("end", 0)
    assert seen == generation.words


def test_info(play):
    info = play.info
    assert (info.task, info.architecture) == ("predict", "LSTMLanguageModel")
    assert info.sequence == bertqa.SequenceInfo(512, " ", "</s>", 1, 0)
    assert (info.vocabulary_size, info.hidden_size, info.num_hidden_layers) == (4152, 256, 1)
    assert info.precision == "f32" and play.piece(1) == "</s>" and play.piece_id("Romeo") == 36


def test_prediction(play):
    first = play.predict("O", top_k=5)
    assert len(first.words) == 5 and len(first.probabilities) == 4152 and not first.is_unknown
    assert abs(sum(first.probabilities) - 1) < 1e-6
    assert first.word == first.words[0].text == ","
    for better, worse in zip(first.words, first.words[1:]):
        assert better.probability >= worse.probability
    for word in first.words:
        assert math.isclose(math.exp(word.log_probability), word.probability, rel_tol=1e-5)
        assert math.isclose(first.probabilities[word.id], word.probability, rel_tol=1e-5)
        assert play.piece(word.id) == word.text
    again = play.predict(b"O")
    assert again.probabilities == first.probabilities and again.state == first.state
    assert play.predict("star-cross’d").is_unknown is False
    assert play.predict("zyzzyva", first.state).is_unknown is True
    assert len(play.predict("O", top_k=10**6).words) == 4152


def test_a_text_is_read_as_its_words_are(play):
    prediction = None
    for word in "Good", "night", ",", "Romeo":
        prediction = play.predict(word, prediction.state if prediction else None, top_k=4)
    at_once = play.predict_text("Good night, “Romeo”", top_k=4)
    assert at_once == prediction and at_once.state == prediction.state
    assert play.predict_text("", at_once.state, top_k=4).words == at_once.words
    assert play.predict_text(", Romeo", play.predict_text("Good night").state, top_k=4) == prediction
    assert play.predict_text(b"Good zyzzyva").is_unknown and not play.predict_text("zyzzyva Good").is_unknown
    generated = play.generate("Good night", max_words=1).words[0]
    assert play.predict_text("Good night").words[0].id == generated.id or generated.text == "<unk>"
    with pytest.raises(bertqa.InvalidArgument, match="no word"):
        play.predict_text(" ")


def test_states_are_values(play):
    state = play.predict("O").state
    values, data = state.values, state.to_bytes()
    assert len(values) == 512 and len(data) == 32 + 4 * 512
    play.predict("Romeo", state)
    for other in (copy.copy(state), play.state(values), play.state(values.tolist()), play.state_from_bytes(data)):
        assert other == state and other.values == values and hash(other) == hash(state)
        assert play.predict("Romeo", other).probabilities == play.predict("Romeo", state).probabilities
    assert play.predict("But").state != state and state != data
    unpickled = pickle.loads(pickle.dumps(state))
    assert unpickled == state and unpickled.context.info.sequence.state_length == 512
    together = pickle.loads(pickle.dumps([play, state, play.predict("But").state]))
    assert together[1].context is together[0] is together[2].context
    changed = values
    changed[3] += 0.5
    assert play.state(changed) != state


def test_foreign_and_broken_states(play, tiny):
    state = tiny.predict("O").state
    with pytest.raises(bertqa.WrongModel):
        play.predict("O", state)
    with pytest.raises(bertqa.WrongModel):
        play.generate("O", state)
    with pytest.raises(bertqa.WrongModel):
        play.state_from_bytes(state.to_bytes())
    with pytest.raises(bertqa.WrongModel, match=r"states\[1\]"):
        play.step([1, 2], [None, state])
    data = state.to_bytes()
    flipped = bytes([data[0] ^ 1]) + data[1:], data[:-1] + bytes([data[-1] ^ 1])
    for broken in (b"", data[:-1], data + b"\0", *flipped):
        with pytest.raises(bertqa.InvalidArgument):
            tiny.state_from_bytes(broken)
    for values in ([], [0.0] * 79, [0.0] * 81, [math.nan] + [0.0] * 79, [math.inf] * 80):
        with pytest.raises(bertqa.InvalidArgument):
            tiny.state(values)
    with bertqa.Context(FIXTURES / "tiny-bert") as answering:
        with pytest.raises(bertqa.WrongModel):
            answering.predict("O")
    with pytest.raises(bertqa.WrongModel):
        play.answer("Who?", "Romeo.")


def test_states_that_are_too_large(tiny):
    """No state comes out that could not be read again, and no logits that are no numbers."""
    huge = tiny.state([3e38] * 80)
    one = tiny.predict("O").state
    for call in (
        lambda: tiny.step([1, 2], [one, huge]),
        lambda: tiny.step([1, 2], [one, huge], logits=False),
        lambda: tiny.predict("O", huge),
        lambda: tiny.generate("O", huge),
        lambda: tiny.rank("O", ["O O"], huge),
    ):
        with pytest.raises(bertqa.InvalidModel, match="not finite: the weights or the values of the state"):
            call()
    with pytest.raises(bertqa.InvalidModel, match=r"states\[1\]") as caught:
        tiny.step([1, 2], [one, huge])
    assert caught.value.item == 1


def test_what_is_no_state(tiny):
    for state in b"state", [0.0] * 80, numpy.zeros(80, numpy.float32), "state":
        for call in tiny.predict, tiny.predict_text, tiny.generate, tiny.likelihood:
            with pytest.raises(TypeError, match="must be a SequenceState, not"):
                call("O", state)
        with pytest.raises(TypeError, match="must be a SequenceState, not"):
            tiny.step([1], [state])


def test_what_is_no_list_of_numbers(tiny):
    for values in None, 0.5, "state", [0.0] * 79 + ["0"], numpy.zeros((80, 2)):
        with pytest.raises(TypeError, match="(?s)^values is .*, but must be a list of numbers: "):
            tiny.state(values)
    for ids in None, 1, "12", [1.0], ["1"], numpy.ones((2, 2), int):
        with pytest.raises(TypeError, match="(?s)^ids is .*, but must be a list of integers: "):
            tiny.step(ids)
    with pytest.raises(bertqa.InvalidArgument, match="^values is .*, which has a number out of range: "):
        tiny.state([10**400] * 80)
    assert tiny.step(bytes([1, 2]))[0] == tiny.step([1, 2])[0]
    assert tiny.state(iter([0.5] * 80)) == tiny.state([0.5] * 80)


def test_batches_are_the_sequences_alone(play):
    ids = [(37 * i) % 4152 for i in range(100)]
    states, none = play.step(ids, logits=False)
    assert none is None
    following, logits = play.step(ids[::-1], states)
    assert logits.shape == (100, 4152) and logits.format == "f"
    array = numpy.asarray(logits)
    for i in (0, 1, 50, 99):
        [state], alone = play.step([ids[99 - i]], [states[i]])
        assert state == following[i] and numpy.array_equal(numpy.asarray(alone)[0], array[i])
    # Also from numpy's integers, and none at all.
    assert play.step(numpy.array(ids[:3]))[0] == states[:3]
    assert play.step([])[0] == []
    for ids, states in (([4152], None), ([-1], None), ([2**40], None), ([1, 2], [None])):
        with pytest.raises(bertqa.InvalidArgument):
            play.step(ids, states)


def test_generation_options(play):
    texts = [play.generate("O", temperature=1.0, seed=seed).text for seed in range(8)]
    assert texts == [play.generate("O", temperature=1.0, seed=seed).text for seed in range(8)]
    assert len(set(texts)) > 4
    greedy = play.generate("O").text
    assert play.generate("O", temperature=1.0, top_k=1).text == greedy
    assert play.generate("O", temperature=1.0, top_p=1e-6).text == greedy
    part = play.generate("O Romeo", max_words=5)
    assert part.stop == "limit" and len(part.words) == 5
    rest = play.generate("", part.state)
    assert f"{part.text} {rest.text}" == CONTINUATIONS["O Romeo"]
    stopped = play.generate("O Romeo", on_word=lambda word: word.text == "dead")
    assert stopped.stop == "callback" and stopped.words[-1].text == "dead"
    assert play.generate("O zyzzyva").unknown_count == 1
    for options in ({"max_words": 0}, {"temperature": -1.0}, {"top_p": 0.0}, {"top_k": -1}):
        with pytest.raises(bertqa.InvalidArgument):
            play.generate("O", **options)
    with pytest.raises(bertqa.InvalidArgument):
        play.generate("")
    with pytest.raises(TypeError, match="unknown option"):
        play.generate("O", heat=1)


def test_exceptions_of_the_callback_arrive(play):
    def fail(word):
        raise ZeroDivisionError(word.text)

    with pytest.raises(ZeroDivisionError, match=","):
        play.generate("O Romeo", on_word=fail)
    assert play.generate("But soft").text == CONTINUATIONS["But soft"]


def test_signals_end_a_generation_with_a_callback():
    code = f"""
import bertqa, signal
context = bertqa.Context({str(FIXTURES / "tiny-gru")!r})
seen = []
def interrupt(word):
    seen.append(word)
    if len(seen) == 3:
        signal.raise_signal(signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGALRM, signal.default_int_handler)
try:
    context.generate("O", on_word=interrupt)
except KeyboardInterrupt:
    print("interrupted inside of on_word", len(seen))
for delay in (0.02, 0.05, 0.1):
    try:
        signal.setitimer(signal.ITIMER_REAL, delay)
        # Goes round in circles for ever.
        context.generate("O", max_words=10**6, on_word=lambda word: None)
    except KeyboardInterrupt:
        print("interrupted anywhere")
"""
    result = run_python(code)
    assert result.stderr == ""
    assert result.stdout == "interrupted inside of on_word 3\n" + 3 * "interrupted anywhere\n"


def test_likelihood(play):
    words = "O Romeo , Romeo , wherefore art thou Romeo ?".split()
    state, expected = None, 0.0
    for word, following in zip(words, words[1:] + ["</s>"]):
        prediction = play.predict(word, state)
        state = prediction.state
        expected += math.log(prediction.probabilities[play.piece_id(following)])
    score = play.likelihood("O Romeo, Romeo, wherefore art thou Romeo?", include_end=True)
    assert score.word_count == len(words) and score.unknown_count == 0
    assert score.log_likelihood == pytest.approx(expected, abs=1e-5)
    assert score.perplexity == pytest.approx(math.exp(-expected / len(words)), rel=1e-5)
    assert play.likelihood("the computer says").perplexity > 100
    assert play.likelihood("the computer").unknown_count == 1
    assert math.isnan(play.likelihood("").perplexity)


def test_ranking(play):
    ranked = play.rank("Good night,", ["the computer", "good night.", b"good night.", "Romeo."])
    assert [item.index for item in ranked[:2]] == [1, 2] and ranked[1].text == b"good night."
    averages = [item.log_likelihood / item.word_count for item in ranked]
    assert averages == sorted(averages, reverse=True)
    state = play.generate("Good night", max_words=1).state
    again = play.rank("", ["the computer", "good night.", b"good night.", "Romeo."], state)
    assert again == ranked
    assert play.rank("O", []) == []
    with_end = play.rank("Good night,", ["good night.", "good night"], include_end=True)
    assert [(item.text, item.word_count) for item in with_end] == [("good night.", 4), ("good night", 3)]


STRANGE_TEXTS = ["\0", "\x1b[31m", "🦊" * 50, b"\xff\xfe\x80", "’" * 20, "a" * 100_000, "- - -"]


@pytest.mark.parametrize("text", STRANGE_TEXTS)
def test_any_text_is_read(play, text):
    score = play.likelihood(text)
    assert score.unknown_count >= 0
    play.predict(text)
    play.rank(text, [text])
    try:
        play.generate(text, max_words=3)
    except bertqa.InvalidArgument as error:
        assert "no word" in str(error)


def test_threads_share_a_context(play):
    failures = []

    def work():
        for _ in range(3):
            for prompt, continuation in CONTINUATIONS.items():
                if play.generate(prompt).text != continuation:
                    failures.append(prompt)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_results_outlive_the_context():
    context = bertqa.Context(FIXTURES / "tiny-lstm")
    prediction = context.predict("O")
    generation = context.generate("O", max_words=3)
    context.close()
    gc.collect()
    assert prediction.words and generation.text is not None and prediction.state.to_bytes()
    with pytest.raises(ValueError, match="closed"):
        context.predict("O", prediction.state)


def test_characters():
    with bertqa.Context(FIXTURES / "tiny-lstm-characters") as context:
        generation = context.generate("abé🦊\n", temperature=2.0, seed=3, max_words=40)
        assert generation.unknown_count == 0 and generation.words
        assert generation.text == "".join(word.text for word in generation.words)
