"""Our tokenizer beside the Rust library's."""

import random

import text_cases


class Pair:
    """A Context, and the references: theirs[True] knows special tokens, theirs[False] reads them as text."""

    def __init__(self, ours, theirs):
        self.ours = ours
        self.theirs = theirs

    def compare(self, texts, special, *, pieces=False):
        """Checks ids and offsets of each text, and its pieces if requested; returns the number of texts. `texts`
        are str or bytes."""
        texts = list(texts)
        decoded = [text_cases.decode(text) if isinstance(text, bytes) else (text, None) for text in texts]
        encodings = self.theirs[special].encode_batch([text for text, _ in decoded], add_special_tokens=False)
        for text, (_, starts), theirs in zip(texts, decoded, encodings):
            ours = self.ours.tokenize(text, parse_special_tokens=special)
            expected = theirs.offsets
            if starts is not None:
                expected = [(starts[start], starts[end]) for start, end in expected]
            assert (ours.ids, ours.offsets) == (theirs.ids, expected), (text, theirs.tokens)
            assert starts is None or ours.byte_offsets == expected, text
            assert not pieces or ours.tokens == theirs.tokens, text
        return len(texts)


def mixed(seed, count, words):
    """Random texts with more of the characters that a tokenizer treats specially."""
    source = random.Random(seed)
    for text in text_cases.random_strings(seed, count):
        for _ in range(source.randint(0, 3)):
            position = source.randint(0, len(text))
            text = text[:position] + source.choice(words) + text[position:]
        yield text
