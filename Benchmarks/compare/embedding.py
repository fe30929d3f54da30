"""Vectors of many short texts of all lengths, in one call."""

import json
import shutil

import numpy as np

from . import data, models
from .workers import Worker, measure, note


def checkpoint():
    """The default model's encoder as a sentence encoder of sentence-transformers: mean, normalised, f32."""

    def make(directory):
        shutil.copytree(models.checkpoint("minilm"), directory)
        config = json.loads((directory / "config.json").read_text())
        config["architectures"] = ["BertModel"]
        (directory / "config.json").write_text(json.dumps(config))
        modules = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")]
        (directory / "modules.json").write_text(
            json.dumps(
                [
                    {
                        "idx": index,
                        "name": str(index),
                        "path": path,
                        "type": f"sentence_transformers.models.{kind}",
                    }
                    for index, (kind, path) in enumerate(modules)
                ]
            )
        )
        (directory / "1_Pooling").mkdir()
        (directory / "1_Pooling" / "config.json").write_text(
            json.dumps({"word_embedding_dimension": config["hidden_size"], "pooling_mode_mean_tokens": True})
        )

    return models.made(models.MADE / "minilm-embedder" / "f32", make)


class Libbertqa:
    def __init__(self, precision, threads):
        import bertqa

        path = models.quantized(checkpoint()) if precision == "int8" else checkpoint()
        self.context = bertqa.Context(path, precision=precision, threads=threads)

    def prepare(self, texts):
        return texts

    def run(self, texts):
        return np.asarray(self.context.embed(texts))


class SentenceTransformers:
    """encode() sorts the texts by length and pads batches of 32."""

    def __init__(self, precision, threads):
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(threads)
        dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[precision]
        self.model = SentenceTransformer(str(checkpoint()), device="cpu", model_kwargs={"dtype": dtype})

    def prepare(self, texts):
        return texts

    def run(self, texts):
        return self.model.encode(texts, show_progress_bar=False)


SUBJECTS = {
    "libbertqa int8": (Libbertqa, "int8"),
    "libbertqa bf16": (Libbertqa, "bf16"),
    "libbertqa f32": (Libbertqa, "f32"),
    "sentence-transformers fp32": (SentenceTransformers, "f32"),
    "sentence-transformers bf16": (SentenceTransformers, "bf16"),
}


def measured(pairs, threads, rounds):
    """Rows {engine, threads, texts, texts per second (of processor time on one thread), the least cosine with sentence-transformers fp32}."""
    sentences = [s for paragraph in data.paragraphs(pairs) for s in paragraph.split(". ") if s.strip()]
    texts = data.spread(list(dict.fromkeys(sentences)), 1000)
    note(f"embedding: {len(texts)} sentences, {threads} thread(s)")
    models.quantized(checkpoint())
    workers = []
    for name, (make, precision) in SUBJECTS.items():
        try:
            workers.append(Worker(name, make, (precision, threads), threads))
        except RuntimeError as error:
            note(f"left out: {error}")
    for worker in workers:
        worker.ask("prepare", "texts", (texts,))
    vectors = {worker.name: worker.ask("run", "texts") for worker in workers}
    reference = vectors.get("sentence-transformers fp32", vectors["libbertqa f32"])
    seconds = measure(workers, "texts", rounds, 1, cpu=threads == 1, warm_up=False)
    for worker in workers:
        worker.close()
    return [
        {
            "engine": name,
            "threads": threads,
            "texts": len(texts),
            "texts per second": len(texts) / seconds[name],
            "least cosine": float((vectors[name] * reference).sum(axis=1).min()),
        }
        for name in seconds
    ]
