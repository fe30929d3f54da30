"""Texts to compare tokenizers on. Everything depends on the seed alone.

`languages()` are sentences; `edge_cases()` the corners of BERT's normalisation; `code_points()` puts
nearly every code point into contexts; `random_strings()` and `random_bytes()` mix what tends to go wrong; `fuzzed()` are
the fuzzer's.
"""

import codecs
import os
import pathlib
import random
import tarfile

# Ranges worth more than their share of the code space.
BLOCKS = [
    (0x00, 0x7F), (0x80, 0xFF), (0x100, 0x24F), (0x250, 0x36F), (0x370, 0x3FF), (0x400, 0x52F),
    (0x530, 0x5FF), (0x600, 0x6FF), (0x700, 0x8FF), (0x900, 0xDFF), (0xE00, 0xFFF), (0x1000, 0x11FF),
    (0x1200, 0x1CFF), (0x1D00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x2BFF), (0x2C00, 0x2FFF),
    (0x3000, 0x30FF), (0x3100, 0x4DFF), (0x4E00, 0x9FFF), (0xA000, 0xABFF), (0xAC00, 0xD7FF),
    (0xE000, 0xF8FF), (0xF900, 0xFAFF), (0xFB00, 0xFDFF), (0xFE00, 0xFFFF), (0x10000, 0x10FFF),
    (0x11000, 0x11FFF), (0x16E00, 0x16FFF), (0x1D000, 0x1D7FF), (0x1E000, 0x1E9FF),
    (0x1F000, 0x1FAFF), (0x20000, 0x323AF), (0xE0000, 0xE01EF), (0xF0000, 0x10FFFF),
]  # fmt: skip

# Combining characters of many classes, those that stay when accents are stripped included, and
# characters that decompose into them.
MARKS = [
    0x300, 0x301, 0x307, 0x308, 0x315, 0x31B, 0x323, 0x327, 0x328, 0x334, 0x338, 0x340, 0x344, 0x345,
    0x34F, 0x35C, 0x5B0, 0x5BF, 0x64B, 0x651, 0x670, 0x8D4, 0x8E1, 0x93C, 0x94D, 0x9BC, 0xE38, 0xE48,
    0xEB8, 0xF71, 0xF72, 0xF73, 0xF74, 0xF75, 0xF80, 0xF81, 0x1037, 0x1B44, 0x1BAA, 0x1BF2, 0x1DFB,
    0x20D0, 0x302A, 0x302E, 0x302F, 0x3099, 0x309A, 0xA953, 0xA9C0, 0x111C0, 0x1134D, 0x11C3F,
    0x16FF0, 0x1D15E, 0x1D160, 0x1D164, 0x1D165, 0x1D166, 0x1D167, 0x1D16D, 0x1D16E, 0x1D172,
    0x1D17B, 0x1D1BB, 0x1D1BF, 0x1E000, 0x1E02A, 0x1E8D0, 0x1E944, 0x1E94A,
]  # fmt: skip

# First and last characters of ranges, of sizes in UTF-8, and others with a rule of their own.
CORNERS = [
    0x00, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x1F, 0x20, 0x7F, 0x80, 0x85, 0x9F, 0xA0, 0xAD, 0xDF,
    0x130, 0x131, 0x149, 0x17F, 0x1C5, 0x1F0, 0x345, 0x37E, 0x387, 0x390, 0x3A3, 0x3C2, 0x600, 0x61C,
    0x7FF, 0x800, 0x10FB, 0x115F, 0x1680, 0x166D, 0x180E, 0x1AFF, 0x1E9E, 0x1FBC, 0x1FEF, 0x1FFF,
    0x2000, 0x200B, 0x200C, 0x200D, 0x200E, 0x2010, 0x2028, 0x2029, 0x202E, 0x202F, 0x205F, 0x2060,
    0x2126, 0x212A, 0x212B, 0x2260, 0x226E, 0x2329, 0x232A, 0x2E43, 0x3000, 0x3007, 0x33FF, 0x3400,
    0x4DBF, 0x4DC0, 0x4DFF, 0x4E00, 0x9FFF, 0xA000, 0xABFF, 0xAC00, 0xAC01, 0xAC1C, 0xD7A3, 0xD7A4,
    0xD7FF, 0xE000, 0xF8FF, 0xF900, 0xFAD9, 0xFAFF, 0xFB00, 0xFB01, 0xFB1D, 0xFB1E, 0xFDD0, 0xFE0F,
    0xFEFF, 0xFF01, 0xFF21, 0xFF5E, 0xFFA0, 0xFFFC, 0xFFFD, 0xFFFE, 0xFFFF, 0x10000, 0x10400, 0x1039F,
    0x118A0, 0x11938, 0x1D15F, 0x1E900, 0x1F600, 0x1F3FB, 0x1F468, 0x1FFFF, 0x20000, 0x2A6DF, 0x2A6E0,
    0x2A700, 0x2B73F, 0x2B740, 0x2B81F, 0x2B820, 0x2B91F, 0x2B920, 0x2CEAF, 0x2CEB0, 0x2F7FF, 0x2F800,
    0x2FA1F, 0x2FA20, 0xE0001, 0xE0100, 0xF0000, 0x10FFFD, 0x10FFFF,
]  # fmt: skip

SPECIAL = ["[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"]

WORDS = (
    SPECIAL
    + ["[mask]", "[CLS", "CLS]", "[[SEP]]", "[UNK][UNK]", "[PAD", "##s", "##", "[unused0]", "<s>"]
    + "the The and of Norman Normans in France unaffordable electroencephalograph 1066 3.14 U.S.A. "
    "don't naïve café CAFÉ Ångström İstanbul ISTANBUL ıI straße STRASSE ﬁnance ǅ ŉ Σίσυφος ΟΔΥΣΣΕΥΣ "
    "Москва́ Ёлка йод київ България ქართული Հայերեն שָׁלוֹם עברית العَرَبِيَّة السلام فارسی हिन्दी नमस्ते "
    "বাংলা தமிழ் తెలుగు ಕನ್ನಡ മലയാളം ไทย ภาษาไทย ລາວ မြန်မာ ខ្មែរ བོད་ཡིག አማርኛ 中文 漢字仮名 ひらがな がぎぐ "
    "カタカナ ｶﾞ 한국어 대한민국 ᄒᆞᆫ글 Tiếng Việt ǖǘǚǜ ṩ q̣̇ 𝒜𝓁𝓅𝒽𝒶 𝟙𝟚 👩‍👩‍👧‍👦 👍🏽 🇩🇪 ❤️ €100 ½ ² № ™ … “quoted” "
    "— – · ¿ ¡ 。、「」 ！？ ٪ ՞ ፡ ᠀ \u0085 \u00a0 \u2028 \u200d \u200b \ufeff".split(" ")
)

LANGUAGES = {
    "en": "The Normans were the people who in the 10th and 11th centuries gave their name to Normandy.",
    "de": "Süßes Öl fließt über die große Straße; „Übermäßig“ heißt: zu viel.",
    "fr": "L'été dernier, où étiez-vous ? À Nîmes, chez ma sœur aînée – c'était très agréable.",
    "es": "¿Dónde está el niño? ¡Mañana habrá más información sobre la niñez!",
    "pt": "A ação não é só uma questão de opinião; é também política pública.",
    "pl": "Zażółć gęślą jaźń – łódź, źdźbło, chrząszcz.",
    "cs": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "tr": "Işıl İzmir'den ıhlamur çayı aldı; ÇOK GÜZEL ŞEY.",
    "vi": "Tiếng Việt có thanh điệu: ngã, hỏi, sắc, huyền, nặng; Đường phố ở Hà Nội.",
    "ru": "Широкая электрификация южных губерний даст мощный толчок; ёжик, съёмка.",
    "uk": "Щастя й здоров'я: її ґанок, їжак, Європа.",
    "el": "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία· ΤΙ ΕΙΝΑΙ ΑΥΤΟ; ἀρχὴ ἥμισυ παντός.",
    "he": "שָׁלוֹם עוֹלָם, זוהי דוגמה בעברית ״עם גרשיים״.",
    "ar": "السَّلامُ عَلَيْكُم، هذه جملة باللغة العربية؛ هل تفهم؟ ١٢٣",
    "fa": "می‌خواهم کتاب‌ها را بخوانم؛ این یک جملهٔ فارسی است.",
    "ur": "یہ اردو کا ایک جملہ ہے۔",
    "hi": "हिन्दी विश्व की एक प्रमुख भाषा है। क्या आप इसे पढ़ सकते हैं?",
    "bn": "বাংলা ভাষা একটি ইন্দো-আর্য ভাষা, যা দক্ষিণ এশিয়ায় বলা হয়।",
    "ta": "தமிழ் மொழி தமிழர்களின் தாய்மொழி ஆகும்.",
    "te": "తెలుగు ఆంధ్ర, తెలంగాణ రాష్ట్రాల అధికార భాష.",
    "kn": "ಕನ್ನಡ ಭಾಷೆ ಕರ್ನಾಟಕದ ಅಧಿಕೃತ ಭಾಷೆ.",
    "ml": "മലയാളം കേരളത്തിലെ ഭാഷയാണ്.",
    "si": "සිංහල භාෂාව ශ්‍රී ලංකාවේ ප්‍රධාන භාෂාවකි.",
    "th": "ภาษาไทยเป็นภาษาราชการของประเทศไทย น้ำใจ",
    "lo": "ພາສາລາວເປັນພາສາທາງການ.",
    "km": "ភាសាខ្មែរជាភាសាផ្លូវការ។",
    "my": "မြန်မာဘာသာစကားသည် ရုံးသုံးဘာသာ ဖြစ်သည်။",
    "bo": "བོད་ཡིག་ནི་བོད་ཀྱི་སྐད་ཡིག་ཡིན།",
    "am": "አማርኛ የኢትዮጵያ የሥራ ቋንቋ ነው።",
    "ka": "ქართული ენა საქართველოს სახელმწიფო ენაა. ᲥᲐᲠᲗᲣᲚᲘ",
    "hy": "Հայերենը հնդեվրոպական լեզու է։",
    "zh": "中文是世界上使用人数最多的语言之一。漢語（現代標準漢語）：「你好」！2024年",
    "ja": "日本語は主に日本で話されている言語です。カタカナ、ひらがな、ガギグゲゴ、ｶﾞｷﾞ。",
    "ko": "한국어는 한반도에서 쓰이는 언어이다. 안녕하세요! 대한민국",
    "mn": "Монгол хэл ᠮᠣᠩᠭᠣᠯ ᠬᠡᠯᠡ",
    "chr": "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ꮳꮃꭹ",
    "ff": "𞤆𞤵𞤤𞤢𞤪 𞤀𞤣𞤤𞤢𞤥 𞤦𞤮𞥅𞤥",
    "jv": "ꦧꦱꦗꦮ ꦲꦏ꧀ꦱꦫ",
    "music": "\U0001d15e\U0001d16e \U0001d160\U0001d165 ♯♭",
    "emoji": "👩‍👩‍👧‍👦 family 👍🏽 thumbs 🇩🇪🇫🇷 ❤️‍🔥 #️⃣ 1️⃣",
    "math": "∀x∈ℝ: ⌈x⌉ ≠ −⌊−x⌋ ≮ 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ½ ℌ Ω Å",
}


def languages():
    """A sentence or two in each of many languages and scripts."""
    return list(LANGUAGES.values())


def edge_cases():
    """Texts that each test one rule."""
    yield from ["", " ", "\n\t\r ", "\0", "\ufffd", "a", "[UNK]", "##", "\u0301", "\u302e"]
    yield from SPECIAL
    for n in (1, 7, 8, 9, 14, 15, 16, 17, 31, 33, 99, 100, 101, 102, 400, 5000):
        for unit in ("a", "Z", "7", "é", "e\u0301", "я", "中", "한", "😀", "\0", "\u0301", "\u302e",
                     "x\u200d", "!", "[SEP]", "qz", "\U0001d160", "İ"):  # fmt: skip
            yield unit * n
            yield "pre " + unit * n + " post"
            yield unit * n + "a"
    for first in CORNERS:
        for text in ("a{}b", " {} ", "{}", "x{}\u0301y", "\u0301{}"):
            yield text.format(chr(first))
    for first in MARKS:
        for second in MARKS:
            yield "e" + chr(first) + chr(second) + "x" + chr(second) + "!" + chr(first)
    for word in WORDS:
        for text in ("{0}", "{0}{0}", "a{0}", "{0}a", "{0}\0{0}", "[{0}]", "{0}\u0301"):
            yield text.format(word)


# All code points of the planes in which Unicode has assigned any. Of other planes and private use, whose code points are
# alike, every 97th. And the last two of each plane, which are no characters.
CODE_POINTS = [
    *range(0xD800), *range(0xE000, 0x40000), *range(0x40000, 0xE0000, 97), *range(0xE0000, 0xE1000),
    *range(0xE1000, 0x110000, 97), *(plane << 16 | last for plane in range(4, 17) for last in (0xFFFE, 0xFFFF)),
]  # fmt: skip


def code_points(*contexts, step=1):
    """The code points in each context, a format string such as "a{}b"."""
    return (context.format(chr(c)) for c in CODE_POINTS[::step] for context in contexts)


def _character(random):
    kind = random.random()
    if kind < 0.25:
        return chr(random.choice(CORNERS))
    if kind < 0.4:
        return chr(random.choice(MARKS))
    if kind < 0.6:
        return chr(random.randrange(0x20, 0x7F))
    while True:
        c = random.randint(*random.choice(BLOCKS))
        if not 0xD800 <= c < 0xE000:
            return chr(c)


def random_string(random):
    """A string of characters, words and repetitions."""
    parts = []
    for _ in range(random.choice((1, 2, 3, 5, 8, 13, 30))):
        kind = random.random()
        if kind < 0.35:
            parts.append("".join(_character(random) for _ in range(random.randint(1, 8))))
        elif kind < 0.6:
            parts.append(random.choice(WORDS))
        elif kind < 0.75:
            parts.append(random.choice("   \t\n.,;-[]#'\u00a0\u3000"))
        elif kind < 0.85:
            base = random.choice("aeoqAI中か한я\U0001d15e!")
            marks = (chr(random.choice(MARKS)) for _ in range(random.randint(1, 7)))
            parts.append(base + "".join(marks))
        elif kind < 0.92:
            word = "".join(random.choice("abcdeilmnorstuxyzABCEZ0179") for _ in range(40))
            parts.append(word[: random.randint(1, 40)])
        elif kind < 0.97:
            sentence = random.choice(languages())
            begin = random.randrange(len(sentence))
            parts.append(sentence[begin : begin + random.randint(1, 40)])
        else:
            parts.append(_character(random) * random.choice((2, 17, 99, 100, 101, 130)))
    return "".join(parts)


def random_strings(seed, count):
    """`count` random strings."""
    source = random.Random(seed)
    for _ in range(count):
        yield random_string(source)


def random_bytes(seed, count):
    """`count` random byte strings: noise, cut or damaged UTF-8, and mixtures."""
    source = random.Random(seed)
    fragments = [
        b"\xc3", b"\xe2\x82", b"\xf0\x9f\x91", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80",
        b"\xe0\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xff", b"\x80", b"\xf0\x8f", b"\xef\xbf",
    ]  # fmt: skip
    alphabet = b"ab \x80\xbf\xc2\xcc\x81\xe0\xa0\xe4\xb8\xad\xed\x9f\xf0\x90\xf4\x8f"
    for _ in range(count):
        kind = source.random()
        if kind < 0.2:
            data = source.randbytes(source.randint(0, 60))
        elif kind < 0.4:
            data = bytes(source.choice(alphabet) for _ in range(source.randint(1, 40)))
        else:
            data = bytearray(random_string(source).encode())
            for _ in range(source.randint(1, 4)):
                position = source.randint(0, len(data))
                change = source.random()
                if change < 0.4:
                    data[position:position] = source.choice(fragments)
                elif change < 0.7:
                    del data[position : position + source.randint(1, 3)]
                elif position < len(data):
                    data[position] = source.randrange(256)
            data = bytes(data)
        yield data


def fuzzed():
    """The inputs that the fuzz target `tokenize` found, as bytes: the committed ones, and those in the directory
    BERTQA_FUZZED."""
    corpus = pathlib.Path(__file__).parents[1] / "fuzz" / "corpus"
    with tarfile.open(corpus / "tokenize.tar.xz") as archive:
        inputs = [archive.extractfile(member).read() for member in archive]
    directories = [corpus / "tokenize", *map(pathlib.Path, filter(None, [os.environ.get("BERTQA_FUZZED")]))]
    inputs += [path.read_bytes() for directory in directories for path in sorted(directory.glob("*"))]
    # The first byte is the target's options.
    return [data[1:] for data in inputs]


_sequences = {}


def _note_sequence(error):
    _sequences[error.start] = error.end
    return "\ufffd", error.end


codecs.register_error("note sequence", _note_sequence)


def decode(data):
    """The text with U+FFFD for invalid sequences, and the byte offset of each character."""
    _sequences.clear()
    text = data.decode("utf-8", "note sequence")
    starts = [0]
    for character in text:
        begin = starts[-1]
        starts.append(_sequences.get(begin, begin + len(character.encode())))
    return text, starts
