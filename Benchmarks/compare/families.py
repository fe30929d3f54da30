"""Other families' encoders with random weights: latency of one window, from the same transformers model for all.

    python -m compare.families [--models roberta,deberta,modernbert] [--threads 1,2] [--rounds 5]

Peers get the graph that torch exports, ONNX Runtime int8 after `quantize_dynamic`.
"""

import argparse
import random

from . import models
from .engines import ENGINES
from .workers import measure, note, start

# Name: (title, lengths of windows).
FAMILIES = {
    "roberta": ("RoBERTa-base", (384,)),
    "deberta": ("DeBERTa-v3-base", (384,)),
    "modernbert": ("ModernBERT-base", (384, 4096)),
}
NAMES = [name for name in ENGINES if name.startswith(("libbertqa", "ONNX", "OpenVINO"))]


def window(length):
    """Ids of pieces that every model has; nothing depends on which."""
    choose = random.Random(length)
    return [choose.randrange(5, 30_000) for _ in range(length)], length


def measured(chosen, threads_, rounds, log=note):
    """Rows {model, threads, engine, tokens: milliseconds}; on one thread processor time."""
    rows = []
    for model in chosen:
        title, lengths = FAMILIES[model]
        prepare(model, [window(384)] * 4, log)
        for threads in threads_:
            log(f"{title}, {threads} thread(s)")
            workers = start(NAMES, ENGINES, model, threads, log)
            found = {w.name: {"model": model, "threads": threads, "engine": w.name} for w in workers}
            for length in lengths:
                for worker in workers:
                    worker.ask("prepare", str(length), ([window(length)], 1))
                # Fewer rounds: the peers take seconds for each window of thousands of tokens.
                times = rounds if length < 1000 else min(rounds, 2)
                for engine, seconds in measure(workers, str(length), times, 1, cpu=threads == 1).items():
                    found[engine][str(length)] = 1000 * seconds
            rows += found.values()
            for worker in workers:
                worker.close()
    return rows


def prepare(model, calibration, log):
    """Makes what is not there yet, outside the workers."""
    models.int8_form(model)
    for make in (
        lambda: models.onnx_file(model, False),
        lambda: models.onnx_file(model, False, int8=True),
        lambda: models.openvino_int8(model, False, calibration),
    ):
        try:
            make()
        except ImportError as error:
            log(f"left out: {error}")


def ratios(rows):
    """libbertqa f32 against the best f32 peer, and int8 against the best of all peers."""
    found = []
    for model, threads in dict.fromkeys((row["model"], row["threads"]) for row in rows):
        group = [row for row in rows if (row["model"], row["threads"]) == (model, threads)]
        peers = [row for row in group if not row["engine"].startswith("libbertqa")]
        for kind in "f32", "int8":
            own = next((row for row in group if row["engine"] == f"libbertqa {kind}"), None)
            able = [row for row in peers if kind == "int8" or row["engine"].endswith(("f32", "fp32"))]
            for length in map(str, FAMILIES[model][1]) if own and able else ():
                best = min(able, key=lambda row: row[length])
                found.append(
                    {
                        "case": f"{FAMILIES[model][0]}, {length} tokens, {threads}T, {kind}",
                        "engine": own["engine"],
                        "own": own[length],
                        "peer": best["engine"],
                        "best": best[length],
                        "ratio": best[length] / own[length],
                        "unit": "ms",
                    }
                )
    return found


def table(rows):
    """(title, lines) for each model and number of threads."""
    for model, threads in dict.fromkeys((row["model"], row["threads"]) for row in rows):
        title, lengths = FAMILIES[model]
        lines = [("engine", *(f"{length} tokens, ms" for length in lengths))]
        for row in rows:
            if (row["model"], row["threads"]) == (model, threads):
                lines.append((row["engine"], *(f"{row[str(length)]:.3g}" for length in lengths)))
        yield f"{title} (random weights), {threads} thread{'s' * (threads > 1)}", lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(FAMILIES))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    threads = [int(number) for number in arguments.threads.split(",")]
    rows = measured(arguments.models.split(","), threads, arguments.rounds)
    for title, lines in table(rows):
        print(f"\n{title}")
        for line in lines:
            print(" | ".join(line))
    for row in ratios(rows):
        print(f"{row['case']}: {row['own']:.4g} ms, {row['peer']} {row['best']:.4g} ms, {row['ratio']:.2f} times")


if __name__ == "__main__":
    main()
