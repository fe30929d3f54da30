"""The question-answering program of transformers 4's documentation, with transformers and with bertqa: the time to the
first answer, that of 1,000 questions, and memory.

    python Benchmarks/pipelines.py PYTHON_WITH_TRANSFORMERS_4 [--size bert-base] [--questions 1000] [--threads 2]
      [--rounds 3]

Makes a model of the size with random weights, which both read. Each program runs in a process of its own. The two
differ in one line, the import. A third run has the model in the int8 form, which trained models keep their accuracy in;
the random weights of this one do not. The status is 1 if less than 99 % of the answers of the first two are the same.

The programs take turns: five times with one question for the start, then as many rounds with all questions. The table
has medians.
"""

import argparse
import importlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODEL = ROOT / "models" / "qa-minilm-l6"

PROGRAM = """
import json, resource, sys, time
begun = time.perf_counter()
from {library} import pipeline

directory, count = sys.argv[1], int(sys.argv[2])
text = open(sys.argv[3], encoding="utf-8").read()
question_answerer = pipeline("question-answering", model=directory)
contexts = [part for part in text.split("\\n\\n") if len(part) > 200]
questions = ["Who was the first person on the Moon?", "When was Skylab launched?", "What caused the fire?"]
first = question_answerer(question=questions[0], context=contexts[0])
start, began = time.perf_counter() - begun, time.process_time()
begun, worked = time.perf_counter(), began
answers = [
    question_answerer(question=questions[number % 3], context=contexts[number % len(contexts)])["answer"]
    for number in range(count)
]
seconds = time.perf_counter() - begun
processor = time.process_time() - worked
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
found = {{"start": start, "began": began, "seconds": seconds, "processor": processor, "peak": peak}}
print(json.dumps({{**found, "answers": answers}}))
"""

STARTS = 5
ROWS = {
    "start": "first answer, s",
    "began": "first answer, s of processor time",
    "seconds": "all questions, s",
    "processor": "all questions, s of processor time",
    "peak": "peak memory, MB",
}

MAKE = """
import json, pathlib, shutil, sys, torch
from transformers import BertConfig, BertForQuestionAnswering, BertTokenizerFast

size, directory, vocabulary = sys.argv[1:]
small = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
torch.manual_seed(0)
model = BertForQuestionAnswering(BertConfig(**(small if size == "minilm-l6" else {})))
for name, parameter in model.named_parameters():
    if parameter.dim() == 2 and "embedding" not in name:
        torch.nn.init.normal_(parameter, std=1.2 / parameter.shape[1] ** 0.5)
model.save_pretrained(directory)
BertTokenizerFast(vocabulary, do_lower_case=True, model_max_length=512).save_pretrained(directory)
"""


def run(python, library, directory, options):
    environment = os.environ | {
        "OMP_NUM_THREADS": str(options.threads),
        "HF_HUB_OFFLINE": "1",
    }
    environment["PYTHONPATH"] = str(ROOT / "bindings" / "python")
    document = ROOT / "examples" / "documents" / "apollo.txt"
    command = [python, "-c", PROGRAM.format(library=library), directory, str(options.questions), document]
    cores = sorted(os.sched_getaffinity(0))[: options.threads]
    result = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    return json.loads(result.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", help="a Python with transformers 4 and torch")
    parser.add_argument("--size", choices=["minilm-l6", "bert-base"], default="bert-base")
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        made = [options.python, "-c", MAKE, options.size, directory, str(MODEL / "vocab.txt")]
        subprocess.run(made, check=True, capture_output=True)
        small = pathlib.Path(directory, "int8")
        sys.path.insert(0, str(ROOT / "bindings" / "python"))
        importlib.import_module("bertqa").quantize(directory, small)
        runs = {
            "transformers": ("transformers", directory),
            "bertqa": ("bertqa", directory),
            "bertqa, int8": ("bertqa", small),
        }
        one = argparse.Namespace(**{**vars(options), "questions": 1})
        starts, rounds = (
            [{name: run(options.python, *given, asked) for name, given in runs.items()} for _ in range(count)]
            # The first start of each, which may read files from the disk, does not count.
            for asked, count in ((one, 1 + STARTS), (options, options.rounds))
        )
    found = {
        name: {
            key: statistics.median(
                each[name][key] for each in (starts[1:] if key in ("start", "began") else rounds)
            )
            for key in ROWS
        }
        for name in runs
    }
    print(f"| {options.size}, {options.questions} questions, threads: {options.threads} | {' | '.join(found)} |")
    print("|---|" + "---|" * len(found))
    for key, name in ROWS.items():
        print(f"| {name} | {' | '.join(f'{result[key]:.2f}' for result in found.values())} |")
    equal = sum(
        one == two for one, two in zip(*(rounds[0][name]["answers"] for name in ("transformers", "bertqa")))
    )
    print(f"\nequal answers of transformers and bertqa: {equal} of {options.questions}")
    return 0 if equal >= 0.99 * options.questions else 1


if __name__ == "__main__":
    sys.exit(main())
