"""Counting the words of a text."""

import collections
from typing import TYPE_CHECKING, Counter, Optional

from . import _abi
from ._call import Call
from ._handle import Results
from ._native import library, text_at
from ._text import encoded
from ._value import Text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import CallOptions


def word_counts(
    text: Text,
    min_word_length: Optional[int] = None,
    max_ngram: Optional[int] = None,
    **options: "Unpack[CallOptions]",
) -> "Counter[str]":
    """Returns a text's words and counts, as word-count classifiers count them. The words are lower-cased and in the
    order of their first occurrence.

    A word is the text between two Unicode word boundaries if it has a letter or digit: "don't" is one word. Underscores
    and narrow no-break spaces at its ends are left out, and invisible characters such as soft hyphens.
    min_word_length: shorter words, in code points, are omitted, 1...255; default 3.
    max_ngram: 1: words; 2: also pairs of neighbouring words, joined by a space; default 1.
    options: see help(bertqa.CallOptions).
    """
    lib, data = library(), encoded(text)
    call = Call({**options, "min_word_length": min_word_length, "max_ngram": max_ngram}, _abi.WordCountsOptions())
    with Results(1, lib.word_count_list_free) as lists:
        call.check(lib.word_counts(data, len(data), call.pointer, lists))
        found = (lib.word_count_list_get(lists[0], index) for index in range(lib.word_count_list_count(lists[0])))
        counts: "Counter[str]" = collections.Counter()
        for pointer in found:
            word = pointer.contents
            counts[text_at(word.text, word.length)] = word.count
        return counts
