"""Questions and texts to measure on."""

from accuracy import records

from .models import ROOT

SHARED = ROOT.parent / "shared" / "data" / "squad_dev_visible.jsonl"
EXAMPLES = ROOT / "examples" / "documents"

# The first article of the Universal Declaration of Human Rights, public domain, for scripts other than Latin.
LANGUAGES = {
    "Chinese": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
    "Russian": "Все люди рождаются свободными и равными в своём достоинстве и правах. Они наделены разумом и "
    "совестью и должны поступать в отношении друг друга в духе братства. ",
    "Hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें बुद्धि और "
    "अन्तरात्मा की देन प्राप्त है और परस्पर उन्हें भाईचारे के भाव से बर्ताव करना चाहिए। ",
    "Arabic": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميرًا وعليهم أن يعامل "
    "بعضهم بعضًا بروح الإخاء. ",
}


def multilingual():
    """(language, paragraph) pairs of the data beside the checkout, if it is there."""
    path = ROOT.parent / "shared" / "data" / "multilingual.jsonl"
    if not path.exists():
        return []
    return [(record["language"], record["text"]) for record in records(path)]


def pairs(path=None):
    """(question, paragraph) pairs, and where they come from. `path`: one JSON object with "question" and
    "context" a line."""
    path = path or (SHARED if SHARED.exists() else None)
    if path:
        return [(row["question"], row["context"]) for row in records(path)], path.name
    questions = (
        "Who was it?",
        "When did it happen?",
        "Where did they land on the Moon?",
        "How many people were there?",
    )
    found = [
        p for file in sorted(EXAMPLES.glob("*.txt")) for p in file.read_text("utf-8").split("\n\n") if p.strip()
    ]
    return [(question, p) for p in found for question in questions], "examples/documents"


def spread(rows, count):
    """`count` of the rows, evenly spread; all if there are fewer."""
    count = min(count, len(rows))
    return [rows[i * len(rows) // count] for i in range(count)]


def paragraphs(pairs):
    return list(dict.fromkeys(paragraph for _, paragraph in pairs))


def windows(pairs, context, limit=384):
    """[CLS] question [SEP] paragraph [SEP] of each pair, cut to `limit` tokens: (ids, where the paragraph is)."""
    cls, sep = context.piece_id("[CLS]"), context.piece_id("[SEP]")
    result = []
    for question, paragraph in pairs:
        head = [cls, *list(context.tokenize(question).ids)[:64], sep]
        body = list(context.tokenize(paragraph).ids)[: limit - len(head) - 1]
        result.append(([*head, *body, sep], len(head)))
    return result


def window_of(length, pairs, context):
    """A window of exactly `length` tokens of real text."""
    question, _ = pairs[0]
    return windows([(question, " ".join(paragraphs(pairs)[:20]))], context, length)[0]


def document(pairs, characters=600_000):
    """About 200 pages of 3,000 characters: the paragraphs end to end, again from the start if need be."""
    found = paragraphs(pairs)
    text, index = [], 0
    while characters > 0:
        text.append(found[index % len(found)])
        characters -= len(text[-1]) + 2
        index += 1
    return "\n\n".join(text)
