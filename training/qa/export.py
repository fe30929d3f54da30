"""From snapshots of the weights to a model directory for libbertqa: averaged, mixed, calibrated, quantised, measured."""

import os

from common.averaging import averaged, mixed, with_temperature
from common.checkpoints import snapshots, step_of
from common.models import architecture, quantize, replacing, write_model

from . import calibrate, card


def export(arguments, sets, modules) -> None:
    """Writes arguments.out, and its F16 form to STATE/averaged. sets, modules: see `calibrate`."""
    bertqa, accuracy, _ = modules
    paths = snapshots(arguments.state)[-arguments.average :]
    if not paths:
        raise SystemExit(f"{arguments.state}: no weights-STEP.safetensors, nothing was trained")
    steps = [step_of(path) for path in paths]
    tensors = with_temperature(mixed(averaged(paths), arguments.mix), arguments.temperature)

    source = os.path.join(arguments.state, "averaged")
    write_model(source, tensors, arguments.init, architecture(arguments.init, "QUESTION_ANSWERING"))

    def rows_of(directory, precision):
        with bertqa.Context(directory, precision=precision) as context:
            return [(name, accuracy.measured(context, part)) for name, part in sets]

    with replacing(arguments.out) as new:
        quantize(arguments.bertqa, source, new)
        found = calibrate.calibrate(new, sets, arguments, modules)
        for directory in new, source:
            calibrate.write_found(directory, found)
        measured = {"int8": rows_of(new, "auto"), "f32": rows_of(source, "f32")}
        card.write(new, arguments, card.Facts(steps, arguments.temperature, found, measured), accuracy)
