"""Texts for the functions of all databases, with what they return."""

import bertqa

SPORT = "The team won the match after the striker scored two goals in the last minutes of the championship."
PERSONAL = "Zoë: ann@x.org, SSN 143-69-1724"
# Wrong arguments of bertqa_entities, and what the messages have.
WRONG_LABELS = [
    ("'a', ' , '", "commas"), ("'a'", "labels"), ("'a', 'b=7'", "thresholds"),
    ("'a', 'time=.5, time = .7'", "the labels have a name twice"),
]  # fmt: skip
# Further arguments of bertqa_redact, and PERSONAL without what they select.
REDACTIONS = [
    ((), "Zoë: [EMAIL], SSN 143-69-1724"),
    (("all,us",), "Zoë: [EMAIL], SSN [US_SSN]"),
    (("us", "mask"), "Zoë: ann@x.org, SSN ***-**-****"),
    (("us", "mask", 4), "Zoë: ann@x.org, SSN ***-**-1724"),
    (("us", "text", "x"), "Zoë: ann@x.org, SSN x"),
    (("all,us", "pseudonym"), "Zoë: [EMAIL_1], SSN [US_SSN_1]"),
    (("email", "hash", "k" * 16), bertqa.redact(PERSONAL, bertqa.patterns(PERSONAL, "email"), key=b"k" * 16)),
]
