"""From snapshots of the weights to a model directory for libbertqa: averaged, mixed, calibrated, quantised, measured."""

import math
import os
import shutil
import sys
import tempfile

from common.averaging import averaged, mixed, with_temperature
from common.checkpoints import snapshots, step_of
from common.models import ROOT, quantize, write_model

from . import calibration, card


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
    tensors = mixed(averaged(paths), arguments.mix)

    def rows_of(directory, part, precision="auto"):
        with bertqa.Context(directory, precision=precision) as context:
            return accuracy.measured(context, part)

    with tempfile.TemporaryDirectory(dir=arguments.state) as scratch:

        def loss(temperature):
            directory = os.path.join(scratch, f"{temperature:.4f}")
            write_model(
                directory + "-f16",
                with_temperature(tensors, temperature),
                arguments.init,
                "BertForQuestionAnswering",
            )
            quantize(arguments.bertqa, directory + "-f16", directory)
            value = calibration.calibration_loss(rows_of(directory, questions[::TEMPERATURE_STRIDE]))
            print(f"temperature {temperature:.3f}: log losses {value:.4f}", file=sys.stderr)
            return value

        temperature = arguments.temperature or calibration.best_temperature(loss)
        source = os.path.join(arguments.state, "averaged")
        write_model(source, with_temperature(tensors, temperature), arguments.init, "BertForQuestionAnswering")
        trial = os.path.join(scratch, "trial")
        quantize(arguments.bertqa, source, trial)
        int8 = [(name, rows_of(trial, part)) for name, part in sets]
        threshold = calibration.chosen_threshold([row for _, rows in int8 for row in rows], arguments.max_loss)
        # Down, so that an answer whose gap is the threshold is kept.
        threshold = math.floor(100 * threshold) / 100
        if os.path.isdir(arguments.out):
            shutil.rmtree(arguments.out)
        facts = quantize(arguments.bertqa, source, arguments.out, "--no-answer-threshold", str(threshold))
        measured = {
            "int8": int8,
            "f32": [(name, rows_of(source, part, "f32")) for name, part in sets],
        }
    card.write(arguments, card.Facts(steps, temperature, threshold, facts, measured), accuracy)


def tools():
    """The modules `bertqa` and `accuracy`: installed, else those of this checkout."""
    sys.path[len(sys.path) :] = [os.path.join(ROOT, "examples", "python"), os.path.join(ROOT, "Benchmarks")]
    import accuracy
    import bertqa

    return bertqa, accuracy
