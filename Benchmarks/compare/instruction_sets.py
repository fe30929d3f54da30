"""libbertqa held to each instruction set, beside peers held to the same: MiniLM-L6, windows of 384 tokens, one thread.

    python -m compare.instruction_sets [--sets avx2,avx512] [--precisions f32,int8] [--rounds 7] [--output FILE.json]

A peer is held by hold.c, which hides what is newer from all of its process, and by the limits that oneDNN (in OpenVINO
and CTranslate2), CTranslate2 and MKL (in CTranslate2) take from the environment. These alone hold where the processor
cannot trap cpuid; ONNX Runtime takes none and is then left out. The engines of one instruction set take turns.
"""

import argparse
import json
import pathlib
import subprocess

from . import engines, models
from .data import spread, window_of, windows
from .workers import Worker, measure, note

# Instruction set: the limits ONEDNN_MAX_CPU_ISA, CT2_FORCE_CPU_ISA and MKL_ENABLE_INSTRUCTIONS; None: no peer is as
# limited.
SETS = {
    "portable": None,
    "avx2": ("AVX2", "AVX2", "AVX2"),
    "avx2_vnni": ("AVX2_VNNI", "AVX2", "AVX2_E1"),
    "avx512": ("AVX512_CORE", "AVX512", "AVX512"),
    "avx512_vnni": ("AVX512_CORE_VNNI", "AVX512", "AVX512_E1"),
    "avx512_vnni_bf16": ("AVX512_CORE_BF16", "AVX512", "AVX512_E2"),
    "avx512_amx": ("AVX512_CORE_AMX", "AVX512", "AVX512_E4"),
}
VARIABLES = "ONEDNN_MAX_CPU_ISA", "CT2_FORCE_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS"
# Instruction sets are left out if the engine refuses them or emulates their products.
PRECISIONS = {"f32": SETS, "bf16": ("avx512_vnni_bf16", "avx512_amx"), "int8": SETS}
PEERS = {
    "f32": ("ONNX Runtime fp32", "OpenVINO f32", "CTranslate2 f32"),
    "bf16": ("OpenVINO bf16",),
    "int8": ("ONNX Runtime int8", "OpenVINO int8+f32", "OpenVINO int8+bf16", "CTranslate2 int8"),
}
ENGINES = engines.ENGINES | {
    "OpenVINO int8+f32": (engines.OpenVINO, "int8 f32", "nncf"),
    "CTranslate2 f32": (engines.CTranslate2, "f32", "ctranslate2"),
}
ONE, EIGHT = "384", "8 × 384"


def measured(pairs, context, rounds, sets=SETS, precisions=PRECISIONS):
    """Rows {isa, precision, engine, "384": milliseconds, "8 × 384": windows per second}; what this CPU or build lacks
    is left out."""
    window = window_of(384, pairs, context)
    _prepare_models(windows(spread(pairs, 100), context))
    holder = _holder()
    rows = []
    for isa in sets:
        for precision in precisions:
            if isa in PRECISIONS[precision]:
                note(f"{isa}, {precision}")
                workers = _workers(isa, precision, holder)
                rows += [{"isa": isa, "precision": precision, **row} for row in _timed(workers, window, rounds)]
                for worker in workers:
                    worker.close()
    return rows


def _workers(isa, precision, holder):
    own = Worker.able(f"libbertqa {precision}", ENGINES, ("minilm", precision, 1, isa))
    if own is None or SETS[isa] is None:
        return [own] if own else []
    environment = dict(zip(VARIABLES, SETS[isa]))
    if holder:
        environment |= {"LD_PRELOAD": str(holder), "INSTRUCTION_SET": isa}
    workers = [own]
    for name in PEERS[precision]:
        if holder is None and name.startswith("ONNX"):
            continue
        # Without bf16 in the processor it would be emulated.
        if isa not in PRECISIONS["bf16"] and name.endswith("bf16"):
            continue
        arguments = ("minilm", ENGINES[name][1], 1)
        workers.append(Worker.able(name, ENGINES, arguments, environment))
    return [worker for worker in workers if worker]


def _timed(workers, window, rounds):
    # Peers may be faster one by one, or with a batch of 8: the better way counts.
    ways = {ONE: ([window], 1), EIGHT: ([window] * 8, 8), "one by one": ([window] * 8, 1)}
    times = {}
    for way, inputs in ways.items():
        able = [w for w in workers if way != "one by one" or ENGINES[w.name][0].pads]
        for worker in able:
            worker.ask("prepare", way, inputs)
        one = way == ONE
        times[way] = measure(able, way, rounds if one else (rounds + 1) // 2, 2 if one else 1, cpu=True)
    for name, seconds in times[ONE].items():
        eight = min(times[EIGHT][name], times["one by one"].get(name, times[EIGHT][name]))
        yield {"engine": name, ONE: 1000 * seconds, EIGHT: 8 / eight}


def _holder():
    """hold.c as a library that holds a process here, or None."""

    def make(path):
        source = pathlib.Path(__file__).with_name("hold.c")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", path], check=True)

    try:
        library = models.made(models.MADE / "hold.so", make)
        environment = {"LD_PRELOAD": str(library), "INSTRUCTION_SET": "avx2"}
        subprocess.run(["true"], check=True, env=environment)
        return library
    except (OSError, subprocess.CalledProcessError) as error:
        note(f"peers are held by their own settings alone: {error}")
        return None


def _prepare_models(calibration):
    models.checkpoint("minilm")
    for make in (
        lambda: models.onnx_file("minilm", False),
        lambda: models.onnx_file("minilm", False, int8=True),
        lambda: models.openvino_int8("minilm", False, calibration),
        lambda: models.ctranslate2("minilm", "f32"),
        lambda: models.ctranslate2("minilm", "int8"),
    ):
        try:
            make()
        except ImportError as error:
            note(f"left out: {error}")


def compared(rows):
    """(isa, precision, case, own row, the best peer's row or None, ratio or None) in the order of rows."""
    for isa, precision in dict.fromkeys((row["isa"], row["precision"]) for row in rows):
        own, *peers = (row for row in rows if (row["isa"], row["precision"]) == (isa, precision))
        for case in ONE, EIGHT:
            best = (min if case == ONE else max)(peers, key=lambda row: row[case], default=None)
            ratio = best and (best[case] / own[case] if case == ONE else own[case] / best[case])
            yield isa, precision, case, own, best, ratio


def ratios(rows):
    return [
        {
            "case": f"{isa}, {case}{' tokens' if case == ONE else ''}, 1T, {precision}",
            "engine": own["engine"],
            "own": own[case],
            "peer": best["engine"],
            "best": best[case],
            "ratio": ratio,
            "unit": "ms" if case == ONE else "/s",
        }
        for isa, precision, case, own, best, ratio in compared(rows)
        if best
    ]


def table(rows):
    """Lines of a table for one window and for eight."""
    products = list(dict.fromkeys(_product(row) for row in rows))
    for wanted, unit in ((ONE, "ms"), (EIGHT, "windows/s")) if rows else ():
        lines = [("instruction set", "precision", *(f"{p}, {unit}" for p in products), "ratio to the best peer")]
        for isa, precision, case, _, _, ratio in compared(rows):
            if case == wanted:
                found = {}
                for row in rows:
                    if (row["isa"], row["precision"]) == (isa, precision):
                        found.setdefault(_product(row), []).append(row[case])
                cells = {name: f"{(min if case == ONE else max)(values):.1f}" for name, values in found.items()}
                lines.append(
                    (isa, precision, *(cells.get(p, "") for p in products), f"{ratio:.2f}" if ratio else "")
                )
        yield f"Held to an instruction set: MiniLM-L6, {wanted} tokens, 1 thread", lines


def _product(row):
    return row["engine"].rsplit(" ", 1)[0]


def main():
    import bertqa

    from . import data

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--precisions", default=",".join(PRECISIONS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--output", type=pathlib.Path)
    arguments = parser.parse_args()
    with bertqa.Context(models.DEFAULT, tokenizer_only=True) as context:
        rows = measured(
            data.pairs()[0], context, arguments.rounds, arguments.sets.split(","), arguments.precisions.split(",")
        )
    for title, lines in table(rows):
        print(f"\n{title}")
        for line in lines:
            print(" | ".join(line))
    if arguments.output:
        arguments.output.write_text(json.dumps({"instruction sets": rows}, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
