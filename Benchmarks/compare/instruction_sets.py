"""libbertqa alone: one window of 384 tokens of MiniLM-L6 by instruction set and precision, on one thread."""

from .data import window_of
from .engines import Libbertqa
from .workers import Worker, measure, note

SETS = ("portable", "avx2", "avx512", "avx512_vnni", "avx512_vnni_bf16")


def measured(pairs, context, rounds, log=note):
    """Rows {isa, precision, ms}; what this CPU lacks is left out."""
    log("instruction sets")
    workers = []
    for isa in SETS:
        for precision in "f32", "bf16", "int8":
            try:
                workers.append(Worker(f"{isa} {precision}", Libbertqa, ("minilm", precision, 1, isa), 1))
            except RuntimeError as error:
                log(f"left out: {error}")
    window = window_of(384, pairs, context)
    for worker in workers:
        worker.ask("prepare", "window", ([window], 1))
    rows = []
    for name, seconds in measure(workers, "window", rounds, 2, cpu=True).items():
        isa, precision = name.split()
        rows.append({"isa": isa, "precision": precision, "ms": 1000 * seconds})
    for worker in workers:
        worker.close()
    return rows
