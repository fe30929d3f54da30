"""Labeler: labels given by examples."""

import ctypes
from typing import TYPE_CHECKING, Iterable, List, Mapping, Tuple, Union

from . import _native
from ._classify import classification, text_pairs
from ._embed import EmbedMethods, embed_options
from ._handle import Closable, Handle, Results
from ._native import check, initialized, library
from ._text import encoded
from ._types import Classification, Text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import EmbedOptions


class Labeler(Closable):
    """Classifies by the nearest label in the space of an embedding model, without training.

        labeler = bertqa.Labeler(context, {"sport": "a text about sport", "money": ["shares fell", "a loan"]})
        labeler.classify("The match ended in a draw.").label

    context: of an embedding model; it may be closed afterwards.
    examples: for each label a text that names it, or texts that it suits.
    scale: logit = scale * cosine of the angle between text and label.
    options: see EmbedOptions; vectors are always scaled to length 1.
    """

    def __init__(
        self,
        context: EmbedMethods,
        examples: "Mapping[str, Union[Text, Iterable[Text]]]",
        *,
        scale: float = 20,
        **options: "Unpack[EmbedOptions]",
    ):
        owner, lib = context._opened(), library()
        data = [
            (encoded(text), encoded(label))
            for label, texts in examples.items()
            for text in ([texts] if isinstance(texts, (str, bytes)) else texts)
        ]
        array = (_native.Example * len(data))(
            *[_native.Example(text, len(text), label, len(label)) for text, label in data]
        )
        call = embed_options(dict(options))
        struct = initialized(_native.LabelerOptions(), lib.labeler_options_init)
        struct.scale = scale
        struct.embed = ctypes.pointer(call.struct)
        pointer = ctypes.c_void_p()
        status = lib.labeler_create(
            owner.pointer, array, len(data), ctypes.byref(struct), ctypes.byref(pointer)
        )
        handle = Handle(pointer, lib.labeler_free)
        call.check(status)
        self._handle = handle

    def classify(self, text: "Union[Text, Tuple[Text, Text]]") -> Classification:
        """Classifies a text of any length."""
        return self.classify_batch([text])[0]

    def classify_batch(self, texts: "Iterable[Union[Text, Tuple[Text, Text]]]") -> List[Classification]:
        """Classifies many texts in one call."""
        handle, lib = self._opened(), library()
        texts = list(texts)
        with Results(len(texts), lib.classification_free) as results:
            check(lib.labeler_classify(handle.pointer, text_pairs(texts), len(texts), results))
            return [classification(pointer, text) for pointer, text in zip(results, texts)]
