"""Teachers of models that find entities: larger models of the same labels and word pieces."""

from typing import List, Sequence

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import AutoModelForTokenClassification

from common import attention
from common.arithmetic import autocast
from common.models import frame, ids_in, load_tokenizer, translated

from .examples import Window, label_names_of

BATCH = 256


@torch.inference_mode()
def teacher_probabilities(
    directories: Sequence[str], windows: Sequence[Window], ours: Tokenizer, labels: Sequence[str], device
) -> List[np.ndarray]:
    """The mean probabilities of the labels [tokens, labels], f16, of each window."""
    result = [np.zeros((len(window.ids), len(labels)), np.float16) for window in windows]
    order = sorted(range(len(windows)), key=lambda index: len(windows[index].ids))
    for directory in directories:
        theirs = load_tokenizer(directory)
        table = ids_in(theirs, ours)
        table[list(frame(ours))] = frame(theirs)
        model = AutoModelForTokenClassification.from_pretrained(
            directory, dtype=torch.float32, attn_implementation=attention.implementation(device, directory)
        )
        model = model.to(device).eval()
        if label_names_of(model.config) != list(labels):
            raise SystemExit(f"--teacher: {directory} has other labels than --data: {', '.join(labels)}")
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            length = max(len(windows[index].ids) for index in batch)
            array = np.full((len(batch), length), model.config.pad_token_id, np.int64)
            for row, index in enumerate(batch):
                array[row, : len(windows[index].ids)] = translated(np.array(windows[index].ids), table)
            inputs = torch.from_numpy(array).to(device)
            with autocast(device):
                logits = model(input_ids=inputs, attention_mask=inputs != model.config.pad_token_id).logits
            found = logits.float().softmax(-1).cpu().numpy() / len(directories)
            for row, index in enumerate(batch):
                result[index] += found[row, : len(windows[index].ids)].astype(np.float16)
    return result
