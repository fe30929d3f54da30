"""One step of a recurrent language model, libbertqa beside PyTorch: microseconds and their ratio.

usage: sequence.py [--model DIR] [--rounds N] [--json FILE]

Both are called from Python with the word ids and states of a batch and give logits and new states, with the
same number of threads. Each has a process of its own; they take turns, all in one run. Times are medians of all
calls: processor time on one thread, so that other programs on the machine do not count, else the clock's. PyTorch
runs twice: with nn.LSTM or nn.GRU, and with the cells of one step, which have less to do around
the arithmetic; the ratio is to the faster one. Needs torch, safetensors and numpy.
"""

import argparse
import json
import pathlib
import sys

from compare.workers import Worker, measure

BATCHES = (1, 4, 16, 64, 256)
THREADS = (1, 2)
CALLS = 20


def word_ids(batch, vocabulary):
    return [(7919 * i + 13) % vocabulary for i in range(batch)]


class Ours:
    def __init__(self, directory, threads):
        import bertqa

        self.context = bertqa.Context(directory, threads=threads)

    def prepare(self, batch):
        ids = word_ids(batch, self.context.info.vocabulary_size)
        return ids, self.context.step(ids, logits=False)[0]

    def run(self, prepared):
        return self.context.step(*prepared)

    def logits(self, prepared):
        return self.run(prepared)[1].tolist()


class Torch:
    def __init__(self, directory, threads, cells):
        import torch
        from safetensors.torch import load_file

        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self.torch, self.cells = torch, cells
        config = json.loads((pathlib.Path(directory) / "config.json").read_text())
        weights = {k: v.float() for k, v in load_file(pathlib.Path(directory) / "model.safetensors").items()}
        kind = "gru" if "GRU" in config["architectures"][0] else "lstm"
        sizes = config["embedding_size"], config["hidden_size"], config["num_hidden_layers"]
        self.layers, self.lstm = sizes[2], kind == "lstm"
        own = {k[len(kind) + 1 :]: v for k, v in weights.items() if k.startswith(kind + ".")}
        self.embedding = torch.nn.Embedding.from_pretrained(weights["embedding.weight"])
        self.decoder = torch.nn.Linear(config["hidden_size"], config["vocab_size"])
        decoder = {k[8:]: v for k, v in weights.items() if k.startswith("decoder.")}
        self.decoder.load_state_dict({"weight": weights["embedding.weight"], **decoder})
        if cells:
            cell = torch.nn.LSTMCell if self.lstm else torch.nn.GRUCell
            self.recurrent = [cell(sizes[0] if i == 0 else sizes[1], sizes[1]) for i in range(self.layers)]
            for i, layer in enumerate(self.recurrent):
                layer.load_state_dict({k[: -len(f"_l{i}")]: v for k, v in own.items() if k.endswith(f"_l{i}")})
        else:
            self.recurrent = (torch.nn.LSTM if self.lstm else torch.nn.GRU)(*sizes)
            self.recurrent.load_state_dict(own)

    def prepare(self, batch):
        ids = self.torch.tensor(word_ids(batch, self.decoder.out_features))
        return ids, self.step(ids, None)[0]

    def step(self, ids, state):
        """(state, logits); a state is what nn.LSTM or nn.GRU gives, or a list of what the cells give."""
        hidden = self.embedding(ids)
        if not self.cells:
            output, state = self.recurrent(hidden[None], state)
            return state, self.decoder(output[0])
        states = []
        for layer, before in zip(self.recurrent, state or [None] * self.layers):
            states.append(layer(hidden, before))
            hidden = states[-1][0] if self.lstm else states[-1]
        return states, self.decoder(hidden)

    def run(self, prepared):
        return self.step(*prepared)

    def logits(self, prepared):
        return self.run(prepared)[1].tolist()


def subjects(directory, threads):
    return [
        Worker("libbertqa", Ours, (directory, threads), threads),
        Worker("PyTorch", Torch, (directory, threads, False), threads),
        Worker("PyTorch cells", Torch, (directory, threads, True), threads),
    ]


def main():
    root = pathlib.Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=str(root / "models" / "shakespeare-lstm"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json")
    options = parser.parse_args()
    rows = []
    print("threads  batch  libbertqa  PyTorch  PyTorch cells  ratio  largest difference of logits")
    for threads in THREADS:
        workers = subjects(options.model, threads)
        for batch in BATCHES:
            for worker in workers:
                worker.ask("prepare", batch, (batch,))
            ours, *theirs = [worker.ask("logits", batch) for worker in workers]
            apart = max(abs(x - y) for other in theirs for a, b in zip(ours, other) for x, y in zip(a, b))
            medians = measure(workers, batch, options.rounds, CALLS, cpu=threads == 1)
            times = {name: 1e6 * seconds for name, seconds in medians.items()}
            own, modules, cells = times.values()
            ratio = min(modules, cells) / own
            print(f"{threads:7}  {batch:5}  {own:9.0f}  {modules:7.0f}  {cells:13.0f}  {ratio:5.2f}  {apart:.1e}")
            rows.append(
                {"threads": threads, "batch": batch, "microseconds": times, "ratio": ratio, "difference": apart}
            )
        for worker in workers:
            worker.close()
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
