"""The training loop: minutes on two cores, so a run is not resumed."""

import os
import sys
from typing import Dict, List, Sequence

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForTokenClassification

from common import attention
from common.arithmetic import autocast
from common.averaging import averaged
from common.batches import padded_length
from common.dropout import use_byte_dropout
from common.schedule import learning_rate, parameter_groups

from .examples import IGNORED, Window, label_names_of

LENGTH_MULTIPLE = 8


def device_of(arguments) -> torch.device:
    """Where to train; sets the seed and the threads."""
    torch.manual_seed(arguments.seed)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    return torch.device("cuda" if torch.cuda.is_available() and not arguments.cpu else "cpu")


def trained(
    arguments, windows: Sequence[Window], batches: List[List[int]], labels: List[str], device: torch.device
) -> Dict[str, np.ndarray]:
    """Weights in f32: the mean of the snapshots of the last third of the run."""
    model = load_model(arguments.init, labels, device)
    use_byte_dropout(model, arguments.dropout)
    optimizer = torch.optim.AdamW(parameter_groups(model, arguments.weight_decay), lr=0.0, eps=1e-6)
    model.train()
    snapshots: List[str] = []
    total = 0.0
    for step, batch in enumerate(batches):
        pad = model.config.pad_token_id
        ids, targets = (torch.from_numpy(a).to(device) for a in arrays(windows, batch, pad))
        with autocast(device):
            logits = model(input_ids=ids, attention_mask=ids != pad).logits.float()
        loss = cross_entropy(logits, targets)
        if arguments.teacher:
            known = torch.from_numpy(probabilities(windows, batch, ids.shape[1])).to(device)
            soft = -(known * logits.log_softmax(-1)).sum() / known.sum()
            loss = (1 - arguments.teacher_share) * loss + arguments.teacher_share * soft
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        rate = learning_rate(step / len(batches), step, arguments.learning_rate, arguments.warmup_steps)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        total += loss.item()
        done = step + 1
        if done % arguments.log_steps == 0:
            print(
                f"step {done} of {len(batches)}: loss {total / arguments.log_steps:.4f}",
                file=sys.stderr,
                flush=True,
            )
            total = 0.0
        late = done > len(batches) * 2 // 3 and done % max(1, len(batches) // 3 // arguments.average) == 0
        if late or done == len(batches):
            snapshots.append(os.path.join(arguments.state, f"weights-{done:06d}.safetensors"))
            save_file(
                {name: value.cpu().contiguous() for name, value in model.state_dict().items()}, snapshots[-1]
            )
    return averaged(snapshots[-arguments.average :])


def load_model(directory: str, labels: Sequence[str], device: torch.device):
    """A model without dropout. Its output layer is new if that in `directory` is of other labels, or not there."""
    model, loading = AutoModelForTokenClassification.from_pretrained(
        directory,
        dtype=torch.float32,
        num_labels=len(labels),
        ignore_mismatched_sizes=True,
        output_loading_info=True,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        attn_implementation=attention.implementation(device, directory),
    )
    if "classifier.weight" not in loading["missing_keys"] and list(labels) != label_names_of(
        AutoConfig.from_pretrained(directory)
    ):
        print(
            f"{directory}: has other labels than --data; its output layer is replaced by a new one",
            file=sys.stderr,
        )
        torch.nn.init.normal_(model.classifier.weight, std=model.config.initializer_range)
        torch.nn.init.zeros_(model.classifier.bias)
    return model.to(device)


def cross_entropy(logits, targets):
    """The mean over the tokens with a label; 0 without any."""
    total = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="sum"
    )
    return total / (targets != IGNORED).sum().clamp(min=1)


def probabilities(windows: Sequence[Window], batch: Sequence[int], length: int):
    """The teacher's, f32 [batch, length, labels]; 0 for special tokens and padding."""
    result = np.zeros((len(batch), length, windows[batch[0]].known.shape[1]), np.float32)
    for row, index in enumerate(batch):
        known = windows[index].known[1:-1]
        result[row, 1 : len(known) + 1] = known
    return result


def arrays(windows: Sequence[Window], batch: Sequence[int], pad: int):
    """ids and targets, [batch, length]."""
    length = padded_length(max(len(windows[i].ids) for i in batch), LENGTH_MULTIPLE)
    ids = np.full((len(batch), length), pad, np.int64)
    targets = np.full((len(batch), length), IGNORED, np.int64)
    for row, index in enumerate(batch):
        window = windows[index]
        ids[row, : len(window.ids)] = window.ids
        targets[row, : len(window.labels)] = window.labels
    return ids, targets
