#!/usr/bin/env python3
"""Generates Sources/BertQACore/Text/Identifiers/NumberingPlans+Table.swift.

Needs `pip install phonenumbers==9.0.43`, the Python port of Google's libphonenumber, whose metadata follow ITU-T
E.164's national numbering plans. The table has, for each region: its code, calling code, trunk prefix, the lengths
and first digits of its numbers, and the groups in which it writes them.

usage: Scripts/generate-phone-plans.py   (writes the file in place)
"""

import pathlib
import re
from re import _parser as expressions

import phonenumbers
from phonenumbers import COUNTRY_CODES_FOR_NON_GEO_REGIONS, PhoneMetadata
from swift_tables import literal

PINNED = "9.0.43"
TARGET = (
    pathlib.Path(__file__).resolve().parent.parent
    / "Sources/BertQACore/Text/Identifiers/NumberingPlans+Table.swift"
)
# Below this many digits a plan says only which lengths there are. A deeper tree tells few more numbers apart.
DEPTH = 3
KINDS = "fixed_line mobile toll_free premium_rate shared_cost personal_number voip pager uan voicemail".split()


class Automaton:
    """The states of expressions of digits without loops; a state is numbered by its place in `steps`."""

    def __init__(self, patterns):
        self.steps, self.skips, self.ends = [], [], set()
        self.start = self.state()
        # By sets of states: several ways lead to one.
        self.known_trees, self.known_lengths = {}, {}
        for pattern in patterns:
            self.ends.add(self.build(expressions.parse(pattern), self.start))

    def state(self):
        self.steps.append({})
        self.skips.append([])
        return len(self.steps) - 1

    def build(self, items, state):
        for kind, value in items:
            kind = str(kind)
            if kind == "SUBPATTERN":
                state = self.build(value[3], state)
            elif kind == "BRANCH":
                ends = [self.build(branch, state) for branch in value[1]]
                state = self.joined(ends)
            elif kind == "MAX_REPEAT":
                least, most, part = value
                for _ in range(least):
                    state = self.build(part, state)
                ends = [state]
                for _ in range(most - least):
                    ends.append(self.build(part, ends[-1]))
                state = self.joined(ends)
            else:
                behind = self.state()
                for digit in self.digits(kind, value):
                    self.steps[state].setdefault(digit, []).append(behind)
                state = behind
        return state

    def joined(self, ends):
        behind = self.state()
        for end in ends:
            self.skips[end].append(behind)
        return behind

    def digits(self, kind, value):
        if kind == "LITERAL":
            return [value - 48]
        if kind == "CATEGORY":
            return range(10)
        if kind == "RANGE":
            return range(value[0] - 48, value[1] - 47)
        assert kind == "IN", kind
        return sorted({digit for one in value for digit in self.digits(str(one[0]), one[1])})

    def closed(self, states):
        found, left = set(states), list(states)
        while left:
            for state in self.skips[left.pop()]:
                if state not in found:
                    found.add(state)
                    left.append(state)
        return frozenset(found)

    def behind(self, states, digit):
        return self.closed([target for state in states for target in self.steps[state].get(digit, [])])

    def tree(self):
        """A mask of the lengths of all numbers, or ten trees by their first digit."""
        return self.tree_behind(self.closed([self.start]), DEPTH)

    def tree_behind(self, states, depth):
        if depth == 0 or not states:
            return self.lengths(states)
        if (states, depth) not in self.known_trees:
            assert not states & self.ends, "a number of a plan has fewer digits than the tree is deep"
            children = tuple(self.tree_behind(self.behind(states, digit), depth - 1) for digit in range(10))
            is_even = isinstance(children[0], int) and len(set(children)) == 1
            self.known_trees[states, depth] = children[0] << 1 if is_even else children
        return self.known_trees[states, depth]

    def lengths(self, states):
        if states not in self.known_lengths:
            mask = 1 if states & self.ends else 0
            for behind in {self.behind(states, digit) for digit in range(10)}:
                mask |= self.lengths(behind) << 1 if behind else 0
            self.known_lengths[states] = mask
        return self.known_lengths[states]


def formats(metadata):
    """Yields (prefix, how many of its digits are a group, [(least, most digits, separator before)]) for each way to
    write a number. The prefix is what callers within the country dial before it."""
    for one in metadata.number_format:
        sizes = [expressions.parse(part).getwidth() for part in re.findall(r"\((.*?)\)", one.pattern)]
        parts = re.findall(r"\\(\d)|(\d+)|([^\\\d]+)", one.format)
        # A format that drops or adds digits writes other digits than the plan has.
        if any(literal for _, literal, _ in parts) or len({r for r, _, _ in parts if r}) != len(sizes):
            continue
        groups, separator = [], ""
        for reference, _, text in parts:
            if text:
                separator = text.strip("()")[:1] or " "
                continue
            least, most = sizes[int(reference) - 1]
            if groups and not separator:
                least, most, separator = groups[-1][0] + least, groups[-1][1] + most, groups.pop()[2]
            groups.append((least, most, separator if groups else ""))
            separator = ""
        rule = re.match(r"\D*(\d+\D)?(\d*)\\1|", one.national_prefix_formatting_rule or "")
        apart, joined = re.sub(r"\D", "", rule[1] or ""), rule[2] or ""
        yield apart + joined, len(apart), groups
        if one.national_prefix_optional_when_formatting:
            yield "", 0, groups


def regions():
    for code in sorted(phonenumbers.SUPPORTED_REGIONS):
        yield code, PhoneMetadata.metadata_for_region(code)
    for calling_code in sorted(COUNTRY_CODES_FOR_NON_GEO_REGIONS):
        yield "ZZ", PhoneMetadata.metadata_for_nongeo_region(calling_code)


def main():
    assert phonenumbers.__version__ == PINNED, f"needs phonenumbers {PINNED}"
    nodes, node_numbers = {}, []

    def place(tree):
        """Numbers the nodes of a tree, children first. A node is a mask or runs of equal children."""
        if tree in nodes:
            return nodes[tree]
        if isinstance(tree, int):
            numbers = [0, tree]
        else:
            children = [place(child) for child in tree]
            numbers, first = [], 0
            for digit in range(1, 11):
                if digit == 10 or children[digit] != children[first]:
                    numbers += [digit - first, len(nodes) - children[first]]
                    first = digit
        node_numbers.extend(numbers)
        return nodes.setdefault(tree, len(nodes))

    shapes, region_numbers, mobiles = {}, [], []
    for code, metadata in regions():
        patterns = [getattr(metadata, kind) for kind in KINDS]
        patterns = [one.national_number_pattern for one in patterns if one and one.national_number_pattern]
        written = [(prefix, apart, *groups) for prefix, apart, groups in formats(metadata)]
        own = sorted({shapes.setdefault(one, len(shapes)) for one in written})
        mobile = metadata.mobile and metadata.mobile.national_number_pattern
        if mobile and metadata.fixed_line and mobile != metadata.fixed_line.national_number_pattern:
            rules = [one.national_prefix_formatting_rule or "" for one in metadata.number_format]
            if any(not prefix for prefix, *_ in written) and not any("(\\1" in rule for rule in rules):
                mobiles.append(mobile)
        lengths = sum(1 << length for length in metadata.general_desc.possible_length if length > 0)
        trunk = metadata.national_prefix or ""
        region_numbers += [ord(code[0]) - 65, ord(code[1]) - 65, metadata.country_code, int("1" + trunk)]
        region_numbers += [lengths, place(Automaton(patterns).tree()), len(own)]
        region_numbers += [b - a for a, b in zip([0] + own, own)]
    # The last "region" has the mobile numbers that are dialled without a prefix, of all regions that tell them from
    # others.
    region_numbers += [25, 24, 0, 1, 0, place(Automaton(mobiles).tree()), 0]
    shape_numbers = []
    for prefix, apart, *groups in shapes:
        shape_numbers += [int("1" + prefix), apart, len(groups)]
        for least, most, separator in groups:
            shape_numbers += [least, most - least, max(0, " -/.".find(separator)) if separator else 0]
    tables = [
        ("nodes", "The trees of first digits; each node is a mask of lengths or runs of children.", node_numbers),
        ("formats", "The ways to write a number: trunk prefix, and the groups.", shape_numbers),
        ("regionTable", "Regions: code, calling code, trunk prefix, lengths, tree and formats.", region_numbers),
    ]
    body = "\n".join(literal(*table) for table in tables)
    TARGET.write_text(
        f"// Generated by Scripts/generate-phone-plans.py from phonenumbers {PINNED}; do not edit.\n\n"
        f"extension NumberingPlans {{\n{body}}}\n"
    )
    print(len(nodes), "nodes,", len(shapes), "formats,", TARGET.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
