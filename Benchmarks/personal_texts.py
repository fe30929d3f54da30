"""Texts with personal data whose places are known, and texts without any, for personal_data.py."""

import random
import unicodedata

import phonenumbers
from faker import Faker
from phonenumbers import PhoneNumberFormat as Format

LOCALES = """ar_SA cs_CZ da_DK de_AT de_CH de_DE en_GB en_IN en_US es_ES es_MX fi_FI fr_FR hi_IN hu_HU it_IT ja_JP ko_KR
    nl_NL no_NO pl_PL pt_BR sv_SE tr_TR zh_CN""".split()
VALUES_PER_LOCALE = 20

FORMS = """{}
{}.
({})
"{}"
[{}]
My details: {}
Please use {} from now on.
Please note {}, thank you.
It was {}; nothing else.
Contact {name} ({}) in {city}.
{name}, {}
{name}: {}
{name} <{}>
{name};{};{city}
{name},{},{city}
| {name} | {} | {city} |
{name}\t{}\t{city}
<td>{}</td><td>{city}</td>
{{"name": "{name}", "value": "{}"}}
value={}
user={name} value={} status=ok
2026-05-01T12:00:01Z INFO [worker-3] got {} from client
May  1 12:00:01 host app[4711]: value {} accepted
> {}
> On Monday {name} wrote: {}
- {}
* {} ({city})
hey, it's {} lol
ok so {}!!! thx
did you mean {}?
Is it {} or not?
Kind regards\\n{name}\\n{}\\n{city}
Dear {name},\\n\\nwe have {} on file.\\n
Unsere Angaben: {} - bitte prüfen
Nos données : {} ; merci
Mis datos: {}, gracias
{name} と {} です
{}/{city}
--{}--
…{}…""".split("\n")

# How a text can differ from what was typed.
CHANGES = {
    "as typed": lambda text: text,
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "narrow spaces, hyphens": lambda text: text.replace(" ", "\u202f").replace("-", "\u2011"),
    "double spaces": lambda text: text.replace(" ", "  "),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "full width": lambda text: "".join(chr(ord(c) + 0xFEE0) if c.isdigit() else c for c in text),
}


def card(fake, chance):
    number = fake.credit_card_number()
    return in_fours(number, chance) if len(number) == 16 else number


def iban(fake, chance):
    return in_fours(fake.iban(), chance)


def in_fours(number, chance):
    return number if chance.random() < 0.5 else " ".join(number[i : i + 4] for i in range(0, len(number), 4))


VALUES = {
    "EMAIL": lambda fake, chance: chance.choice([fake.email, fake.ascii_company_email])(),
    "CARD": card,
    "IBAN": iban,
    "IPv4": lambda fake, chance: fake.ipv4(),
    "IPv6": lambda fake, chance: fake.ipv6(),
    "URL": lambda fake, chance: fake.uri(),
    "PHONE as written": lambda fake, chance: fake.phone_number(),
}


def negatives(chance):
    """240 texts without personal data."""

    def digits(count):
        return "".join(chance.choice("0123456789") for _ in range(count))

    def isbn13():
        body = "978" + digits(9)
        return body + str(-sum(int(c) * (3 if i % 2 else 1) for i, c in enumerate(body)) % 10)

    def number(low, high):
        return chance.randint(low, high)

    makers = [
        lambda: f"Version {number(1, 9)}.{number(0, 20)}.{number(0, 9)}.{number(0, 9)} fixes this",
        lambda: f"## {number(1, 9)}.{number(0, 20)}.{number(0, 9)}.{number(0, 9)} (2013-0{number(1, 9)}-11)",
        lambda: f"numpy=={number(1, 9)}.{number(0, 99)}.{number(0, 9)} needs gcc {number(4, 14)}.{number(0, 9)}",
        lambda: f"ISBN {isbn13()}",
        lambda: f"ISBN 978-3-{digits(2)}-{digits(6)}-{digits(1)}, 2. Auflage",
        lambda: (
            f"2026-0{number(1, 9)}-1{digits(1)} 1{digits(1)}:{number(10, 59)}:{number(10, 59)}.{digits(3)} started"
        ),
        lambda: f"created_at: 17{digits(8)}, updated_at: 17{digits(11)}",
        lambda: f"1{digits(1)}.0{number(1, 9)}.202{digits(1)} 1{digits(1)}:{number(10, 59)} Uhr",
        lambda: f"Order {digits(10)} has shipped",
        lambda: f"order no. {digits(3)}-{digits(7)}-{digits(7)}",
        lambda: f"Invoice 2026-{digits(5)}, case #{digits(8)}",
        lambda: "sha256 " + "".join(chance.choice("0123456789abcdef") for _ in range(64)),
        lambda: "commit " + "".join(chance.choice("0123456789abcdef") for _ in range(40)),
        lambda: f"{'-'.join(digits(n) for n in (8, 4, 4, 4, 12))} is its UUID",
        lambda: f"The price is {number(1, 9)} {digits(3)} {digits(3)},{digits(2)} €",
        lambda: f"${number(1, 999)},{digits(3)},{digits(3)}.{digits(2)} in total",
        lambda: f"EUR {number(1, 99)}.{digits(3)}.{digits(3)},{digits(2)} Umsatz",
        lambda: f"{number(1, 89)}.{digits(6)}, -{number(1, 179)}.{digits(6)}",
        lambda: f"lat={number(1, 89)}.{digits(7)} lon={number(1, 179)}.{digits(7)}",
        lambda: f"for (i = {number(0, 9)}; i < {digits(7)}; i += {number(1, 99)}) x[{digits(3)}] = 0x{digits(8)};",
        lambda: f"std::vector<int> v({digits(4)}); a::b(); x = {digits(5)} - {digits(5)};",
        lambda: (
            f"pages {number(100, 400)}-{number(401, 999)}, vol. {number(1, 99)}({number(1, 12)}), 20{digits(2)}"
        ),
        lambda: f"{number(100, 999)} x {number(100, 999)} x {number(100, 999)} mm, {number(1000, 9999)} W",
        lambda: f"{number(1, 9)} {digits(3)} {digits(3)} people, {number(10, 99)} {digits(3)} km²",
    ]
    return [makers[index % len(makers)]() for index in range(240)]


def places(form, value, fake):
    """A text with the value, and the value's place."""
    head, tail = form.replace("\\n", "\n").replace("{{", "\0").replace("}}", "\1").split("{}")

    def filled(part):
        part = part.replace("{name}", fake.first_name()).replace("{city}", fake.city())
        return part.replace("\0", "{").replace("\1", "}")

    return filled(head), value, filled(tail)


def samples(seed):
    """Yields (kind, region, text, start, end)."""
    chance = random.Random(seed)
    for locale in LOCALES:
        fake = Faker(locale)
        fake.seed_instance(seed)
        for kind, make in VALUES.items():
            for _ in range(VALUES_PER_LOCALE):
                yield sample(kind, locale[-2:], make(fake, chance), fake, chance)
    fake = Faker("en_US")
    fake.seed_instance(seed)
    for region in sorted(phonenumbers.SUPPORTED_REGIONS):
        for kind in range(11):
            number = phonenumbers.example_number_for_type(region, kind)
            if number is None or not phonenumbers.is_valid_number(number):
                continue
            for name, form in (("E.164", Format.E164), ("international", Format.INTERNATIONAL)):
                value = phonenumbers.format_number(number, form)
                yield sample(f"PHONE {name}", region, value, fake, chance)
            if kind in (0, 1, 2):
                value = phonenumbers.format_number(number, Format.NATIONAL)
                yield sample("PHONE national", region, value, fake, chance)


def sample(kind, region, value, fake, chance):
    change = chance.choice(list(CHANGES.values())) if chance.random() < 0.4 else CHANGES["as typed"]
    # Full-width digits and white space are not parts of mail and web addresses.
    if kind in ("EMAIL", "URL", "IPv4", "IPv6") and change("a 1") != "a 1":
        change = CHANGES["as typed"]
    head, value, tail = (change(part) for part in places(chance.choice(FORMS), value, fake))
    return kind, region, head + value + tail, len(head), len(head) + len(value)
