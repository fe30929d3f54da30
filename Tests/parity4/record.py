"""Writes what transformers returns for a few calls to Tests/python/package/pipeline_calls.json.

BERTQA_PREFIX=build python Tests/parity4/record.py
"""

import copy
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "bindings" / "python")]

from cases import cases  # noqa: E402
from conftest import HEADS, directories, theirs  # noqa: E402
from forms import FORMS  # noqa: E402

RECORDED = HERE.parent / "python" / "package" / "pipeline_calls.json"
NAMES = ["tiny-bert", "tiny-bert-classifier", "tiny-bert-entities", "tiny-roberta"]


def outcome(call):
    try:
        return call()
    except Exception as error:
        return {"exception": type(error).__name__}


def shortened(value):
    """Keeps six digits of each number."""
    if isinstance(value, dict):
        return {key: shortened(one) for key, one in value.items()}
    if isinstance(value, list):
        return [shortened(one) for one in value]
    return value if isinstance(value, (str, int, type(None))) else float(f"{value:.6g}")


def main():
    calls, forms = [], []
    for task, head in HEADS.items():
        for name in directories(head):
            try:
                pipe = theirs(name, task)
            except BaseException as error:
                print(f"{name}: {error}")
                continue
            # Vectors are long.
            for given, options in cases(task, 1 if task == "feature-extraction" else 3, seed=name):
                result = outcome(lambda: pipe(given, **copy.deepcopy(options)))
                calls.append({"task": task, "model": name, "input": given, "options": options, "result": result})
            if name in NAMES:
                for form, call in FORMS[task].items():
                    forms.append(
                        {"task": task, "model": name, "form": form, "result": outcome(lambda: call(pipe))}
                    )
    lines = [json.dumps(shortened(call)) for call in calls + forms]
    RECORDED.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
