"""training/common/packed.*: equal to transformers' BERT without padding. Needs torch and a CPU with AVX-512
BF16."""

import json
import shutil

import pytest

from common.batches import packed_batches
from conftest import FIXTURES

LENGTHS = [1, 31, 33, 64, 7, 96]


def test_batches_are_in_order_and_within_their_tokens():
    lengths = [20 + 37 * i % 300 for i in range(1000)]
    order = list(range(999, -1, -1))
    batches = packed_batches(order, lengths, 2048)
    assert [index for batch in batches for index in batch] == order
    sums = [sum(lengths[index] for index in batch) for batch in batches]
    assert all(total + lengths[after[0]] > 2048 >= total for total, after in zip(sums, batches[1:]))
    assert packed_batches([0, 1, 0], [500, 20], 100) == [[0], [1], [0]]


def test_packed_windows_hold_what_padded_ones_do():
    torch = pytest.importorskip("torch", reason="training/requirements.txt is not installed: no torch")
    from qa.tokenized import packed

    lengths, first = [29, 20, 41], [4, 5, 9]
    ids, types, candidates = (torch.zeros(3, 48, dtype=torch.int64) for _ in range(3))
    for row, (length, begin) in enumerate(zip(lengths, first)):
        ids[row, :length] = torch.randint(1, 100, (length,))
        types[row, begin:length] = 1
        candidates[row, begin : length - 1] = candidates[row, 0] = 1
    candidates, labels = candidates.bool(), (torch.tensor([5, 0, 11]), torch.tensor([5, 0, 14]))
    packed_ids, packed_types, positions, offsets, rows, packed_candidates, *packed_labels = packed(
        (ids, types, candidates, *labels), 0, 64
    )
    assert offsets.tolist() == [0, 29, 49, 90] and len(packed_ids) == 128 and not packed_ids[90:].any()
    assert rows.shape == packed_candidates.shape == (3, 41)
    for row, length in enumerate(lengths):
        of_window = rows[row, :length]
        assert (packed_ids[of_window] == ids[row, :length]).all()
        assert (packed_types[of_window] == types[row, :length]).all()
        assert positions[of_window].tolist() == list(range(length))
    assert (packed_candidates == candidates[:, :41]).all()
    assert all((ours == theirs).all() for ours, theirs in zip(packed_labels, labels))


@pytest.fixture
def packed():
    """The module; torch.manual_seed(1)."""
    torch = pytest.importorskip("torch", reason="training/requirements.txt is not installed: no torch")
    pytest.importorskip("transformers", reason="training/requirements.txt is not installed: no transformers")
    from common import packed

    if not torch.cpu._is_avx512_bf16_supported() or not shutil.which("cc"):
        pytest.skip("no AVX-512 BF16, or no C compiler")
    assert packed.available()
    torch.manual_seed(1)
    return packed


def configuration(**changes):
    from transformers import BertConfig

    return BertConfig(**{
        "vocab_size": 197, "hidden_size": 128, "num_attention_heads": 2, "num_hidden_layers": 2,
        "intermediate_size": 192, "max_position_embeddings": 128, "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0, "initializer_range": 0.1, **changes})  # fmt: skip


def gradients(model, scores, weights):
    model.zero_grad()
    (scores * weights).sum().backward()
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("heads", [2, 4])
def test_the_encoder_is_transformers_bert(packed, heads):
    """Hidden states and all gradients to bf16's accuracy, with heads of 64 and 32, in any order of the windows."""
    import torch
    from transformers import BertModel

    model = BertModel(configuration(num_attention_heads=heads), add_pooling_layer=False).train()
    packed.require(model.config)
    parts = [torch.randint(1, 197, (length,)) for length in LENGTHS]
    weights = [torch.randn(length, 128) for length in LENGTHS]
    most = max(LENGTHS)
    ids = torch.stack([torch.nn.functional.pad(part, (0, most - len(part))) for part in parts])
    theirs = model(ids, attention_mask=ids != 0, token_type_ids=(ids % 2))[0]
    there = ids != 0
    expected = gradients(model, theirs[there], torch.cat(weights))

    def ours(order):
        flat = torch.cat([parts[i] for i in order] + [torch.zeros(24, dtype=torch.int64)])
        positions = torch.cat([torch.arange(LENGTHS[i]) for i in order] + [torch.zeros(24, dtype=torch.int64)])
        offsets = torch.tensor([0] + [LENGTHS[i] for i in order]).cumsum(0).int()
        hidden = packed.encoder(model, flat, flat % 2, positions, offsets, dropout=0.0)[: offsets[-1]]
        return hidden.detach(), gradients(model, hidden, torch.cat([weights[i] for i in order]))

    hidden, found = ours(range(len(parts)))
    assert (hidden - theirs[there]).abs().mean() < 0.01 * theirs[there].abs().mean()
    assert set(found) == set(expected)
    for name, gradient in expected.items():
        if "key.bias" not in name:  # 0 but for rounding: the softmax does not change with it
            assert (found[name] - gradient).norm() < 0.03 * gradient.norm(), name
    backwards, _ = ours(range(len(parts))[::-1])
    first = sum(LENGTHS[1:])
    assert torch.equal(backwards[first:], hidden[: LENGTHS[0]]) and torch.equal(
        backwards[: LENGTHS[-1]], hidden[-LENGTHS[-1] :]
    )


def test_dropout_drops_its_share_and_passes_no_gradient_back(packed):
    import torch

    residual, x = torch.zeros(500, 128), torch.ones(500, 128, dtype=torch.bfloat16).requires_grad_()
    weight, bias = torch.ones(128), torch.zeros(128)

    def run(seed):
        return packed.AddNorm.apply(residual, x, weight, bias, 1e-12, seed, 64)[0]

    output = run(7)
    kept = output > 0  # ones that stay are above their row's mean
    assert abs(kept.float().mean() - 0.75) < 0.01
    assert (kept.float().mean(0) - 0.75).abs().max() < 0.1
    assert torch.equal(output, run(7)) and not torch.equal(output, run(8))
    (output * torch.randn(500, 128)).sum().backward()
    assert torch.equal(x.grad != 0, kept)


def test_no_dropout_in_evaluation(packed):
    import torch
    from transformers import BertModel

    model = BertModel(configuration(), add_pooling_layer=False).eval()
    ids = torch.arange(1, 65)
    arguments = ids, ids % 2, torch.arange(64), torch.tensor([0, 40, 64], dtype=torch.int32)
    first = packed.encoder(model, *arguments, dropout=0.5)
    assert torch.equal(first, packed.encoder(model, *arguments, dropout=0.0))
    model.train()
    assert not torch.equal(first, packed.encoder(model, *arguments, dropout=0.5))


@pytest.mark.parametrize(
    "changes", [{"hidden_act": "relu"}, {"num_attention_heads": 8}, {"intermediate_size": 100}]
)
def test_other_models_are_refused(packed, changes):
    with pytest.raises(ValueError, match="it is for BERT with gelu"):
        packed.require(configuration(**changes))


def test_an_adversary_moves_packed_windows_as_padded_ones():
    torch = pytest.importorskip("torch")
    from common.adversarial import AdversarialEmbeddings

    lengths, hidden = [3, 5, 1], 4
    padded = torch.tensor([[1, 2, 3, 0, 0], [4, 5, 6, 7, 8], [9, 0, 0, 0, 0]])
    flat = torch.cat([padded[padded > 0], torch.zeros(3, dtype=torch.int64)])
    slopes = torch.randn(10, hidden, generator=torch.Generator().manual_seed(1))
    slopes[0] = 0

    def moved(ids, *offsets):
        layer = torch.nn.Embedding(10, hidden)
        adversary = AdversarialEmbeddings(layer, 0.5)
        still = layer(ids)
        (still * slopes[ids]).sum().backward()
        adversary.move(*offsets)
        return (layer(ids) - still).detach()

    ours, theirs = moved(flat, torch.tensor([0, 3, 8, 9], dtype=torch.int32)), moved(padded)
    assert torch.allclose(ours[:9], theirs[padded > 0], atol=1e-6) and not ours[9:].any()
    norms = [part.norm().item() for part in ours[:9].split(lengths)]
    assert norms == pytest.approx([0.5] * 3, rel=1e-5)


def test_a_packed_run_learns_and_resumes(packed, tmp_path):
    """With a teacher, too, and against an adversary; a stopped run continues with the same losses."""
    import torch
    from transformers import BertForQuestionAnswering

    import finetune_qa
    from qa import training

    init = tmp_path / "init"
    BertForQuestionAnswering(configuration()).save_pretrained(init)
    for name in "vocab.txt", "tokenizer.json", "tokenizer_config.json":
        if (FIXTURES / "tiny-bert" / name).exists():
            shutil.copy(FIXTURES / "tiny-bert" / name, init)
    fox, data = "The quick brown fox jumps over the lethargic dog.", tmp_path / "data.jsonl"
    with open(data, "w") as file:
        for index in range(24):
            text = f"{'So it was said. ' * (index % 5)}{fox}"
            answers = [{"text": "The quick brown fox", "answer_start": text.index("The quick")}]
            print(json.dumps({"context": text, "source": "foxes", "question": "Who jumps?", "id": str(index),
                              "answers": answers if index % 3 else []}), file=file)  # fmt: skip

    def losses(state, *more):
        state = tmp_path / state
        state.mkdir(exist_ok=True)
        finetune_qa.train(finetune_qa.parsed([
            "--data", str(data), "--init", str(init), "--state", str(state), "--cpu", "--packed", "--batch-tokens", "256",
            "--max-length", "64", "--overlap", "8", "--learning-rate", "1e-3", "--warmup-steps", "2", "--log-steps", "1",
            "--threads", "1", *more]))  # fmt: skip
        return [json.loads(line)["loss"] for line in (state / "log.jsonl").read_text().splitlines()]

    threads = torch.get_num_threads()
    try:
        long = "--passes", "20", "--adversarial", "0.1"
        whole = losses("whole", *long)
        assert sum(whole[-5:]) < 0.7 * sum(whole[:5])
        assert losses("plain", *long[:2])[0] == whole[0]
        assert len(losses("taught", "--teacher", str(init))) > 3
        step = training.Run._train_step

        def stopping(self, rate):
            self.stopped = self.step == 2
            return step(self, rate)

        training.Run._train_step = stopping
        try:
            assert len(losses("parts", *long)) == 3
        finally:
            training.Run._train_step = step
        assert losses("parts", *long) == whole
    finally:
        torch.set_num_threads(threads)


def test_what_it_cannot_do_is_refused(tmp_path):
    pytest.importorskip("numpy")
    import finetune_qa

    arguments = ["--data", "d", "--init", "i", "--state", str(tmp_path), "--packed"]
    with pytest.raises(SystemExit):
        finetune_qa.parsed([*arguments, "--attention-dropout", "0.1"])
