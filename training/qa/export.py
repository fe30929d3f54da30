"""From snapshots of the weights to a model directory for libbertqa: averaged, calibrated, quantised, measured."""

import os
import shutil
import subprocess
import sys
import tempfile

from . import calibration, card
from .averaging import averaged, with_temperature, write_model
from .checkpoints import snapshots, step_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The temperature is chosen on every fourth question: each trial answers them all.
TEMPERATURE_STRIDE = 4


def export(arguments) -> None:
    """Writes arguments.out, and its F16 form to STATE/averaged."""
    bertqa, accuracy = tools()
    sets = [(os.path.basename(path).split(".")[0], accuracy.read(path)) for path in arguments.dev]
    questions = [question for _, part in sets for question in part]
    paths = snapshots(arguments.state)[-arguments.average :]
    if not paths:
        raise SystemExit(f"{arguments.state}: no weights-STEP.safetensors, nothing was trained")
    steps = [step_of(path) for path in paths]
    mixed = [item.rpartition("=") for item in arguments.mix]
    shares = [float(share) for _, _, share in mixed]
    own = [(1 - sum(shares)) / len(paths)] * len(paths)
    models = [os.path.join(directory, "model.safetensors") for directory, _, _ in mixed]
    tensors = averaged([*paths, *models], [*own, *shares])

    def rows_of(directory, part, precision="auto"):
        with bertqa.Context(directory, precision=precision) as context:
            return accuracy.measured(context, part)

    with tempfile.TemporaryDirectory(dir=arguments.state) as scratch:

        def loss(temperature):
            directory = os.path.join(scratch, f"{temperature:.4f}")
            write_model(directory + "-f16", with_temperature(tensors, temperature), arguments.init)
            quantize(arguments.bertqa, directory + "-f16", directory, None)
            value = calibration.calibration_loss(rows_of(directory, questions[::TEMPERATURE_STRIDE]))
            print(f"temperature {temperature:.3f}: log losses {value:.4f}", file=sys.stderr)
            return value

        temperature = calibration.best_temperature(loss)
        source = os.path.join(arguments.state, "averaged")
        write_model(source, with_temperature(tensors, temperature), arguments.init)
        trial = os.path.join(scratch, "trial")
        quantize(arguments.bertqa, source, trial, None)
        int8 = [(name, rows_of(trial, part)) for name, part in sets]
        threshold, _ = calibration.balanced_threshold([row for _, rows in int8 for row in rows])
        threshold = round(threshold, 2)
        if os.path.isdir(arguments.out):
            shutil.rmtree(arguments.out)
        facts = quantize(arguments.bertqa, source, arguments.out, threshold)
        measured = {
            "int8": int8,
            "f32": [(name, rows_of(source, part, "f32")) for name, part in sets],
        }
    card.write(arguments, card.Facts(steps, temperature, threshold, facts, measured), accuracy)


def quantize(tool, source, destination, threshold) -> str:
    """`bertqa quantize`; returns what it prints."""
    option = [] if threshold is None else ["--no-answer-threshold", str(threshold)]
    result = subprocess.run([tool, "quantize", *option, source, destination], capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{tool} quantize: {result.stderr.strip()}")
    return result.stdout


def tools():
    """The modules `bertqa` and `accuracy`: installed, else those of this checkout."""
    sys.path[len(sys.path) :] = [os.path.join(ROOT, "examples", "python"), os.path.join(ROOT, "Benchmarks")]
    import accuracy
    import bertqa

    return bertqa, accuracy
