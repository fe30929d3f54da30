"""Which windows are trained on in which step: every prefix of the order has the sources in the same proportions."""

import math
import random
from typing import Dict, List, Sequence


def source_weights(pairs: Sequence[str], sources: Sequence[str]) -> Dict[str, float]:
    """{source: weight} of --weight SOURCE=W. SystemExit if that is something else, or a source is not among `sources`."""
    weights = {}
    for pair in pairs:
        source, _, weight = pair.rpartition("=")
        try:
            weights[source] = float(weight)
            if not 0 <= weights[source] < math.inf:
                raise ValueError
        except ValueError:
            raise SystemExit(f"--weight: {pair} is not SOURCE=W") from None
    unknown = set(weights) - set(sources)
    if unknown:
        raise SystemExit(f"--weight: no such source: {', '.join(sorted(unknown))}")
    return weights


def balanced_order(sources: Sequence[str], weights: Dict[str, float], passes: float, seed: int) -> List[int]:
    """Indices of `sources`, each source spread evenly over the whole.

    weights: how often a source is read in one pass, 1 if it is missing; the halves of a weight of 1.5 differ
    from pass to pass. Training may stop at any step without having left out a source.
    """
    generator = random.Random(seed)
    members: Dict[str, List[int]] = {}
    for index, source in enumerate(sources):
        members.setdefault(source, []).append(index)
    keyed = []
    for source in sorted(members):
        indices = members[source]
        count = round(len(indices) * weights.get(source, 1.0) * passes)
        drawn: List[int] = []
        while len(drawn) < count:
            generator.shuffle(indices)
            drawn += indices
        keyed += [((place + generator.random()) / count, index) for place, index in enumerate(drawn[:count])]
    if not keyed:
        raise SystemExit("--passes and --weight leave nothing to read")
    keyed.sort()
    return [index for _, index in keyed]


def padded_length(length: int, multiple: int) -> int:
    """`length` rounded up to a multiple."""
    return -(-length // multiple) * multiple


def token_batches(
    order: Sequence[int], lengths: Sequence[int], tokens: int, multiple: int, seed: int, pool: int = 32
) -> List[List[int]]:
    """Batches of windows of about one length, at most `tokens` tokens each with their padding.

    The windows of `pool` batches are sorted by length and cut, then these batches shuffled: the order stays the
    order of `order` on that scale.
    """
    generator = random.Random(seed)
    batches: List[List[int]] = []
    place = 0
    while place < len(order):
        taken: List[int] = []
        total = 0
        while place < len(order) and total < pool * tokens:
            taken.append(order[place])
            total += padded_length(lengths[order[place]], multiple)
            place += 1
        generator.shuffle(taken)
        taken.sort(key=lambda index: lengths[index])
        cut: List[List[int]] = []
        batch: List[int] = []
        for index in taken:
            length = padded_length(lengths[index], multiple)
            if batch and length * (len(batch) + 1) > tokens:
                cut.append(batch)
                batch = []
            batch.append(index)
        cut.append(batch)
        generator.shuffle(cut)
        batches += cut
    return batches


def packed_batches(order: Sequence[int], lengths: Sequence[int], tokens: int) -> List[List[int]]:
    """Batches of windows as they come, at most `tokens` tokens each: for arithmetic without padding."""
    batches: List[List[int]] = []
    room = 0
    for index in order:
        if not batches or lengths[index] > room:
            batches.append([])
            room = tokens
        batches[-1].append(index)
        room -= lengths[index]
    return batches


def interleaved(lists: Sequence[List]) -> List:
    """The elements of all lists in their order, each list spread evenly over the whole."""
    keyed = [
        ((place + 0.5) / len(part), which, place) for which, part in enumerate(lists) for place in range(len(part))
    ]
    return [lists[which][place] for _, which, place in sorted(keyed)]


def padding_share(batches: Sequence[Sequence[int]], lengths: Sequence[int], multiple: int) -> float:
    """The share of the tokens computed that are padding."""
    real = padded = 0
    for batch in batches:
        longest = padded_length(max(lengths[index] for index in batch), multiple)
        real += sum(lengths[index] for index in batch)
        padded += longest * len(batch)
    return 1 - real / padded
