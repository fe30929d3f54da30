"""Random texts of what rules look for: what holds for every text holds for these."""

import random

import pytest

import bertqa
from bertqa._entities import PATTERN_GROUPS, PATTERNS
from conftest import FEWER

ATOMS = [
    *",:;'\"?!*_#=~|<>[]{}\t\n\0",
    *("Tel.", "fax", "+49", "+1", "0049", "(0)", "(030)", "IBAN", "DE89", "GB", "card", "exp", "12/25", "ATU", "NHS", "2A", "756."),
    *("+44 20 7946", "0958", "4111 1111", "DE89 3704 0044", "0532 0130 00", "\n> ", "\n", " _", "_ "),
    *("http://", "https://www.", "mailto:", "@", "[at]", " dot ", "example", ".com", ".co.uk", "%20", "&#64;", "&#x40;"),
    *("31.12.1999", "born ", "May", "1st", "°", "′", "N", "E", "v1.2.3", "::", "fe80", "dead:beef", "aa-bb-cc", "0x", "bc1q"),
    *("$", "€", "USD", "5%", "km/h", "p.m.", "U.S.", "Mr.", "Fig.", "C:\\", "/etc/", "~/", "s3://", "foo.bar()", "std::", "x_y"),
    *("–", "\u2011", "\u00ad", "\u200b", "\u00a0", "\u202f", "\u2028", "\u2029", "\x85", "\r\n", "\n\n", "\ufeff", "\ufffd"),
    *("é", "e\u0301", "\u0301", "ß", "İ", "ı", "Σ", "漢", "ひ", "한", "ก", "ا", "١٢٣", "𝟘", "🙂", "👨\u200d👩", "🇩🇪", "the", "of"),
]  # fmt: skip
REGIONS = [None, ["DE"], ["US", "GB", "FR"], ["AR", "BR", "IN", "JP", "CN", "IT", "AT"]]


#: The edges of integers and doubles.
NUMBERS = [2**bits + more for bits in (7, 8, 15, 16, 31, 32, 53, 63, 64) for more in (-1, 0)]


def number(random):
    if random.random() < 0.2:
        return str(random.choice(NUMBERS))
    return "".join(random.choices("0123456789", k=random.choice([*range(1, 8), *range(1, 26), 40])))


def atom(random):
    kind = random.random()
    if kind < 0.4:
        return random.choice(ATOMS)
    if kind < 0.7:
        return random.choice(" -./()+")
    # Groups of digits, as in addresses, dates and telephone numbers.
    return random.choice(" -.:/").join(number(random) for _ in range(random.choice([1, 1, 2, 3, 4])))


def text(random):
    return "".join(atom(random) for _ in range(random.choice([1, 2, 3, 5, 8, 13, 21, 34])))


def places(entities, shift=0):
    return [(entity.label, entity.start + shift, entity.end + shift) for entity in entities]


seeds = pytest.mark.parametrize("seed", range(40 // FEWER))


@seeds
def test_patterns(seed):
    generator = random.Random(seed)
    for _ in range(1000):
        one, regions = text(generator), generator.choice(REGIONS)
        kinds = generator.choice([None, list(PATTERN_GROUPS), [generator.choice(list(PATTERNS))]])
        found = bertqa.patterns(one, kinds, regions=regions)
        edges = [edge for entity in found for edge in (entity.start, entity.end)]
        assert edges == sorted(edges) and edges[-1:] <= [len(one)], one
        in_bytes = bertqa.patterns(one.encode(), kinds, regions=regions)
        assert [one.encode()[entity.start : entity.end].decode() for entity in in_bytes] == [
            e.text for e in found
        ], one
        assert places(bertqa.patterns(f"\n\n{one}\n\n", kinds, regions=regions)) == places(found, 2), one

        pseudonyms = bertqa.Pseudonyms()
        assert pseudonyms.restore(bertqa.redact(one, found, pseudonyms=pseudonyms)) == one
        more = bertqa.everywhere(one, found)
        assert places(bertqa.everywhere(one, more)) == places(more), one


@seeds
def test_words(seed):
    generator = random.Random(seed)
    for _ in range(1000):
        one, other = text(generator), text(generator)
        both = bertqa.word_counts(f"{one}\n\n{other}", 1)
        assert both == bertqa.word_counts(one, 1) + bertqa.word_counts(other, 1), (one, other)


@seeds
def test_tokens_and_answers(seed, tiny):
    generator = random.Random(seed)
    for _ in range(300):
        one = text(generator)
        edges = [edge for offsets in tiny.tokenize(one).offsets for edge in offsets]
        assert edges == sorted(edges) and edges[-1:] <= [len(one)], one
        for answer in tiny.answer("Which number?", one, top_k=8).answers:
            (start, end), (first, last) = answer.byte_range, answer.utf16_range
            assert answer.text == one[answer.start : answer.end] == one.encode()[start:end].decode()
            assert answer.text == one.encode("utf-16-le")[2 * first : 2 * last].decode("utf-16-le")
            assert answer.text == answer.text.strip(), one
            # Only double-spaced text goes on behind a blank line.
            assert all(part.lstrip(" \t")[:1].islower() for part in answer.text.split("\n\n")[1:]), one
