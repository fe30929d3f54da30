"""docs/entities.md: each rule finds its examples, and not those that it says it does not find."""

import re

import bertqa
from bertqa._entities import PATTERNS
from conftest import ROOT


def rows():
    text = (ROOT / "docs/entities.md").read_text(encoding="utf-8")
    for line in text.split("| PII kind | finds |")[1].split("\n\n")[0].splitlines()[2:]:
        kinds, _, found, not_found = line.strip("| ").split(" | ")
        yield re.findall(r"`([^`]+)`", kinds), *(re.findall(r"`([^`]+)`", cell) for cell in (found, not_found))


def test_every_kind_has_its_examples():
    tried = []
    for kinds, found, not_found in rows():
        tried += [kind.lower() for kind in kinds]
        assert found and not_found, kinds
        names = [kind.lower() for kind in kinds]
        for example in found:
            assert [entity.label for entity in bertqa.patterns(example, names)][:1] in [[k] for k in kinds], (
                example
            )
        for example in not_found:
            assert not bertqa.patterns(example, names), example
    assert sorted(tried) == sorted(PATTERNS)
