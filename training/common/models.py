"""Model directories: their tokenizer, written as Hugging Face does, and quantised by the command-line tool."""

import contextlib
import json
import os
import shutil
import subprocess
from typing import Dict, Tuple

import numpy as np
from tokenizers import BertWordPieceTokenizer, Tokenizer
from tokenizers.processors import RobertaProcessing

from .averaging import save
from .files import errors_at

# The families whose attention and dropout training sets.
FAMILIES = ("albert", "bert", "camembert", "electra", "mobilebert", "mpnet", "roberta", "xlm-roberta")
FILES = ("config.json", "vocab.txt", "tokenizer.json", "tokenizer_config.json")
# In tokenizer_config.json; their defaults, and MPNet's.
SPECIAL_TOKENS = (
    ("unk_token", "[UNK]", "[UNK]"),
    ("sep_token", "[SEP]", "</s>"),
    ("pad_token", "[PAD]", "<pad>"),
    ("cls_token", "[CLS]", "<s>"),
    ("mask_token", "[MASK]", "<mask>"),
)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The command-line tool of $BERTQA_PREFIX, by default of this checkout.
TOOL = os.path.join(os.environ.get("BERTQA_PREFIX") or os.path.join(ROOT, "build"), "bin", "bertqa")


def load_tokenizer(directory: str) -> Tokenizer:
    """The tokenizer of a model directory, from tokenizer.json, else from vocab.txt and tokenizer_config.json."""
    path = os.path.join(directory, "tokenizer.json")
    if os.path.exists(path):
        tokenizer = Tokenizer.from_file(path)
    else:
        tokenizer = _word_pieces(directory)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    # In a text they are text, as the library reads it.
    tokenizer.encode_special_tokens = True
    return tokenizer


def _word_pieces(directory: str) -> Tokenizer:
    path = os.path.join(directory, "vocab.txt")
    if not os.path.exists(path):
        raise SystemExit(f"{directory}: neither tokenizer.json nor vocab.txt")
    settings, config = (_members(directory, name) for name in ("tokenizer_config.json", "config.json"))
    is_mpnet = config.get("model_type") == "mpnet"
    tokens = {}
    for name, default, mpnet in SPECIAL_TOKENS:
        token = settings.get(name) or (mpnet if is_mpnet else default)
        tokens[name] = token["content"] if isinstance(token, dict) else token
    tokenizer = BertWordPieceTokenizer(
        path,
        lowercase=settings.get("do_lower_case") is not False,
        strip_accents=settings.get("strip_accents"),
        handle_chinese_chars=settings.get("tokenize_chinese_chars") is not False,
        **tokens,
    )._tokenizer
    if is_mpnet:
        ends = ((name, tokenizer.token_to_id(name)) for name in (tokens["sep_token"], tokens["cls_token"]))
        tokenizer.post_processor = RobertaProcessing(*ends)
    return tokenizer


def _members(directory: str, name: str) -> dict:
    """Of a file of JSON; none if it is not there."""
    path = os.path.join(directory, name)
    if not os.path.exists(path):
        return {}
    with errors_at(path), open(path, encoding="utf-8") as file:
        return json.load(file)


def family(directory: str) -> str:
    """The family of a directory's model, as transformers names it; SystemExit if it is not one of FAMILIES."""
    from transformers import AutoConfig

    name = AutoConfig.from_pretrained(directory).model_type
    if name not in FAMILIES:
        raise SystemExit(f"{directory}: a model of the family {name}, not of {', '.join(FAMILIES)}")
    return name


def check_length(directory: str, length: int) -> None:
    """SystemExit if a model has no positions for windows of so many tokens."""
    from transformers import AutoConfig

    # RoBERTa and its kin count positions from behind that of the padding.
    is_behind = family(directory) in ("camembert", "mpnet", "roberta", "xlm-roberta")
    config = AutoConfig.from_pretrained(directory)
    positions = config.max_position_embeddings - (config.pad_token_id + 1 if is_behind else 0)
    if length > positions:
        raise SystemExit(
            f"--max-length: {directory} has positions for {positions} tokens, and windows have {length}"
        )


def architecture(directory: str, task: str) -> str:
    """The name of the model of a directory's family for a task of transformers, such as "TOKEN_CLASSIFICATION"."""
    from transformers.models.auto import modeling_auto

    return getattr(modeling_auto, f"MODEL_FOR_{task}_MAPPING_NAMES")[family(directory)]


def frame(tokenizer: Tokenizer) -> Tuple[int, int]:
    """The ids that a template puts before and behind one text."""
    first, last = tokenizer.encode("").ids
    return first, last


def ids_in(theirs: Tokenizer, ours: Tokenizer) -> np.ndarray:
    """The id in `theirs` of each id of `ours`, by its piece; -1 where `theirs` lacks the piece."""
    pieces = ours.get_vocab()
    table = np.full(max(pieces.values()) + 1, -1, np.int64)
    for piece, id in pieces.items():
        other = theirs.token_to_id(piece)
        if other is not None:
            table[id] = other
    return table


def translated(ids: np.ndarray, table: np.ndarray) -> np.ndarray:
    """A teacher's ids for ours. table: see `ids_in`."""
    found = table[ids]
    if (found < 0).any():
        raise SystemExit(
            "--teacher: its vocabulary lacks tokens of the model's; it has to have the same word pieces"
        )
    return found


def write_model(directory: str, tensors: Dict[str, np.ndarray], init: str, architecture: str, **changes) -> None:
    """A directory of Hugging Face's files with the tensors as F16 and everything else from `init`.

    changes: keys of config.json that are not as there.
    """
    os.makedirs(directory, exist_ok=True)
    for name in FILES:
        if os.path.exists(os.path.join(init, name)):
            shutil.copyfile(os.path.join(init, name), os.path.join(directory, name))
    path = os.path.join(directory, "config.json")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    config.pop("bertqa", None)
    config.update(changes, architectures=[architecture])
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file, indent=2)
        file.write("\n")
    halves = {name: np.ascontiguousarray(value, np.float16) for name, value in sorted(tensors.items())}
    save(os.path.join(directory, "model.safetensors"), halves, {"format": "pt"})


def check_replaceable(directory: str) -> None:
    """SystemExit if `replacing` would remove something that is no model."""
    if (
        os.path.isdir(directory)
        and os.listdir(directory)
        and not os.path.exists(os.path.join(directory, "config.json"))
    ):
        raise SystemExit(f"--out: {directory} is not a model, and is not replaced by one")


def check_tool(tool: str) -> None:
    """SystemExit if there is no such program."""
    if shutil.which(tool) is None:
        raise SystemExit(f"--bertqa: there is no program {tool}; `make` builds it")


@contextlib.contextmanager
def replacing(directory: str):
    """A name for a new directory, which takes the place of `directory` when it is complete."""
    new = directory.rstrip("/") + ".part"
    shutil.rmtree(new, ignore_errors=True)
    yield new
    if os.path.isdir(directory):
        shutil.rmtree(directory)
    os.rename(new, directory)


def quantize(tool, source, destination, *options) -> str:
    """`bertqa quantize`; returns what it prints."""
    result = subprocess.run([tool, "quantize", *options, source, destination], capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{tool} quantize: {result.stderr.strip()}")
    return result.stdout
