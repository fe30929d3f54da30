"""usage: python -m compare [--quick] [--data FILE.jsonl] [--cases LIST] [--output DIRECTORY]

Measures libbertqa and its peers, prints the table, and writes it, results.json and latency.svg to the directory.
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

CASES = ("encoder", "isa", "families", "end", "long", "embed", "tokenizer", "startup")
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
        "load before": os.getloadavg()[0],
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


def written(results):
    return json.dumps(results, indent=1, ensure_ascii=False) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="ONNX Runtime and MiniLM-L6 only: about a minute")
    parser.add_argument("--data", type=pathlib.Path, help='one {"question", "context"} a line')
    parser.add_argument("--cases", default=",".join(CASES), help="some of " + ",".join(CASES))
    parser.add_argument("--output", type=pathlib.Path, default=models.ROOT / "Benchmarks" / "results")
    arguments = parser.parse_args()
    cases, quick = arguments.cases.split(","), arguments.quick

    pairs, source = data.pairs(arguments.data)
    names = [n for n in ENGINES if not quick or "libbertqa" in n or "ONNX" in n]
    results = {"about": about(source), "encoder": []}
    threads = [t for t in (1, 2) if t <= len(os.sched_getaffinity(0))]
    with bertqa.Context(models.DEFAULT, tokenizer_only=True) as context:
        if "encoder" in cases and quick:
            results["encoder"] = encoder.measured(
                pairs, context, names, ["minilm"], threads, (128, 384), 4, mix=40, check=60
            )
        elif "encoder" in cases:
            results["encoder"] = encoder.measured(
                pairs, context, names, ["minilm", "base"], threads, encoder.LENGTHS, 7, mix=200, check=300
            )
        if "isa" in cases and not quick:
            results["instruction sets"] = instruction_sets.measured(pairs, context, 7)
    if "families" in cases and not quick:
        results["families"] = families.measured(families.FAMILIES, threads, 5)
    if "end" in cases:
        models.checkpoint("minilm")
        chosen = data.spread(pairs, 100 if quick else 1000)
        results["end to end"] = end_to_end.measured(chosen, threads[-1], 1 if quick else 3)
    if "long" in cases:
        models.checkpoint("minilm")
        text = data.document(pairs, 30_000 if quick else 600_000)
        results["document characters"] = len(text)
        results["long documents"] = documents.measured(
            pairs, arguments.data, text, 5 if quick else 50, threads[-1], 1 if quick else 3
        )
    if "embed" in cases and not quick:
        results["embedding"] = [row for n in threads for row in embedding.measured(pairs, n, 5)]
    if "tokenizer" in cases:
        results["tokenizer"] = tokenizer.measured(languages(pairs), 1 if quick else 5)
    if "startup" in cases:
        chosen = [n for n in startup.NAMES if n in names]
        results["start-up"] = startup.measured(chosen, 3 if quick else 5)
        results["proportional MiB"] = startup.shared_memory("libbertqa int8")
        results["tool ms"] = startup.tool(5 if quick else 20)
    results["about"]["load after"] = os.getloadavg()[0]
    results["ratios"] = report.ratios(results)

    text = report.table(results)
    print(text)
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "table.md").write_text(text)
    (arguments.output / "results.json").write_text(written(results))
    if "instruction sets" in results:
        sets = {key: results[key] for key in ("about", "instruction sets")}
        (arguments.output / "instruction-sets.json").write_text(written(sets))
    if results["encoder"]:
        (arguments.output / "latency.svg").write_text(report.chart(results))
    note(f"written to {arguments.output}")


if __name__ == "__main__":
    main()
