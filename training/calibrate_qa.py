#!/usr/bin/env python3
"""Calibrate a model that answers questions: threshold and probabilities, on questions with known answers.

Changes config.json of the model's directory, nothing else. training/README.md explains what is chosen and how.
"""

import argparse
import os

from qa import calibrate, card
from qa.tools import tools


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="a directory that the library loads; its config.json is changed")
    parser.add_argument(
        "--dev", nargs="+", required=True, help="questions of both kinds: SQuAD's JSON, or JSON lines"
    )
    parser.add_argument("--card", metavar="DIR", help="write the card's sections and the curve here")
    calibrate.add_options(parser)
    arguments = parser.parse_args()

    sets = calibrate.read_sets(arguments.dev, arguments)
    found = calibrate.calibrate(arguments.model, sets, arguments, tools())
    text = (
        "\n\n".join(
            card.calibration_parts(found, arguments) + card.threshold_parts(found) + card.long_parts(found)
        )
        + "\n"
    )
    print(text, end="")
    if arguments.card:
        os.makedirs(arguments.card, exist_ok=True)
        card.write_curve(arguments.card, found.sets)
        with open(os.path.join(arguments.card, "calibration.md"), "w", encoding="utf-8") as file:
            file.write(text)
    calibrate.write_found(arguments.model, found)


if __name__ == "__main__":
    main()
