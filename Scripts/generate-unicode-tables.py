#!/usr/bin/env python3
"""Generates the files ...+Tables.swift and ...+Table.swift in Sources/BertQACore/Text.

Needs `pip install tokenizers==0.23.3 regex==2026.11.15`. The tables of UnicodeData, NormalizationData
and CharacterClass do not follow a Unicode version: the script passes every code point to the first
library, whose parts follow different versions, and records the results. WordBreak and GraphemeBreak
use properties of the second library; GraphemeBreak only those that the first one knows.

usage: Scripts/generate-unicode-tables.py   (writes the files in place)
"""

import pathlib
import struct
import unicodedata

import regex
import tokenizers
from swift_tables import literal
from tokenizers import Regex, normalizers, pre_tokenizers

PINNED = "0.23.3"
PINNED_REGEX = "2026.11.15"
DIRECTORY = pathlib.Path(__file__).resolve().parent.parent / "Sources/BertQACore/Text"
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]

# Class bits, as in UnicodeData.Properties.
REMOVED, WHITESPACE, CHINESE, NONSPACING_MARK, PUNCTUATION = 1, 2, 4, 8, 16


def bert_normalizer(**enabled):
    options = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**options, **enabled}).normalize_str


def hangul(c):
    """Returns the arithmetic decomposition of a Hangul syllable, which needs no table."""
    s = c - 0xAC00
    parts = [0x1100 + s // 588, 0x1161 + s % 588 // 28]
    return parts + [0x11A7 + s % 28] if s % 28 else parts


def probe_decompositions():
    nfd = normalizers.NFD().normalize_str
    found = {}
    for c in CODE_POINTS:
        parts = [ord(x) for x in nfd(chr(c))]
        if 0xAC00 <= c <= 0xD7A3:
            assert parts == hangul(c), hex(c)
        elif parts != [c]:
            found[c] = parts
    return found


def probe_combining_classes(decompositions):
    """Returns the combining classes, determined by the characters with which each one changes places."""
    nfd = normalizers.NFD().normalize_str

    def swaps(x, y):
        return nfd("a" + x + y) != "a" + nfd(x) + nfd(y)

    lowest, highest = "\u0334", "\u0345"  # classes 1 and 240
    assert swaps(highest, lowest)
    nonstarters = [
        c
        for c in CODE_POINTS
        if c not in decompositions
        and (chr(c) in lowest + highest or swaps(chr(c), lowest) or swaps(highest, chr(c)))
    ]
    references = {}
    for c in nonstarters:
        references.setdefault(unicodedata.combining(chr(c)), chr(c))
    references.pop(0, None)
    classes = {}
    for c in nonstarters:
        equal = [k for k, r in references.items() if not swaps(chr(c), r) and not swaps(r, chr(c))]
        assert len(equal) == 1, hex(c)
        classes[c] = equal[0]
    return classes


def probe_classes(decompositions):
    clean = bert_normalizer(clean_text=True)
    chinese = bert_normalizer(handle_chinese_chars=True)
    strip = bert_normalizer(strip_accents=True)
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    classes = {}
    for c in CODE_POINTS:
        x = chr(c)
        bits = 0
        cleaned = clean(x)
        if cleaned == "":
            bits |= REMOVED
        elif cleaned == " ":
            bits |= WHITESPACE
        else:
            assert cleaned == x, hex(c)
        if chinese(x) != x:
            assert chinese(x) == f" {x} ", hex(c)
            bits |= CHINESE
        if c not in decompositions and strip(x) == "":
            bits |= NONSPACING_MARK
        parts = len(split(f"a{x}a"))
        if parts == 3:
            bits |= PUNCTUATION
        elif parts == 2:
            # Cleaning has already removed or replaced the characters on which the pre-tokenizer splits.
            assert bits & (REMOVED | WHITESPACE), hex(c)
        if bits:
            classes[c] = bits
    return classes


def probe_lowercase():
    lower = bert_normalizer(lowercase=True)
    found = {c: [ord(x) for x in lower(chr(c))] for c in CODE_POINTS if lower(chr(c)) != chr(c)}
    # NormalizationTable spells out the one expansion.
    assert found[0x130] == [0x69, 0x307]
    found[0x130] = [0x69]
    assert all(len(parts) == 1 for parts in found.values())
    return {c: parts[0] for c, parts in found.items()}


def probe_compatibility(decompositions):
    """Returns the compatibility decompositions that differ from the canonical ones."""
    nfkd = normalizers.NFKD().normalize_str
    found = {c: [ord(x) for x in nfkd(chr(c))] for c in CODE_POINTS}
    return {
        c: parts for c, parts in found.items() if parts != decompositions.get(c, [c]) and not 0xAC00 <= c <= 0xD7A3
    }


def probe_compositions(decompositions):
    """Returns {character: (first, second)} for characters composed of two, except Hangul."""
    nfc = normalizers.NFC().normalize_str
    found = {}
    for c, parts in decompositions.items():
        if nfc(chr(c)) == chr(c):
            first, second = nfc("".join(map(chr, parts[:-1]))), chr(parts[-1])
            assert len(first) == 1 and nfc(first + second) == chr(c), hex(c)
            found[c] = (ord(first), parts[-1])
    return found


def check_assumptions(classes, combining, decompositions, lowercase):
    """Checks the assumptions of the Swift code."""

    def bits(c):
        return classes.get(c, 0)

    strip = bert_normalizer(strip_accents=True)
    for c, parts in decompositions.items():
        kept = [p for p in parts if not bits(p) & NONSPACING_MARK]
        assert strip(chr(c)) == "".join(map(chr, kept)), hex(c)
        assert len(kept) <= len(chr(c).encode()) and len(kept) <= 7
        assert len(kept) == 1 or not any(bits(p) for p in kept)
        if not bits(c) & (REMOVED | WHITESPACE):
            assert not any(bits(p) & (REMOVED | WHITESPACE) for p in parts)
        # A kept non-starter that is not the first of its decomposition follows a starter.
        if parts[0] in combining:
            assert not kept, hex(c)
    for c in combining:
        if not bits(c) & NONSPACING_MARK:
            assert bits(c) in (0, REMOVED) and c not in lowercase, hex(c)
    for c in lowercase.values():
        assert bits(c) == 0, hex(c)
    for c in list(range(0xAC00, 0xD7A4)) + list(range(0x1100, 0x1200)) + [0x307]:
        assert bits(c) & ~NONSPACING_MARK == 0 and c not in lowercase, hex(c)
    for c in range(0x80):
        assert c not in decompositions and c not in combining
        assert chr(c).isalnum() or bits(c)


# Bits of CharacterClass: the classes of the regular expressions of Split and of other pre-tokenizers.
(LETTER, NUMBER, SPACE, MARK, UPPER, LOWER, DIGIT, WORD, NUMERIC, PUNCTUATION_MARK, ACCENT, REGEX_WORD,
 REGEX_PUNCTUATION, ASCII_DIGIT) = (1 << bit for bit in range(14))  # fmt: skip
PATTERNS = {
    LETTER: r"\p{L}",
    NUMBER: r"\p{N}",
    SPACE: r"\s",
    MARK: r"\p{M}",
    UPPER: r"[\p{Lu}\p{Lt}]",
    LOWER: r"\p{Ll}",
    DIGIT: r"\d",
    REGEX_WORD: r"\w",
    REGEX_PUNCTUATION: r"\p{P}",
    ASCII_DIGIT: "[0-9]",
}


def probe_character_classes():
    every = "".join(map(chr, CODE_POINTS))
    classes = dict.fromkeys(CODE_POINTS, 0)
    for bit, pattern in PATTERNS.items():
        kept = set()
        for _, (begin, end) in pre_tokenizers.Split(Regex(pattern), "removed").pre_tokenize_str(every):
            kept.update(CODE_POINTS[begin:end])
        for c in CODE_POINTS:
            if c not in kept:
                classes[c] |= bit
    whitespace = pre_tokenizers.Whitespace().pre_tokenize_str
    whitespace_split = pre_tokenizers.WhitespaceSplit().pre_tokenize_str
    digits = pre_tokenizers.Digits().pre_tokenize_str
    punctuation = pre_tokenizers.Punctuation().pre_tokenize_str
    strip_accents = normalizers.StripAccents().normalize_str
    for c in CODE_POINTS:
        text = f"a{chr(c)}a"
        # All of them agree on white space: both kinds of regular expressions and the standard library.
        assert (len(whitespace(text)) == 2) == (len(whitespace_split(text)) == 2) == bool(classes[c] & SPACE)
        if len(whitespace(text)) == 1:
            classes[c] |= WORD
        if len(digits(text)) == 3:
            classes[c] |= NUMERIC
        if len(punctuation(text)) == 3:
            classes[c] |= PUNCTUATION_MARK
        if strip_accents(text) != text:
            classes[c] |= ACCENT
    return {c: bits for c, bits in classes.items() if bits}


# Values of WordBreak by the names of the property's values; a letter or digit without one is 1.
WORD_BREAK = {
    "Extend": 2,
    "Format": 2,
    "ZWJ": 2,
    "Katakana": 3,
    "Hebrew_Letter": 4,
    "ALetter": 5,
    "Numeric": 6,
    "ExtendNumLet": 7,
    "Single_Quote": 8,
    "Double_Quote": 9,
    "MidNumLet": 10,
    "MidLetter": 11,
    "MidNum": 12,
}


def word_break_classes():
    every = "".join(map(chr, CODE_POINTS))
    classes = {ord(x): 1 for x in regex.findall(r"[\p{L}\p{N}]", every)}
    for name, value in WORD_BREAK.items():
        classes.update((ord(x), value) for x in regex.findall(rf"\p{{Word_Break={name}}}", every))
    return classes


# Values of GraphemeBreak by property names: the class, and in the higher bits the role in Indic conjuncts. Hangul
# syllables are computed.
GRAPHEME_BREAK = {
    "Grapheme_Cluster_Break=Extend": 1,
    "Grapheme_Cluster_Break=ZWJ": 2,
    "Grapheme_Cluster_Break=SpacingMark": 3,
    "Grapheme_Cluster_Break=Prepend": 4,
    "Grapheme_Cluster_Break=Regional_Indicator": 5,
    "Extended_Pictographic": 6,
    "Grapheme_Cluster_Break=Control": 7,
    "Grapheme_Cluster_Break=CR": 8,
    "Grapheme_Cluster_Break=LF": 9,
    "Grapheme_Cluster_Break=L": 10,
    "Grapheme_Cluster_Break=V": 11,
    "Grapheme_Cluster_Break=T": 12,
    "Indic_Conjunct_Break=Consonant": 16,
    "Indic_Conjunct_Break=Linker": 32,
    "Indic_Conjunct_Break=Extend": 48,
}


def cluster_normalizer():
    """Replaces each cluster of less than six bytes, and each character of other clusters, by "X"."""
    nodes = [0] * 768
    nodes[0] = 256 << 10  # children of the root
    for byte in [0x61] + list(range(0xC2, 0xF5)):
        place = 256 ^ byte
        nodes[place] = byte | 1 << 8 | (place ^ 512 + byte) << 10
        nodes[512 + byte] = 1 << 31
    trie = struct.pack(f"<{len(nodes)}I", *nodes)
    return normalizers.Precompiled(struct.pack("<I", len(trie)) + trie + b"X\0").normalize_str


def grapheme_break_classes():
    every = "".join(map(chr, CODE_POINTS))
    classes = {}
    for name, value in GRAPHEME_BREAK.items():
        for x in regex.findall(rf"\p{{{name}}}", every):
            before = classes.get(ord(x), 0)
            assert before & (15 if value < 16 else 48) == 0, hex(ord(x))
            classes[ord(x)] = before + value
    # The Unicode versions differ.
    clusters = cluster_normalizer()
    for c in CODE_POINTS[0x80:]:
        if classes.get(c, 0) in (0, 6):
            classes[c] = 6 if clusters("©\u200d" + chr(c)) == "XXX" else 0
    for c, value in classes.items():
        x = chr(c)
        if value & 15 in (1, 2, 3) and clusters("a" + x) != "X":
            value = 0
        elif value & 15 == 4 and clusters(x + "a") != "X":
            value = 0
        if value & 48 == 16 and clusters(f"क\u094d{x}\u0301") != "XXXX":
            value &= 15
        elif value & 48 == 32 and clusters(f"क{x}क\u0301") != "XXXX":
            value &= 15
        classes[c] = value
    return {c: value for c, value in classes.items() if value}


def runs(values):
    """Returns the runs [(first, length, value)] of a dict from code points."""
    result = []
    for c in sorted(values):
        if result and c == result[-1][0] + result[-1][1] and values[c] == result[-1][2]:
            result[-1][1] += 1
        else:
            result.append([c, 1, values[c]])
    return result


def zigzag(n):
    return n << 1 if n >= 0 else (-n << 1) - 1


def run_numbers(values):
    """Encodes each run as the gap from the end of the previous run, its length, and its value."""
    numbers, end = [], 0
    for first, length, value in runs(values):
        numbers += [first - end, length, value]
        end = first + length
    return numbers


def decomposition_numbers(decompositions):
    """Encodes the gap from the previous code point, the count, and each part as the difference from the
    previous part."""
    numbers, previous, base = [], 0, 0
    for c in sorted(decompositions):
        parts = decompositions[c]
        numbers += [c - previous, len(parts)]
        previous = c
        for position, part in enumerate(parts):
            numbers.append(zigzag(part - (base if position == 0 else parts[position - 1])))
        base = parts[0]
    return numbers


def composition_numbers(compositions):
    """Encodes the gap from the previous character, and both parts as differences from it and from the previous
    parts."""
    numbers, previous, last = [], 0, 0
    for c in sorted(compositions):
        first, second = compositions[c]
        numbers += [c - previous, zigzag(first - c), zigzag(second - last)]
        previous, last = c, second
    return numbers


def main():
    assert tokenizers.__version__ == PINNED, f"needs tokenizers {PINNED}"
    decompositions = probe_decompositions()
    combining = probe_combining_classes(decompositions)
    classes = probe_classes(decompositions)
    lowercase = probe_lowercase()
    check_assumptions(classes, combining, decompositions, lowercase)
    tables = [
        ("classRuns", "Runs of code points of equal class bits.", run_numbers(classes)),
        ("combiningClassRuns", "Runs of equal combining classes.", run_numbers(combining)),
        (
            "lowercaseRuns",
            "Runs of equal zigzag distance to the lower-case letter.",
            run_numbers({c: zigzag(low - c) for c, low in lowercase.items()}),
        ),
        (
            "decompositions",
            "Canonical decompositions without Hangul.",
            decomposition_numbers(decompositions),
        ),
    ]
    write(
        "Unicode/UnicodeData+Tables.swift",
        f"tokenizers {PINNED}",
        "/// Sequences of numbers as printable characters; `VariableLengthReader` reads them.\n"
        "extension UnicodeData",
        tables,
    )
    write(
        "Unicode/CharacterClass+Table.swift",
        f"tokenizers {PINNED}",
        "extension CharacterClass",
        [
            (
                "runs",
                "Runs of code points of equal bits, for `VariableLengthReader`.",
                run_numbers(probe_character_classes()),
            )
        ],
    )
    write(
        "Normalization/NormalizationData+Tables.swift",
        f"tokenizers {PINNED}",
        "extension NormalizationData",
        [
            (
                "compatibilityDecompositions",
                "Compatibility decompositions that are not canonical ones.",
                decomposition_numbers(probe_compatibility(decompositions)),
            ),
            (
                "compositions",
                "Characters and the two that compose to them, without Hangul.",
                composition_numbers(probe_compositions(decompositions)),
            ),
        ],
    )
    assert regex.__version__ == PINNED_REGEX, f"needs regex {PINNED_REGEX}"
    numbers = run_numbers(word_break_classes())
    write(
        "Words/WordBreak+Table.swift",
        f"regex {PINNED_REGEX}, Unicode 17",
        "extension WordBreak",
        [("runs", "Runs of code points of equal value, for `VariableLengthReader`.", numbers)],
    )
    write(
        "Unicode/GraphemeBreak+Table.swift",
        f"regex {PINNED_REGEX} and tokenizers {PINNED}",
        "extension GraphemeBreak",
        [
            (
                "runs",
                "Runs of code points of equal value, for `VariableLengthReader`.",
                run_numbers(grapheme_break_classes()),
            )
        ],
    )


def write(name, source, declaration, tables):
    body = "\n".join(literal(*table) for table in tables)
    (DIRECTORY / name).write_text(
        f"// Generated by Scripts/generate-unicode-tables.py from {source}; do not edit.\n\n"
        f"{declaration} {{\n{body}}}\n"
    )


if __name__ == "__main__":
    main()
