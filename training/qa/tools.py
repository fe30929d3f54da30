"""The modules beside this directory that measure a model."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def tools():
    """The modules `bertqa`, `accuracy` and `long_documents`: installed, else those of this checkout."""
    sys.path[len(sys.path) :] = [os.path.join(ROOT, "bindings", "python"), os.path.join(ROOT, "Benchmarks")]
    import accuracy
    import bertqa
    import long_documents

    return bertqa, accuracy, long_documents
