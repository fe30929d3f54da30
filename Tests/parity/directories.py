"""Writes directories as checkpoints have them, with random weights, and compares what is read from them."""

import json

import numpy as np
import transformers
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import AutoTokenizer

import bertqa
from conftest import SPECIAL, TINY, WORDS, randomise, text_of

TOLERANCE = 1e-4
TEXTS = [text_of(words, words) for words in (1, 2, 5, 17, 60)] + ["", "Bá ÇE", "<tweet> BaBaBa <Tweet>"]
PAIRS = [(text_of(5, 1), text_of(30, 2)), (text_of(3, 5), "ba"), (text_of(40, 7), text_of(9, 6))]
BERT = {**TINY, "vocab_size": 30522}
FAMILIES = {
    "Ernie": {**BERT, "use_task_id": True},
    "Data2VecText": {**BERT, "max_position_embeddings": 514},
    "Bert": BERT,
    "DistilBert": {"vocab_size": 30522, "dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128},
    "Roberta": {**BERT, "max_position_embeddings": 514},
    "XLMRoberta": {**BERT, "max_position_embeddings": 514},
    "Camembert": {**BERT, "max_position_embeddings": 514},
    "Electra": {**BERT, "embedding_size": 32},
    "Albert": {**BERT, "embedding_size": 32},
    "MobileBert": {**BERT, "embedding_size": 32, "intra_bottleneck_size": 32},
    "Longformer": {**BERT, "max_position_embeddings": 514, "attention_window": 16},
    "MPNet": {**BERT, "max_position_embeddings": 514},
    "Deberta": {**BERT, "relative_attention": True, "max_relative_positions": 40, "pos_att_type": ["p2c", "c2p"]},
    "DebertaV2": {**BERT, "relative_attention": True, "position_buckets": 32, "pos_att_type": ["p2c", "c2p"]},
    "ModernBert": {**BERT, "pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3},
    "NomicBert": BERT,
    "Gte": {**BERT, "pad_token_id": 0, "type_vocab_size": 2},
}


LEAST_COSINES = {"bf16": 0.999, "int8": 0.99, "stored int8": 0.99}


def cosines(ours, theirs):
    """Of rows."""
    return (ours * theirs).sum(1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)


def save(kind, config, directory, seed=1):
    """Writes a model with random weights and returns it."""
    model = getattr(transformers, kind)(config).eval()
    randomise(model, seed)
    model.save_pretrained(directory)
    return model


def edit(path, **changes):
    """Sets keys of a JSON file; None removes one."""
    settings = (json.loads(path.read_text()) if path.exists() else {}) | changes
    path.write_text(json.dumps({key: value for key, value in settings.items() if value is not None}))


def distance(directory, texts=TEXTS):
    # One by one: padding is the neighbour of a text's last token in MobileBERT.
    theirs = SentenceTransformer(str(directory), device="cpu").encode(texts, batch_size=1)
    with bertqa.Context(directory, precision="f32") as context:
        return np.abs(np.asarray(context.embed(texts)) - theirs).max()


def word_piece(directory, *, lowercase, second=1, added=()):
    """Writes a tokenizer.json of BERT's form with these words."""
    vocabulary = {piece: id for id, piece in enumerate(SPECIAL + ["##s", "ba", "##ba", "BA", "é", "e"] + WORDS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair=f"[CLS]:0 $A:0 [SEP]:0 $B:{second} [SEP]:{second}",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.add_tokens(list(added))
    tokenizer.save(str(directory / "tokenizer.json"))
    (directory / "vocab.txt").write_text("\n".join(vocabulary) + "\n")


def same_tokens(directory, texts):
    theirs = AutoTokenizer.from_pretrained(directory)
    with bertqa.Context(directory, tokenizer_only=True) as ours:
        for text in texts:
            assert ours.tokenize(text).ids == theirs(text, add_special_tokens=False)["input_ids"], text
