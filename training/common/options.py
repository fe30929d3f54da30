"""Types of options for argparse: numbers within limits."""

import argparse
import math


def limited(kind, is_right, words: str):
    """The `kind` of a text, for which `is_right` has to be true; `words` say so."""

    def value(text: str):
        found = kind(text)
        if not is_right(found):
            raise argparse.ArgumentTypeError(f"{text} is not {words}")
        return found

    value.__name__ = kind.__name__
    return value


count = limited(int, lambda value: value > 0, "1 or more")
count_or_none = limited(int, lambda value: value >= 0, "0 or more")
positive = limited(float, lambda value: 0 < value < math.inf, "above 0")
share = limited(float, lambda value: 0 <= value <= 1, "0 to 1")
between = limited(float, lambda value: 0 < value < 1, "between 0 and 1")
dropout = limited(float, lambda value: 0 <= value <= 0.9, "0 to 0.9")
