"""The table and the chart of a run."""

import html

from . import documents, families, instruction_sets
from .encoder import LENGTHS

_ARTICLES = ("article seconds", 3), ("EM", 1), ("F1", 1)


def most_threads(results):
    """The number of threads of the cases that are measured with one number only."""
    return min(2, results["about"]["processors"])


def threads_of(number):
    return f"{number} thread" + "s" * (number > 1)


def table(results):
    """All of a run as Markdown."""
    about, most = results["about"], threads_of(most_threads(results))
    out = [
        "# One run of the comparison",
        "",
        f"{about['processor']}, {about['processors']} processors; {about['date']}; {about['versions']}. Medians of "
        f"engines that took turns in one run, texts of {about['data']}. Latency on one thread is processor time.",
        "",
    ]
    for model, title in ("minilm", "MiniLM-L6"), ("base", "BERT-base (random weights)"):
        for threads in 1, 2:
            rows = [r for r in results["encoder"] if (r["model"], r["threads"]) == (model, threads)]
            if rows:
                out += _encoder(rows, f"{title}, {threads_of(threads)}")
    for title, lines in families.table(results.get("families", [])):
        out += _lines(title, lines)
    checked = [r for r in results["encoder"] if "answers" in r]
    if checked:
        out += _lines(
            "Answers and logits against ONNX Runtime fp32, same weights",
            [("engine", "same best answer", "logit error, rms / std")]
            + [
                (r["engine"], f"{r['answers equal']} of {r['answers']}", f"{100 * r['logit error']:.2g} %")
                for r in checked
            ],
        )
    out += _lines(
        "Ratios to the best peer",
        [("case", "libbertqa", "best peer", "times as fast")]
        + [
            (
                r["case"],
                f"{r['engine']}: {r['own']:.4g} {r['unit']}",
                f"{r['peer']}: {r['best']:.4g} {r['unit']}",
                f"{r['ratio']:.2f}",
            )
            for r in results["ratios"]
        ],
    )
    for title, lines in instruction_sets.table(results.get("instruction sets", [])):
        out += _lines(title, lines)
    if results.get("end to end"):
        out += _lines(
            f"Text to answers, {most}",
            [("pipeline", "pairs/s", "answers equal to its f32")]
            + [
                (r["engine"], f"{r['pairs per second']:.1f}", f"{r['answers equal']} of {r['pairs']}")
                for r in results["end to end"]
            ],
        )
    if results.get("long documents"):
        rows = results["long documents"]
        out += _lines(
            f"Long documents, {most}: one of {results['document characters']:,} characters; {rows[0]['articles']} "
            f"questions about {documents.CHARACTERS:,} characters each",
            [("pipeline", "long document, s", "article, s", "EM", "F1")]
            + [
                (
                    r["engine"],
                    f"{r['document seconds']:.3g}",
                    *(f"{r[key]:.{digits}f}" if key in r else "" for key, digits in _ARTICLES),
                )
                for r in rows
            ],
        )
    if results.get("embedding"):
        out += _lines(
            f"Texts to vectors: {results['embedding'][0]['texts']:,} sentences in one call, MiniLM-L6",
            [("engine", "threads", "texts/s", "least cosine with sentence-transformers fp32")]
            + [
                (r["engine"], str(r["threads"]), f"{r['texts per second']:.0f}", f"{r['least cosine']:.6f}")
                for r in results["embedding"]
            ],
        )
    if results.get("tokenizer"):
        out += _lines(
            "Tokenizer alone, one thread, ids and offsets",
            [("kind", "tokenizer", "language", "MB/s", "texts with the same ids as `tokenizers`")]
            + [
                (r["kind"], r["engine"], r["language"], f"{r['MB/s']:.1f}", f"{r['equal']} of {r['texts']}")
                for r in results["tokenizer"]
            ],
        )
    if results.get("start-up"):
        out += _lines(
            "Start-up and memory of fresh processes, MiniLM-L6, 2 threads",
            [
                (
                    "engine",
                    "import, ms",
                    "create, ms",
                    "create + first answer, ms",
                    "resident after a 384-token call, MiB",
                )
            ]
            + [
                (
                    r["engine"],
                    f"{r['import ms']:.0f}",
                    f"{r['create ms']:.1f}",
                    f"{r['create + first answer ms']:.1f}",
                    f"{r['resident MiB']:.0f}",
                )
                for r in results["start-up"]
            ],
        )
    for key, text in (
        ("tool ms", "The command-line tool, from start to end with one answer: {:.0f} ms."),
        (
            "proportional MiB",
            "Proportional set size over import, libbertqa int8: one process {0[0]:.1f} MiB, "
            "four together {0[1]:.1f} MiB.",
        ),
    ):
        if key in results:
            out += [text.format(results[key]), ""]
    return "\n".join(out)


def _encoder(rows, title):
    cases = [case for case in [str(n) for n in LENGTHS] + ["8 × 384", "mix"] if any(case in r for r in rows)]
    names = {"8 × 384": "8 × 384, windows/s", "mix": "real lengths, windows/s"}
    lines = [("engine", *(names.get(case, case + " tokens, ms") for case in cases))]
    for row in rows:
        lines.append((row["engine"], *(f"{row[case]:.3g}" if case in row else "" for case in cases)))
    return _lines(title, lines)


def _lines(title, rows):
    head, *body = [" | ".join(row) for row in rows]
    return [f"## {title}", "", f"| {head} |", "|" + " --- |" * len(rows[0]), *(f"| {row} |" for row in body), ""]


def ratios(results):
    """libbertqa against the best peer of the same or a finer number format, and int8 against all."""
    found = []
    kinds = {"f32": ("f32", "fp32"), "bf16": ("bf16", "f32", "fp32"), "int8": ("",)}
    groups = {}
    for row in results["encoder"]:
        groups.setdefault((row["model"], row["threads"]), []).append(row)
    for (model, threads), rows in groups.items():
        for kind, endings in kinds.items():
            own = next((r for r in rows if r["engine"] == f"libbertqa {kind}"), None)
            peers = [
                r
                for r in rows
                if not r["engine"].startswith("libbertqa")
                and r["engine"].endswith(endings)
                and (kind == "int8" or "int8" not in r["engine"])
            ]
            for case in [str(n) for n in LENGTHS] + ["8 × 384", "mix"] if own else []:
                able = [r for r in peers if case in r]
                if case not in own or not able:
                    continue
                rate = not case.isdigit()
                best = max(able, key=lambda r: r[case] if rate else -r[case])
                ratio = own[case] / best[case] if rate else best[case] / own[case]
                found.append(
                    {
                        "case": f"{model}, {case}{'' if rate else ' tokens'}, {threads}T, {kind}",
                        "engine": own["engine"],
                        "own": own[case],
                        "peer": best["engine"],
                        "best": best[case],
                        "ratio": ratio,
                        "unit": "/s" if rate else "ms",
                    }
                )
    found += instruction_sets.ratios(results.get("instruction sets", []))
    found += families.ratios(results.get("families", []))
    for case, key, unit in (
        ("end to end", "pairs per second", "/s"),
        ("long documents", "document seconds", "s"),
        ("long documents", "article seconds", "s"),
    ):
        rows = [row for row in results.get(case, []) if key in row]
        peers = [r for r in rows if not r["engine"].startswith("libbertqa")]
        if peers:
            best = (max if unit == "/s" else min)(peers, key=lambda r: r[key])
            ratio = rows[0][key] / best[key] if unit == "/s" else best[key] / rows[0][key]
            found.append(
                {
                    "case": f"text to answers, {most_threads(results)}T, {key}",
                    "engine": rows[0]["engine"],
                    "own": rows[0][key],
                    "peer": best["engine"],
                    "best": best[key],
                    "ratio": ratio,
                    "unit": unit,
                }
            )
    for threads in sorted({r["threads"] for r in results.get("embedding", [])}):
        rows = {r["engine"]: r["texts per second"] for r in results["embedding"] if r["threads"] == threads}
        for kind, peers in ("f32", ["fp32"]), ("bf16", ["fp32", "bf16"]), ("int8", ["fp32", "bf16"]):
            own, able = (
                f"libbertqa {kind}",
                [p for p in (f"sentence-transformers {e}" for e in peers) if p in rows],
            )
            if own not in rows or not able:
                continue
            peer = max(able, key=rows.__getitem__)
            found.append(
                {
                    "case": f"text to vectors, {threads}T, {kind}",
                    "engine": own,
                    "own": rows[own],
                    "peer": peer,
                    "best": rows[peer],
                    "ratio": rows[own] / rows[peer],
                    "unit": "/s",
                }
            )
    tokenizers = results.get("tokenizer", [])
    for row in tokenizers:
        if row["engine"] == "libbertqa":
            for peer in tokenizers:
                alike = (peer["kind"], peer["language"]) == (row["kind"], row["language"])
                if alike and peer is not row:
                    found.append(
                        {
                            "case": f"tokenizer, {row['kind']}, {row['language']}",
                            "engine": "libbertqa",
                            "own": row["MB/s"],
                            "peer": peer["engine"],
                            "best": peer["MB/s"],
                            "ratio": row["MB/s"] / peer["MB/s"],
                            "unit": "MB/s",
                        }
                    )
    return found


def chart(results):
    """Bars of the MiniLM-L6 latency of one 384-token window, on most threads, as SVG."""
    threads = max(r["threads"] for r in results["encoder"])
    rows = [r for r in results["encoder"] if r["model"] == "minilm" and r["threads"] == threads]
    rows = sorted(rows, key=lambda r: r["384"])
    longest, left, width, step = max(r["384"] for r in rows), 170, 420, 26
    height = 62 + step * len(rows)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="680" height="{height}" font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="12" y="24" font-size="15" fill="#111">MiniLM-L6, one window of 384 tokens, {threads_of(threads)}: '
        "milliseconds, less is better</text>",
    ]
    for index, row in enumerate(rows):
        y = 42 + step * index
        length = width * row["384"] / longest
        color = "#1f6feb" if row["engine"].startswith("libbertqa") else "#9aa4b2"
        out += [
            f'<text x="{left - 8}" y="{y + 14}" text-anchor="end" fill="#111">{html.escape(row["engine"])}</text>',
            f'<rect x="{left}" y="{y}" width="{length:.1f}" height="19" fill="{color}"/>',
            f'<text x="{left + length + 6:.1f}" y="{y + 14}" fill="#111">{row["384"]:.1f}</text>',
        ]
    return "\n".join([*out, "</svg>", ""])
