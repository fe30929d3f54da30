"""From snapshots of the weights to a model directory for libbertqa: averaged, mixed, calibrated, quantised, measured."""

import os
import shutil

from common.averaging import averaged, mixed, with_temperature
from common.checkpoints import snapshots, step_of
from common.models import architecture, quantize, write_model

from . import calibrate, card
from .tools import tools


def export(arguments) -> None:
    """Writes arguments.out, and its F16 form to STATE/averaged."""
    modules = tools()
    bertqa, accuracy, _ = modules
    sets = [(os.path.basename(path).split(".")[0], accuracy.read(path)) for path in arguments.dev]
    paths = snapshots(arguments.state)[-arguments.average :]
    if not paths:
        raise SystemExit(f"{arguments.state}: no weights-STEP.safetensors, nothing was trained")
    steps = [step_of(path) for path in paths]
    tensors = with_temperature(mixed(averaged(paths), arguments.mix), arguments.temperature)

    source = os.path.join(arguments.state, "averaged")
    write_model(source, tensors, arguments.init, architecture(arguments.init, "QUESTION_ANSWERING"))
    if os.path.isdir(arguments.out):
        shutil.rmtree(arguments.out)
    quantized = quantize(arguments.bertqa, source, arguments.out)
    found = calibrate.calibrate(arguments.out, sets, arguments, modules)
    calibrate.set_own(source, **calibrate.members(found.threshold, found.chances, found.span_temperature))

    def rows_of(directory, precision):
        with bertqa.Context(directory, precision=precision) as context:
            return [(name, accuracy.measured(context, part)) for name, part in sets]

    measured = {"int8": rows_of(arguments.out, "auto"), "f32": rows_of(source, "f32")}
    card.write(arguments, card.Facts(steps, arguments.temperature, quantized, found, measured), accuracy)
