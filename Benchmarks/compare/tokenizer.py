"""Tokenizers alone, one thread: ids and offsets of texts, again and by a tokenizer that has seen none."""

import ctypes
import importlib.util
import pathlib

from . import models
from .workers import Worker, measure, note


class Libbertqa:
    def __init__(self, directory=models.DEFAULT):
        import bertqa
        from bertqa._native import check, library

        self.context = bertqa.Context(directory, tokenizer_only=True)
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


class LibbertqaPipeline(Libbertqa):
    """Compares a tokenizer that models.trained_tokenizer makes."""

    def __init__(self, kind):
        super().__init__(models.trained_tokenizer(kind))


class HuggingFacePipeline(HuggingFace):
    def __init__(self, kind):
        import tokenizers

        path = models.trained_tokenizer(kind) / "tokenizer.json"
        self.tokenizer = tokenizers.Tokenizer.from_file(str(path))


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


# For each kind of tokenizer: name, what makes it, its arguments, the package that it needs.
SUBJECTS = {
    "WordPiece": [
        ("libbertqa", Libbertqa, (), "bertqa"),
        ("tokenizers", HuggingFace, (), "tokenizers"),
        ("BlingFire", BlingFire, (), "blingfire"),
    ],
    "byte-level BPE": [
        ("libbertqa", LibbertqaPipeline, ("byte-level BPE",), "bertqa"),
        ("tokenizers", HuggingFacePipeline, ("byte-level BPE",), "tokenizers"),
    ],
    "Unigram": [
        ("libbertqa", LibbertqaPipeline, ("Unigram",), "bertqa"),
        ("tokenizers", HuggingFacePipeline, ("Unigram",), "tokenizers"),
    ],
}


def measured(languages, rounds):
    """Rows {kind, engine, language, MB/s, texts with the ids of `tokenizers`}; languages: {name: texts}. The kinds of
    tokenizers that remember what they split have rows for the first pass over the texts, too."""
    note("tokenizer alone")
    rows = []
    for kind, subjects in SUBJECTS.items():
        workers = []
        for name, make, arguments, package in subjects:
            if importlib.util.find_spec(package):
                try:
                    workers.append(Worker(name, make, arguments, 1))
                except RuntimeError as error:
                    note(f"left out: {error}")
        for language, texts in languages.items():
            rows += _rows(kind, workers, language, texts, rounds)
        for worker in workers:
            worker.close()
    return rows


def _rows(kind, workers, language, texts, rounds):
    size = sum(len(text.encode()) for text in texts)
    ids = {}
    for worker in workers:
        worker.ask("prepare", language, (texts,))
        ids[worker.name] = worker.ask("ids", language)
    reference = ids["tokenizers"]
    passes = {kind: False} if kind == "WordPiece" else {kind: False, f"{kind}, first pass": True}
    return [
        {
            "kind": name_of_kind,
            "engine": name,
            "language": language,
            "MB/s": size / seconds / 1e6,
            "equal": sum(a == b for a, b in zip(ids[name], reference)),
            "texts": len(texts),
        }
        for name_of_kind, anew in passes.items()
        for name, seconds in measure(workers, language, rounds, 1, cpu=True, anew=anew).items()
    ]
