"""usage: python -m compare [--quick] [--data FILE.jsonl] [--cases LIST] [--output DIRECTORY]

Measures libbertqa and its peers, prints the table, and writes it, results.json and latency.svg to the directory after
each case. Cases that are not in the list stay as an earlier run on this machine measured them.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import pathlib
import random

import bertqa

from . import (
    data,
    documents,
    embedding,
    encoder,
    end_to_end,
    families,
    instruction_sets,
    models,
    report,
    startup,
    tokenizer,
)
from .engines import ENGINES
from .workers import note

PACKAGES = (
    "onnxruntime",
    "openvino",
    "nncf",
    "torch",
    "transformers",
    "sentence-transformers",
    "ctranslate2",
    "tokenizers",
    "blingfire",
    "numpy",
)


def about(source):
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    names = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return {
        "processor": names[0] if names else os.uname().machine,
        "processors": len(os.sched_getaffinity(0)),
        "date": datetime.date.today().isoformat(),
        "versions": ", ".join(versions),
        "data": source,
    }


def languages(pairs):
    """English paragraphs, and paragraphs in other scripts from the data beside the checkout; without these, the words of
    one article in random order, which a cache of words knows too well."""
    found = {"English": data.paragraphs(pairs)[:1000]}
    paragraphs = data.multilingual()
    choose = random.Random(1)
    for (name, article), code in zip(data.LANGUAGES.items(), ("zh", "ru", "hi", "ar")):
        words = article.split() if " " in article else list(article)
        joint = " " if " " in article else ""
        made = [joint.join(choose.choices(words, k=120)) for _ in range(200)]
        found[name] = [text for language, text in paragraphs if language == code] or made
    return found


def encoders(pairs, quick, names, threads):
    with bertqa.Context(models.DEFAULT, tokenizer_only=True) as context:
        if quick:
            return encoder.measured(pairs, context, names, ["minilm"], threads, (128, 384), 4, mix=40, check=60)
        rows = encoder.measured(pairs, context, names, ["minilm"], threads, encoder.LENGTHS, 7, mix=200, check=300)
        return rows + encoder.measured(pairs, context, names, ["base"], threads, (384,), 5, mix=100, check=0)


def sets(pairs):
    with bertqa.Context(models.DEFAULT, tokenizer_only=True) as context:
        return instruction_sets.measured(pairs, context, 7)


def cases(quick, data_file, pairs, names):
    """By name, functions that return some of the results."""
    threads = [t for t in (1, 2) if t <= len(os.sched_getaffinity(0))]
    text = data.document(pairs, 30_000 if quick else 600_000)

    def long():
        rows = documents.measured(pairs, data_file, text, 5 if quick else 50, threads[-1], 1 if quick else 3)
        return {"document characters": len(text), "long documents": rows}

    def start_up():
        return {
            "start-up": startup.measured([n for n in startup.NAMES if n in names], 3 if quick else 5),
            "proportional MiB": startup.shared_memory("libbertqa int8"),
            "tool ms": startup.tool(5 if quick else 20),
        }

    def end():
        chosen = data.spread(pairs, 100 if quick else 1000)
        return {"end to end": end_to_end.measured(chosen, threads[-1], 1 if quick else 3)}

    both = {
        "encoder": lambda: {"encoder": encoders(pairs, quick, names, threads)},
        "end": end,
        "long": long,
        "tokenizer": lambda: {"tokenizer": tokenizer.measured(languages(pairs), 1 if quick else 5)},
        "startup": start_up,
    }
    if quick:
        return both
    # Three layers: all of a base model's take four times as long, and the ratios are alike.
    return both | {
        "isa": lambda: {"instruction sets": sets(pairs)},
        "families": lambda: {"families": families.measured([f"{name}@3" for name in families.FAMILIES], [1], 5)},
        "embed": lambda: {"embedding": [row for n in threads for row in embedding.measured(pairs, n, 5)]},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="ONNX Runtime and MiniLM-L6 only: about a minute")
    parser.add_argument("--data", type=pathlib.Path, help='one {"question", "context"} a line')
    parser.add_argument("--cases", help="some of the cases, with commas; an unknown one lists them; default: all")
    parser.add_argument("--output", type=pathlib.Path, default=models.ROOT / "Benchmarks" / "results")
    arguments = parser.parse_args()

    pairs, source = data.pairs(arguments.data)
    names = [n for n in ENGINES if not arguments.quick or "libbertqa" in n or "ONNX" in n]
    able = cases(arguments.quick, arguments.data, pairs, names)
    chosen = arguments.cases.split(",") if arguments.cases else list(able)
    if unknown := [name for name in chosen if name not in able]:
        parser.error(f"no case {unknown[0]}: there are {', '.join(able)}")
    arguments.output.mkdir(parents=True, exist_ok=True)
    path = arguments.output / "results.json"
    results = {"about": about(source), "encoder": []}
    if path.exists():
        # Other cases of the same machine, packages and texts stay.
        old = json.loads(path.read_text())
        if all(old["about"].get(key) == results["about"][key] for key in ("processor", "versions", "data")):
            results = old | {"about": results["about"]}
    models.checkpoint("minilm")
    for name in chosen:
        note(f"case {name}")
        results |= able[name]()
        results["ratios"] = report.ratios(results)
        path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        (arguments.output / "table.md").write_text(report.table(results))
        if results["encoder"]:
            (arguments.output / "latency.svg").write_text(report.chart(results))
    print((arguments.output / "table.md").read_text())
    note(f"written to {arguments.output}")


if __name__ == "__main__":
    main()
