"""Encoder only: latency of one window, throughput of eight, throughput on windows of many lengths."""

import numpy as np

from . import models
from .data import spread, window_of, windows
from .engines import ENGINES
from .workers import measure, note, start

LENGTHS = (64, 128, 256, 384)


def measured(pairs, context, names, models_, threads_, lengths, rounds, mix, check):
    """Rows {model, threads, engine, case: value}: milliseconds by length, windows per second for "8 × 384"
    and "mix", and how near the answers are to f32's."""
    fixed = {length: window_of(length, pairs, context) for length in lengths}
    real, checked = windows(spread(pairs, mix), context), windows(spread(pairs, check), context)
    rows = []
    for model in models_:
        _prepare_models(model, names, real)
        for threads in threads_:
            note(f"encoder only: {model}, {threads} thread(s)")
            workers = start(names, ENGINES, model, threads)
            found = {
                worker.name: {"model": model, "threads": threads, "engine": worker.name} for worker in workers
            }

            def case(name, inputs, batch, rounds, calls, rate=None, cpu=False, other_way_of=None, warm_up=True):
                able = [w for w in workers if other_way_of is None or ENGINES[w.name][0].pads]
                for worker in able:
                    worker.ask("prepare", name, (inputs, batch))
                    worker.ask("time", name, (0, not warm_up, False))  # where not each turn, once
                for engine, seconds in measure(able, name, rounds, calls, cpu, warm_up).items():
                    value = rate / seconds if rate else 1000 * seconds
                    old = found[engine].get(other_way_of or name)
                    found[engine][other_way_of or name] = max(value, old) if old else value

            # On one thread processor time is what a call takes, whatever else the machine does.
            alone, small = threads == 1, model == "minilm"
            for length in lengths:
                case(str(length), [fixed[length]], 1, rounds, 1 + small, cpu=alone)
            # Peers may be faster one by one, or with padded batches: the better way counts.
            eight, few = [fixed[lengths[-1]]] * 8, rounds // 2
            case("8 × 384", eight, 8, few, 1, rate=8, cpu=alone, warm_up=small)
            case("8 × 384 one by one", eight, 1, few, 1, rate=8, cpu=alone, other_way_of="8 × 384", warm_up=small)
            if small and threads == max(threads_):
                count = len(real)
                case("mix", real, 1, few, 1, rate=count, warm_up=False)
                case("mix padded", real, 8, few, 1, rate=count, other_way_of="mix", warm_up=False)
            if small and threads == threads_[0]:
                _compare_answers(workers, checked, found)
            rows += found.values()
            for worker in workers:
                worker.close()
    return rows


def _prepare_models(model, names, calibration):
    """Makes what is not there yet, outside the workers."""
    models.checkpoint(model)
    models.int8_form(model)
    makers = {
        "ONNX Runtime fp32": lambda masked: models.onnx_file(model, masked),
        "ONNX Runtime int8": lambda masked: models.onnx_file(model, masked, int8=True),
        "OpenVINO int8+bf16": lambda masked: models.openvino_int8(model, masked, calibration[:100]),
        "CTranslate2 int8": lambda masked: models.ctranslate2(model, "int8"),
    }
    for name in names:
        for masked in (False, True):
            try:
                makers.get(name, lambda masked: None)(masked)
            except ImportError as error:
                note(f"left out: {name}: {error}")
                break


def _compare_answers(workers, inputs, found):
    """How many windows have the same best span as ONNX Runtime fp32, and the logits' error."""
    logits = {}
    for worker in workers:
        worker.ask("prepare", "check", (inputs, 1))
        logits[worker.name] = worker.ask("logits", "check")
    reference = logits.get("ONNX Runtime fp32", logits["libbertqa f32"])
    truth = [best_span(*pair, second) for pair, (_, second) in zip(reference, inputs)]
    flat = np.concatenate([x for pair in reference for x in pair])
    for name, own in logits.items():
        spans = [best_span(*pair, second) for pair, (_, second) in zip(own, inputs)]
        error = np.concatenate([x for pair in own for x in pair]) - flat
        found[name]["answers equal"] = sum(a == b for a, b in zip(spans, truth))
        found[name]["answers"] = len(truth)
        found[name]["logit error"] = float(np.sqrt(np.mean(error**2)) / np.std(flat))


def best_span(start, end, first, longest=30):
    """The best start ≤ end < start + longest among the paragraph's tokens."""
    start, end = start[first:-1], end[first:-1]
    best, span = -np.inf, (0, 0)
    for length in range(min(longest, len(start))):
        sums = start[: len(start) - length] + end[length:]
        at = int(np.argmax(sums))
        if sums[at] > best:
            best, span = float(sums[at]), (at, at + length)
    return span
