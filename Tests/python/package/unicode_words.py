"""Words by another implementation of Unicode's word boundaries."""

from uniseg.wordbreak import WordBreak, word_break, words

EXTENDERS = {WordBreak.EXTEND, WordBreak.FORMAT, WordBreak.ZWJ}


def unicode_words(text):
    """The segments with a letter or digit, without soft hyphens and without connectors at their ends."""
    for segment in words(text):
        if not any(map(str.isalnum, segment)):
            continue
        kinds = [word_break(character) for character in segment]
        begin, end = 0, len(segment)
        if kinds[0] == WordBreak.EXTENDNUMLET:
            while kinds[begin] in {WordBreak.EXTENDNUMLET, *EXTENDERS}:
                begin += 1
        last = end - 1
        while kinds[last] in {WordBreak.EXTENDNUMLET, *EXTENDERS}:
            end = last if kinds[last] == WordBreak.EXTENDNUMLET else end
            last -= 1
        yield segment[begin:end].replace("\xad", "")
