"""Makes tiny checkpoints of Jina's families, and what jina_bert.py and jina_v3.py say of them.

python generate-tiny-jina.py
"""

import importlib
import json
import pathlib
import sys

import torch
from transformers import BertTokenizer

sys.path.insert(0, str(pathlib.Path(__file__).parent))
tiny = importlib.import_module("generate-tiny-models")
from jina_bert import JinaBert  # noqa: E402
from jina_v3 import INSTRUCTIONS, TASKS, JinaV3  # noqa: E402

POSITIONS = 64


def make(name, seed):
    pieces = tiny.vocabulary(False)
    model = JinaBert(len(pieces), 24, 2, 3, 20, POSITIONS).eval()
    tiny.randomise(model, torch.Generator().manual_seed(seed))
    folder = tiny.HERE / name
    folder.mkdir(exist_ok=True)
    model.save(folder)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": true, "tokenizer_class": "BertTokenizer"}\n')
    tokenizer = BertTokenizer.from_pretrained(folder)
    texts = [text for text in tiny.TEXTS if text[1] is None]
    results = []
    for first, _ in texts:
        inputs = tokenizer(first, truncation=True, max_length=POSITIONS, return_tensors="pt")
        with torch.no_grad():
            results.append(model(inputs["input_ids"][0], inputs["token_type_ids"][0]).mean(dim=0))
    tiny.expect(folder, texts, results)


def make_v3(name, seed):
    """expected.json also has the outputs of each task, of the texts behind the task's instruction."""
    pieces = tiny.vocabulary(False)
    model = JinaV3(len(pieces), 16, 2, 2, 24, POSITIONS, rank=3).eval()
    tiny.randomise(model, torch.Generator().manual_seed(seed))
    model.damp()
    model.to(torch.bfloat16).float()
    folder = tiny.HERE / name
    folder.mkdir(exist_ok=True)
    model.save(folder, torch.bfloat16)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    settings = {"do_lower_case": True, "tokenizer_class": "BertTokenizer", "model_input_names": ["input_ids"]}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings) + "\n")
    tokenizer = BertTokenizer.from_pretrained(folder)
    texts = [text for text in tiny.TEXTS if text[1] is None]

    def vectors(task):
        model.choose(task)
        rows = []
        for first, _ in texts:
            prompted = INSTRUCTIONS.get(task, "") + first
            ids = tokenizer(prompted, truncation=True, max_length=POSITIONS, return_tensors="pt")["input_ids"][0]
            with torch.no_grad():
                rows.append(model(ids).mean(dim=0))
        return rows

    tiny.expect(folder, texts, vectors(None))
    path = folder / "expected.json"
    tasks = {task: [[round(value, 6) for value in row.tolist()] for row in vectors(task)] for task in TASKS}
    path.write_text(json.dumps(json.loads(path.read_text()) | {"tasks": tasks}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    make("tiny-jina-embedder", 220)
    make_v3("tiny-jina-v3-embedder", 221)
