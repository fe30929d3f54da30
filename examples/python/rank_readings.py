#!/usr/bin/env python3
"""Chooses among OCR's readings of a smudged word or line with a language model.

usage: rank_readings.py [MODEL_DIRECTORY] < readings.tsv

Each line of standard input is the preceding text and two or more readings, separated by tabs. Prints the preceding
text with the likeliest reading, and how many times likelier it is than the next.
"""

import math
import sys

import bertqa


def main():
    if len(sys.argv) > 2:
        sys.exit("usage: rank_readings.py [MODEL_DIRECTORY] < readings.tsv")
    with bertqa.Context(*sys.argv[1:], task="predict") as context:
        for number, line in enumerate(sys.stdin, 1):
            prefix, *readings = line.rstrip("\n").split("\t")
            if len(readings) < 2:
                sys.exit(f"line {number}: expected a beginning and two readings or more, separated by tabs")
            best, second, *_ = context.rank(prefix, readings)
            factor = math.exp(min(700, best.log_likelihood - second.log_likelihood))
            print(f"{prefix} {best.text}\t{factor:.3g}")


if __name__ == "__main__":
    main()
