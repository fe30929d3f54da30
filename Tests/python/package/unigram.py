"""SentencePiece models trained here, and the tokenizers that Hugging Face's libraries make from them."""

import functools
import io
import json

import sentencepiece
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

import byte_pair

# How the models of each family number their special pieces.
TRAINING = {
    "xlm-roberta": dict(unk_id=0, bos_id=1, eos_id=2),
    "albert": dict(
        pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, control_symbols=["[CLS]", "[SEP]", "[MASK]"],
        user_defined_symbols=["(r)", "<user>"],
    ),
    "deberta": dict(
        pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]",
        unk_piece="[UNK]",
    ),
}  # fmt: skip
QUOTES = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
FOLD = [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
MARK = "▁"


@functools.cache
def model(family, size=30000):
    """The file that SentencePiece writes."""
    out = io.BytesIO()
    texts = (line for text in byte_pair.corpus() for line in text.splitlines() if line.strip())
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=texts, model_writer=out, vocab_size=size, hard_vocab_limit=False, model_type="unigram",
        num_threads=1, minloglevel=2, max_sentence_length=1 << 16, **TRAINING[family],
    )  # fmt: skip
    return out.getvalue()


def fields(message):
    """The fields of a protocol buffer: {number: [values]}; fields of fixed size as bytes."""
    found, position = {}, 0

    def integer():
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            position += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while position < len(message):
        key = integer()
        if key & 7 == 0:
            value = integer()
        else:
            size = {1: 8, 5: 4}.get(key & 7) or integer()
            value = message[position : position + size]
            position += size
        found.setdefault(key >> 3, []).append(value)
    return found


def charsmap(data):
    """The normalization rules of a model."""
    return fields(fields(data)[3][0])[2][0]


def pieces(data):
    """The pieces with their scores."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=data)
    return [(processor.id_to_piece(i), processor.get_score(i)) for i in range(processor.vocab_size())]


def metaspace(scheme="always", split=True):
    return pre_tokenizers.Metaspace(replacement=MARK, prepend_scheme=scheme, split=split)


def words(scheme="always"):
    return pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace(scheme)])


def make(vocabulary, unk, steps, cut, special, frame=None, byte_fallback=False):
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=unk, byte_fallback=byte_fallback))
    if steps:
        tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = cut
    tokenizer.add_special_tokens(special)
    if frame:
        cls, sep, between = frame
        ids = [(token, tokenizer.token_to_id(token)) for token in (cls, sep)]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{cls} $A {sep}", pair=f"{cls} $A {sep} {between}$B {sep}", special_tokens=ids
        )
    return tokenizer


def xlm_roberta(steps=None, cut=None):
    """As in transformers 5.23; `steps` and `cut` are those of its older converter."""
    data = model("xlm-roberta")
    vocabulary = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *pieces(data)[3:], ("<mask>", 0.0)]
    rules = [normalizers.Precompiled(charsmap(data))]
    special = ["<s>", "</s>", "<unk>", "<pad>", "<mask>"]
    return make(vocabulary, 3, rules + (steps or []), cut or words(), special, ("<s>", "</s>", "</s> "))


def camembert():
    data = model("xlm-roberta")
    vocabulary = [
        ("<s>NOTUSED", 0.0),
        ("<pad>", 0.0),
        ("</s>NOTUSED", 0.0),
        ("<unk>", 0.0),
        ("<unk>NOTUSED", -100.0),
    ]
    vocabulary += [*pieces(data)[1:], ("<mask>", 0.0)]
    special = ["<s>", "</s>", "<unk>", "<pad>", byte_pair.AddedToken("<mask>", lstrip=True, special=True)]
    rules = [normalizers.Precompiled(charsmap(data))]
    return make(vocabulary, 3, rules, words(), special, ("<s>", "</s>", "</s> "))


def albert(fold=FOLD, end=()):
    data = model("albert")
    steps = [*QUOTES, *fold, normalizers.Precompiled(charsmap(data)), *end]
    special = ["[CLS]", "[SEP]", "<unk>", "<pad>", "[MASK]"]
    tokenizer = make(pieces(data), 1, steps, words(), special, ("[CLS]", "[SEP]", ""))
    if not end:
        tokenizer.add_tokens(
            [byte_pair.AddedToken(t, normalized=False) for t in TRAINING["albert"]["user_defined_symbols"]]
        )
    return tokenizer


def deberta(lowercase=False, punctuation=False):
    steps = [
        normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " "),
        normalizers.NFC(),
        normalizers.Strip(left=False, right=True),
    ]
    cut = [pre_tokenizers.Punctuation("isolated")] if punctuation else []
    return _deberta([normalizers.Lowercase()] * lowercase + steps, pre_tokenizers.Sequence([*cut, metaspace()]))


def deberta_rules():
    """As older versions of transformers made it, with the model's own rules."""
    rules = normalizers.Precompiled(charsmap(model("deberta")))
    return _deberta([normalizers.Strip(), rules, normalizers.Replace(Regex(" {2,}"), " ")], metaspace())


def _deberta(steps, cut):
    special = ["[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]"]
    return make(pieces(model("deberta")), 3, steps, cut, special, ("[CLS]", "[SEP]", ""))


def byte_fallback():
    """Unknown characters in bytes, and no cut at spaces."""
    vocabulary = (
        [("<unk>", 0.0)] + [(f"<0x{byte:02X}>", -20.0) for byte in range(256)] + pieces(model("xlm-roberta"))[3:]
    )
    steps = [normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)]
    return make(vocabulary, 0, steps, None or metaspace("never", split=False), ["<unk>"], byte_fallback=True)


def equal_scores():
    """Ties, which the order of the search decides, and scores that join unknown characters to a piece."""
    letters = "▁abcdeéя中😀"
    vocabulary = [("<unk>", 0.0)] + [(letter, -1.0) for letter in letters[:8]]
    vocabulary += [(a + b, -2.0) for a in letters for b in letters]
    vocabulary += [(a + b + c, -3.0) for a in letters for b in letters for c in letters[:6]]
    vocabulary += [("xyxy", 50.0), ("aa", -1.5), ("zz", 100.0)]
    return make(vocabulary, 0, [], metaspace(), ["<unk>"])


def forms(name):
    """A form of Unicode before other steps."""
    steps = [getattr(normalizers, name)(), normalizers.Nmt()]
    scheme = {"NFC": "first", "NFD": "never", "NFKC": "always", "NFKD": "first"}[name]
    cut = words(scheme) if name == "NFKD" else metaspace(scheme)
    return make(pieces(model("xlm-roberta")), 0, steps, cut, ["<unk>", "<s>", "</s>"])


KINDS = {
    "xlm-roberta": xlm_roberta,
    "xlm-roberta-older": lambda: xlm_roberta(
        [normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), MARK)], metaspace()
    ),
    "camembert": camembert,
    "albert": albert,
    "albert-older": lambda: albert(end=[normalizers.Replace(Regex(" {2,}"), " ")]),
    "deberta": deberta,
    "deberta-older": deberta_rules,
    "byte-fallback": byte_fallback,
    "equal-scores": equal_scores,
    "nfc": lambda: forms("NFC"),
    "nfd": lambda: forms("NFD"),
    "nfkc": lambda: forms("NFKC"),
    "nfkd": lambda: forms("NFKD"),
}


def as_text(tokenizer):
    """The same, but the spelling of a special token is text: no text has its piece."""
    definition = json.loads(tokenizer.to_str())
    special = {token["content"] for token in definition["added_tokens"] if token["special"]}
    definition["added_tokens"] = [token for token in definition["added_tokens"] if not token["special"]]
    definition["post_processor"] = None
    for index, (piece, score) in enumerate(definition["model"]["vocab"]):
        if piece in special:
            definition["model"]["vocab"][index] = (f"\ue000{index}\ue001", score)
    return Tokenizer.from_str(json.dumps(definition))
