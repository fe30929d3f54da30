#!/usr/bin/env python3
"""Names of persons, places and companies of many countries, as finetune_entities.py --values reads them.

usage: country_names.py > values.jsonl       (needs mimesis==22.2.0)
"""

import json
import random

from mimesis import Address, Finance, Person
from mimesis.locales import Locale

# The family name is first, without a space or with one.
FAMILY_FIRST = {"zh", "ja", "ko"}
NAMES = 600
# There are twelve locales of Arabic.
NAMES_OF_ARABIC = 60


def main():
    draw = random.Random(4)
    found = []
    for locale in Locale:
        language = locale.value.split("-")[0]
        person, address, finance = Person(locale, seed=1), Address(locale, seed=1), Finance(locale, seed=1)
        count = NAMES_OF_ARABIC if language == "ar" else NAMES
        persons = [written(person.first_name(), person.last_name(), language, draw) for _ in range(count)]
        places = [address.city().strip() for _ in range(count // 2)]
        found += [("person", name) for name in dict.fromkeys(persons)]
        companies = [finance.company().strip() for _ in range(count // 2)]
        found += [("location", name) for name in dict.fromkeys(places)]
        found += [("organisation", name) for name in dict.fromkeys(companies)]
    draw.shuffle(found)
    for label, text in found:
        print(json.dumps({"label": label, "text": text}, ensure_ascii=False))


def written(first, last, language, draw):
    """A name as texts have it: most often whole."""
    kind = draw.random()
    if language in FAMILY_FIRST:
        return last + (" " if kind < 0.3 else "") + first
    if kind < 0.12:
        return last
    if kind < 0.22:
        return first
    if kind < 0.28:
        return f"{first[0]}. {last}"
    return f"{last} {first}" if language == "hu" and kind < 0.65 else f"{first} {last}"


if __name__ == "__main__":
    main()
