"""Makes a tiny JinaBERT checkpoint, and what jina_bert.py says of it.

python generate-tiny-jina.py
"""

import importlib
import pathlib
import sys

import torch
from transformers import BertTokenizer

sys.path.insert(0, str(pathlib.Path(__file__).parent))
tiny = importlib.import_module("generate-tiny-models")
from jina_bert import JinaBert  # noqa: E402

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


make("tiny-jina-embedder", 220)
