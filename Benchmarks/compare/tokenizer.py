"""Tokenizers alone, one thread: ids and offsets of texts."""

import ctypes
import importlib.util
import pathlib

from . import models
from .workers import Worker, measure, note


class Libbertqa:
    def __init__(self):
        import bertqa
        from bertqa._native import check, library

        self.context = bertqa.Context(models.DEFAULT, tokenizer_only=True)
        self.check, self.library, self.tokens = check, library(), ctypes.c_void_p()

    def prepare(self, texts):
        return [text.encode() for text in texts]

    def run(self, texts):
        lib, check, out = self.library, self.check, ctypes.byref(self.tokens)
        pointer = self.context._handle.pointer
        for text in texts:
            check(lib.tokenize(pointer, text, len(text), None, out))
            lib.tokens_free(self.tokens)

    def ids(self, texts):
        return [list(self.context.tokenize(text.decode()).ids) for text in texts]


class HuggingFace:
    def __init__(self):
        import tokenizers

        self.tokenizer = tokenizers.BertWordPieceTokenizer(str(models.DEFAULT / "vocab.txt"), lowercase=True)

    def prepare(self, texts):
        return texts

    def run(self, texts):
        encode = self.tokenizer.encode
        for text in texts:
            encode(text, add_special_tokens=False)

    def ids(self, texts):
        return [self.tokenizer.encode(text, add_special_tokens=False).ids for text in texts]


class BlingFire:
    ROOM = 1 << 14

    def __init__(self):
        import blingfire

        path = pathlib.Path(blingfire.__file__).with_name("bert_base_tok.bin")
        self.model = ctypes.c_void_p(blingfire.load_model(str(path)))
        self.call = blingfire.blingfire.TextToIdsWithOffsets
        self.arrays = [(ctypes.c_int32 * self.ROOM)() for _ in range(3)]

    def prepare(self, texts):
        return [text.encode() for text in texts]

    def run(self, texts):
        call, model, (ids, starts, ends) = self.call, self.model, self.arrays
        for text in texts:
            call(model, text, len(text), ids, starts, ends, self.ROOM, 100)

    def ids(self, texts):
        ids, starts, ends = self.arrays
        return [ids[: self.call(self.model, text, len(text), ids, starts, ends, self.ROOM, 100)] for text in texts]


SUBJECTS = {
    "libbertqa": (Libbertqa, "bertqa"),
    "tokenizers 0.23.3": (HuggingFace, "tokenizers"),
    "BlingFire": (BlingFire, "blingfire"),
}


def measured(languages, rounds, log=note):
    """Rows {engine, language, MB/s, texts with the ids of `tokenizers`}; languages: {name: texts}."""
    log("tokenizer alone")
    workers = []
    for name, (make, package) in SUBJECTS.items():
        if importlib.util.find_spec(package):
            try:
                workers.append(Worker(name, make, (), 1))
            except RuntimeError as error:
                log(f"left out: {error}")
    rows = []
    for language, texts in languages.items():
        size = sum(len(text.encode()) for text in texts)
        able, ids = [], {}
        for worker in workers:
            worker.ask("prepare", language, (texts,))
            ids[worker.name] = worker.ask("ids", language)
            able.append(worker)
        reference = ids["tokenizers 0.23.3"]
        for name, seconds in measure(able, language, rounds, 1, cpu=True).items():
            equal = sum(a == b for a, b in zip(ids[name], reference))
            rows.append(
                {
                    "engine": name,
                    "language": language,
                    "MB/s": size / seconds / 1e6,
                    "equal": equal,
                    "texts": len(texts),
                }
            )
    for worker in workers:
        worker.close()
    return rows
