"""The training loop: a resumable run over prepared batches, on the CPU or a GPU."""

import datetime
import json
import math
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import AutoModelForQuestionAnswering

from common import attention, packed
from common.adversarial import AdversarialEmbeddings
from common.arithmetic import autocast
from common.checkpoints import latest_checkpoint, remove_old_checkpoints, snapshots, step_of
from common.dropout import use_byte_dropout
from common.files import digest, whole
from common.schedule import learning_rate, parameter_groups

from .teacher import teacher_logits
from .tokenized import packed as end_to_end

# Settings on which the weights depend, besides those of which the windows and their order are made.
LEARNING = (
    "learning_rate", "warmup_steps", "floor", "weight_decay", "dropout", "attention_dropout", "packed", "teacher_share",
    "teacher_temperature", "adversarial", "seed",
)  # fmt: skip


def load_model(directory: str, device: torch.device, dropout: float = 0.0, attention_dropout: float = 0.0):
    """A model of Hugging Face's files in f32; a directory without an answering head gets a new one."""
    on_cpu = device.type == "cpu"
    model = AutoModelForQuestionAnswering.from_pretrained(
        directory,
        dtype=torch.float32,
        attn_implementation=attention.implementation(device, directory),
        hidden_dropout_prob=0.0 if on_cpu else dropout,
        attention_probs_dropout_prob=attention_dropout,
    )
    if on_cpu:
        use_byte_dropout(model, dropout)
    return model.to(device)


def logits(model, ids, types, candidates, pad: int, device):
    """Start and end logits in f32 [2, batch, length]; -inf where no answer can begin or end."""
    inputs = {"input_ids": ids, "attention_mask": ids != pad}
    if getattr(model.config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = types
    with autocast(device):
        hidden = model.base_model(**inputs)[0]
        scores = model.qa_outputs(hidden)
    return scores.float().permute(2, 0, 1).masked_fill(~candidates, -math.inf)


def packed_logits(model, ids, types, positions, offsets, rows, candidates, dropout):
    """The same of windows that lie end to end."""
    hidden = packed.encoder(model.bert, ids, types, positions, offsets, dropout)
    scores = model.qa_outputs(hidden)[rows]
    return scores.permute(2, 0, 1).masked_fill(~candidates, -math.inf)


def of_groups(logits, members: int):
    """[2, groups * members, length] -> [2, groups, members * length]: one softmax over the windows of a question.

    Each window's logits are relative to its [CLS], as gaps are; the first window's stands for "no answer" in all. For a
    group of one this is the softmax over the window.
    """
    if members == 1:
        return logits
    relative = (logits - logits[..., :1]).unflatten(1, (-1, members))
    others = torch.zeros(relative.shape[2:], dtype=torch.bool, device=logits.device)
    others[1:, 0] = True
    return relative.masked_fill(others, -math.inf).flatten(2)


def loss_of(student, labels, teacher, share: float, temperature: float):
    """Cross-entropy with the labels, and by `share` with the teacher's distribution at a temperature."""
    student_flat = student.flatten(0, 1)
    loss = torch.nn.functional.cross_entropy(student_flat, labels.flatten())
    if teacher is None:
        return loss
    target = torch.softmax(teacher.flatten(0, 1) / temperature, -1)
    log_student = torch.log_softmax(student_flat / temperature, -1).masked_fill(target == 0, 0)
    soft = -(target * log_student).sum(-1).mean() * temperature**2
    return (1 - share) * loss + share * soft


def utc_now():
    return datetime.datetime.now(datetime.timezone.utc)


class Run:
    """A training run in a directory of its own."""

    def __init__(self, arguments, windows, taught, places, batches, multiple: int):
        """taught: the windows as the teachers read them. places: of the tokens of `windows` in them, by other_forms."""
        self.arguments, self.windows, self.batches, self.multiple = arguments, windows, batches, multiple
        self.taught, self.places = taught, places
        self.directory = arguments.state
        self.key = self._digest()
        self.device = torch.device("cuda" if torch.cuda.is_available() and not arguments.cpu else "cpu")
        torch.manual_seed(arguments.seed)
        self.model = load_model(arguments.init, self.device, arguments.dropout, arguments.attention_dropout)
        self.teacher = None
        if arguments.packed:
            if self.device.type != "cpu" or not packed.available():
                raise SystemExit(
                    "--packed: needs a CPU with AVX-512 BF16 and a C compiler with OpenMP (cc, or $CC)"
                )
            try:
                packed.require(self.model.config)
            except ValueError as error:
                raise SystemExit(f"--packed: {error}") from error
        self.adversary = None
        if arguments.adversarial:
            self.adversary = AdversarialEmbeddings(self.model.get_input_embeddings(), arguments.adversarial)
        groups = parameter_groups(self.model, arguments.weight_decay)
        self.optimizer = torch.optim.AdamW(groups, lr=0.0, eps=1e-6, fused=True)
        self.step, self.seconds = 0, 0.0
        self.began, self.progress_before = utc_now(), 0.0
        self.stopped = False

    def progress(self) -> float:
        """How much of the run is done, 0...1, by steps or by the time until the deadline, whichever is more.

        The time counts from where the run was resumed: it may have waited for days.
        """
        by_steps = self.step / len(self.batches)
        if self.arguments.deadline is None:
            return by_steps
        given, passed = self.arguments.deadline - self.began, utc_now() - self.began
        by_time = passed / given if passed < given else 1.0
        return max(by_steps, self.progress_before + (1 - self.progress_before) * by_time)

    def train(self) -> bool:
        """Returns True after the last batch or at the deadline, and False where SIGTERM came first."""
        is_new = not self._resume()
        if self.arguments.teacher:
            used = np.concatenate([batch.ravel() for batch in self.batches])
            self.teacher = teacher_logits(self.arguments, self.taught, used, self.device, self._teacher)
            if self.places is not None:
                self.teacher = self.teacher.at(self.places, self.windows)
            self.began = utc_now()
        if is_new:
            # From here on the snapshots are of this run.
            self._save()
        handler = signal.signal(signal.SIGTERM, lambda *_: setattr(self, "stopped", True))
        try:
            self._read_batches()
            self._save()
            if self.stopped:
                return False
            self._save_weights(os.path.join(self.directory, f"weights-{self.step:06d}.safetensors"))
        finally:
            # It ends what follows.
            signal.signal(signal.SIGTERM, handler)
        return True

    def _read_batches(self) -> None:
        """Trains until the last batch, the deadline, or SIGTERM."""
        self.model.train()
        saved = began = time.monotonic()
        before = self.seconds
        loss_sum, loss_count = 0.0, 0
        while self.step < len(self.batches) and not self.stopped and self.progress() < 1:
            rate = learning_rate(
                self.progress(),
                self.step,
                self.arguments.learning_rate,
                self.arguments.warmup_steps,
                self.arguments.floor,
            )
            loss_sum += self._train_step(rate)
            loss_count += 1
            self.seconds = before + time.monotonic() - began
            if self.step % self.arguments.log_steps == 0:
                self._log(float(loss_sum) / loss_count, rate)
                loss_sum, loss_count = 0.0, 0
            if self.step % self.arguments.snapshot_steps == 0:
                self._save_weights(os.path.join(self.directory, f"weights-{self.step:06d}.safetensors"))
            if time.monotonic() - saved > self.arguments.checkpoint_seconds:
                self._save()
                saved = time.monotonic()

    def _train_step(self, rate: float):
        """The loss before the step, a tensor."""
        batch = self.batches[self.step]
        inputs, labels, teacher = self._batch(batch)
        members = batch.shape[1]
        loss = self._update(inputs, labels, teacher, members, rate)
        if self.adversary is not None:
            self.adversary.move(inputs[3] if self.arguments.packed else None)
            self._update(inputs, labels, teacher, members, rate)
            self.adversary.rest()
        self.step += 1
        return loss

    def _update(self, inputs, labels, teacher, members: int, rate: float):
        """Moves the weights along one gradient; returns the loss before."""
        loss = loss_of(
            of_groups(self._logits(inputs), members),
            labels,
            teacher,
            self.arguments.teacher_share,
            self.arguments.teacher_temperature,
        )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    def _batch(self, batch):
        """Inputs of the model; labels [2, groups]; the teacher's logits of the groups, or None."""
        indices, members = batch.ravel(), batch.shape[1]
        arrays = self.windows.batch(indices, self.multiple, self.device)
        labels = torch.stack(arrays[-2:])[:, ::members]
        teacher = None
        if self.teacher is not None:
            teacher = of_groups(self.teacher.batch(indices, arrays[2]), members)
        if self.arguments.packed:
            arrays = end_to_end(arrays, self.windows.layout.pad, packed.TOKENS_MULTIPLE)
            if teacher is not None:
                length = arrays[-3].shape[1]
                teacher = teacher.unflatten(2, (members, -1))[..., :length].flatten(2)
        return arrays[:-2], labels, teacher

    def _logits(self, inputs):
        if self.arguments.packed:
            return packed_logits(self.model, *inputs, self.arguments.dropout)
        return logits(self.model, *inputs, self.windows.layout.pad, self.device)

    def _teacher(self, directory: str, windows):
        """A function of window indices: a teacher's logits, and which of them may begin or end an answer."""
        model = load_model(directory, self.device).eval()

        @torch.inference_mode()
        def read(indices):
            ids, types, candidates, *_ = windows.batch(indices, self.multiple, self.device)
            return logits(model, ids, types, candidates, windows.layout.pad, self.device), candidates

        return read

    def _log(self, loss: float, rate: float) -> None:
        line = {
            "step": self.step,
            "of": len(self.batches),
            "progress": round(self.progress(), 4),
            "loss": round(loss, 4),
            "rate": float(f"{rate:.3g}"),
            "seconds": round(self.seconds),
        }
        with open(os.path.join(self.directory, "log.jsonl"), "a", encoding="utf-8") as file:
            print(json.dumps(line), file=file)
        print(json.dumps(line), file=sys.stderr, flush=True)

    def _save_weights(self, path: str) -> None:
        weights = {
            name: value.detach().half().contiguous().cpu() for name, value in self.model.state_dict().items()
        }
        with whole(path) as part:
            save_file(weights, part, {"format": "pt"})

    def _save(self) -> None:
        path = os.path.join(self.directory, f"checkpoint-{self.step:06d}.pt")
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "progress": self.progress(),
            "seconds": self.seconds,
            "rng": torch.get_rng_state(),
            "run": self.key,
        }
        if self.device.type == "cuda":
            state["cuda_rng"] = torch.cuda.get_rng_state()
        with whole(path) as part:
            torch.save(state, part)
        remove_old_checkpoints(self.directory, keep=2)

    def _digest(self) -> str:
        """Of all that the weights depend on. A run with a --deadline depends on the time, too."""
        arrays = (array.tobytes() for array in [*self.batches, *self.windows.arrays.values()])
        models = (Path(directory) for directory in (self.arguments.init, *self.arguments.teacher))
        return digest(*arrays, *models, *(getattr(self.arguments, name) for name in LEARNING))

    def _resume(self) -> bool:
        """Goes on at the last checkpoint. Returns False if there is none."""
        path = latest_checkpoint(self.directory)
        if path is None:
            if snapshots(self.directory):
                raise SystemExit(
                    f"{self.directory} has weights of another run, and no checkpoint: choose another --state"
                )
            return False
        state = torch.load(path, map_location=self.device)
        if state.get("run") != self.key:
            raise SystemExit(f"{path} is of another run: its data, models, options or --seed were others")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.seconds = state["step"], state["seconds"]
        # A run that its deadline ended has progress 1. If it continues with more time, its steps tell the progress.
        self.progress_before = state["progress"] if state["progress"] < 1 else self.step / len(self.batches)
        torch.set_rng_state(state["rng"].cpu())
        if "cuda_rng" in state and self.device.type == "cuda":
            torch.cuda.set_rng_state(state["cuda_rng"].cpu())
        for later in snapshots(self.directory):
            if step_of(later) > self.step:
                os.remove(later)
        print(f"resumed {path}", file=sys.stderr)
        return True
