"""training/round_matrices.py and distil_embedding.py: an int8 form that is nearer to the exact model. The latter needs
torch."""

import json
import shutil
import stat
import sys

import pytest

from conftest import FIXTURES

TEXTS = [f"The {a} fox {b} the {c} dog, and {d} was late." for a in ("quick", "brown", "old") for b in ("saw", "found")
         for c in ("lazy", "black") for d in ("he", "she", "it")]  # fmt: skip


@pytest.fixture
def directories(tmp_path):
    """The exact directory, the int8 one and a file of paragraphs."""
    from common.models import TOOL, quantize

    exact, small, data = (tmp_path / name for name in ("exact", "small", "data.jsonl"))
    shutil.copytree(FIXTURES / "tiny-bert-embedder", exact)
    quantize(TOOL, str(exact), str(small))
    data.write_text("".join(json.dumps({"context": text}) + "\n" for text in TEXTS))
    return exact, small, data


@pytest.fixture
def models(directories):
    """distil_embedding, and the directories."""
    pytest.importorskip("torch", reason="training/requirements.txt is not installed: no torch")
    pytest.importorskip("transformers", reason="training/requirements.txt is not installed: no transformers")
    import distil_embedding

    return distil_embedding, *directories


def embedded(directory, **options):
    import numpy

    import bertqa

    with bertqa.Context(directory, task="embed", **options) as context:
        return numpy.array(context.embed(TEXTS, normalize=True))


def test_matrices_are_rounded_towards_the_exact_outputs(directories, monkeypatch):
    """With the same scales and embeddings; sums are those of the new integers."""
    pytest.importorskip("scipy")
    from safetensors.numpy import load_file

    import round_matrices

    exact, small, data = directories
    reference, before = embedded(exact, precision="f32"), embedded(small, precision="int8", isa="portable")
    tensors = load_file(small / "model.safetensors")
    arguments = [str(exact), str(small), str(data), "--texts", "12"]
    monkeypatch.setattr(sys, "argv", ["round_matrices.py", *arguments])
    round_matrices.main()
    after = embedded(small, precision="int8", isa="portable")
    left_before, left_after = (1 - (reference * found).sum(1).mean() for found in (before, after))
    assert 0 < left_after < 0.8 * left_before
    changed = load_file(small / "model.safetensors")
    assert changed.keys() == tensors.keys() and stat.S_IMODE((small / "model.safetensors").stat().st_mode) == 0o644
    for name, value in changed.items():
        assert value.dtype == tensors[name].dtype and value.shape == tensors[name].shape
        if name.endswith("_scale") or "embeddings" in name:
            assert (value == tensors[name]).all(), name
        elif name.endswith("_sum"):
            assert (value == changed[name.removesuffix("_sum")].sum(1, dtype="i4")).all(), name


def test_int8_vectors_come_nearer_to_the_exact_ones(models):
    """In portable code, whose attention is in f32: no training lowers the error of attention in bytes."""
    module, exact, small, data = models
    reference, before = embedded(exact, precision="f32"), embedded(small, precision="int8", isa="portable")
    module.main(
        [str(exact), str(small), str(data), "--steps", "60", "--batch-tokens", "64", "--learning-rate", "2e-4"]
    )
    after = embedded(small, precision="int8", isa="portable")
    left_before, left_after = (1 - (reference * found).sum(1).mean() for found in (before, after))
    assert 0 < left_after < 0.7 * left_before


def test_the_forward_pass_is_the_librarys(models):
    """Its vectors are closer to the library's int8 ones than the exact model's are."""
    import torch
    from safetensors.numpy import load_file
    from transformers import BertModel

    from common.models import load_tokenizer

    module, exact, small, data = models
    model = BertModel.from_pretrained(exact, dtype=torch.float32, add_pooling_layer=False).eval()
    layers = module.rounded(model, load_file(small / "model.safetensors"))
    assert len(layers) == 12 and not any(
        p.requires_grad for n, p in model.named_parameters() if "_embeddings" in n
    )
    ours = []
    with torch.no_grad():
        for ids in module.paragraphs(str(data), load_tokenizer(str(exact)), 64):
            ours.append(module.vectors(model, torch.tensor([ids]))[0][0].numpy())
    # Portable code has attention in f32.
    library, reference = embedded(small, precision="int8", isa="portable"), embedded(exact, precision="f32")
    assert abs(ours - library).max() < 0.2 * abs(reference - library).max()


def test_nothing_trained_changes_nothing_but_rounding(models):
    """Without a step the integers are those of `bertqa quantize`, and every sum is that of its row."""
    from safetensors.numpy import load_file

    module, exact, small, data = models
    before = load_file(small / "model.safetensors")
    module.main([str(exact), str(small), str(data), "--steps", "0"])
    after = load_file(small / "model.safetensors")
    assert before.keys() == after.keys()
    for name, value in before.items():
        assert value.dtype == after[name].dtype and (value == after[name]).all(), name


def test_a_model_that_is_not_in_the_int8_form_is_refused(models):
    module, exact, small, data = models
    shutil.copyfile(exact / "model.safetensors", small / "model.safetensors")
    with pytest.raises(SystemExit, match="not the int8 form"):
        module.main([str(exact), str(small), str(data)])
