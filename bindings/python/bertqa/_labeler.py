"""Labeler: classification by example."""

import ctypes
from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, Optional, Tuple, Union, overload

from . import _abi
from ._abi_types import pointer_to
from ._answer import each_result, each_status
from ._call import Call, real
from ._classify import classification, listed, text_pairs
from ._embed import EmbedMethods, embed_call
from ._errors import InvalidArgument
from ._handle import Closable, Handle, Results
from ._native import library, text_at
from ._results import Classification
from ._text import encoded, text_list
from ._value import T, Text

if TYPE_CHECKING:
    from typing import Literal

    from typing_extensions import Unpack

    from ._classify import TextOrPair
    from ._errors import BertQAError
    from ._options import CallOptions, EmbedOptions


class Labeler(Closable):
    """Classifies by the nearest label in the space of an embedding model, without training.

        labeler = bertqa.Labeler(context, {"sport": "a text about sport", "money": ["shares fell", "a loan"]})
        labeler.classify("The match ended in a draw.").label

    context: a Context with an embedding model; it can be closed afterwards.
    examples: for each label, a text that names it or example texts.
    scale: logit = scale * cosine between text and label; above 0; default 20.
    options: see help(bertqa.EmbedOptions); vectors are always scaled to length 1.
    """

    def __init__(
        self,
        context: EmbedMethods,
        examples: "Mapping[str, Union[Text, Iterable[Text]]]",
        *,
        scale: Optional[float] = None,
        **options: "Unpack[EmbedOptions]",
    ):
        if not isinstance(context, EmbedMethods):
            raise TypeError(f"context must be a Context, not {type(context).__name__}")
        if not isinstance(examples, Mapping):
            raise TypeError(f"examples must be a dictionary of labels and texts, not {type(examples).__name__}")
        owner, lib = context._opened(), library()
        data: List[Tuple[bytes, bytes]] = []
        for label, texts in examples.items():
            found = [encoded(text) for text in text_list(texts, f"examples: the label {label!r:.80}")]
            if not found:
                raise InvalidArgument.of(
                    f"examples: the label {label!r}", "has none; pass at least one text for each label"
                )
            data += [(text, encoded(label, "examples: a label")) for text in found]
        array = (_abi.Example * len(data))(
            *[_abi.Example(text, len(text), label, len(label)) for text, label in data]
        )
        call = embed_call(options)
        # The outer struct has the hooks here.
        embed: Any = call.struct
        embed.call = None
        struct = _abi.LabelerOptions(call=pointer_to(call.common), embed=pointer_to(embed))
        if scale is not None:
            if scale == 0:
                raise InvalidArgument.of("scale", "is 0, but must be above 0")
            struct.scale = real(scale, "scale")
        pointer = ctypes.c_void_p()
        status = lib.labeler_create(owner.pointer, array, len(data), ctypes.byref(struct), ctypes.byref(pointer))
        handle = Handle(pointer, lib.labeler_free)
        call.check(status)
        self._handle = handle

    @property
    def labels(self) -> Tuple[str, ...]:
        """The labels by their ids: in the order of their first examples."""
        handle, lib, length = self._opened(), library(), ctypes.c_size_t()
        count = lib.labeler_label_count(handle.pointer)
        found = [
            (lib.labeler_label_get(handle.pointer, i, ctypes.byref(length)), length.value) for i in range(count)
        ]
        return tuple(text_at(*label) for label in found)

    def __reduce__(self) -> Any:
        raise TypeError(
            "a Labeler cannot be pickled or deep-copied: make it from its Context and examples in each process"
        )

    def __repr__(self) -> str:
        return "<closed Labeler>" if self._handle is None else f"<Labeler of {len(self.labels)} labels>"

    @overload
    def classify(self, text: T, **options: "Unpack[CallOptions]") -> Classification[T]: ...

    @overload
    def classify(self, text: Tuple[Text, Text], **options: "Unpack[CallOptions]") -> Classification[Any]: ...

    def classify(self, text: Any, **options: "Unpack[CallOptions]") -> Any:
        """Classifies a text of any length. options: see help(bertqa.CallOptions)."""
        return self.classify_batch([text], **options)[0]

    @overload
    def classify_batch(
        self,
        texts: Iterable[T],
        *,
        return_exceptions: "Literal[False]" = ...,
        **options: "Unpack[CallOptions]",
    ) -> List[Classification[T]]: ...

    @overload
    def classify_batch(
        self,
        texts: "Iterable[TextOrPair]",
        *,
        return_exceptions: "Literal[False]" = ...,
        **options: "Unpack[CallOptions]",
    ) -> List[Classification[Any]]: ...

    @overload
    def classify_batch(
        self, texts: "Iterable[TextOrPair]", *, return_exceptions: bool, **options: "Unpack[CallOptions]"
    ) -> "List[Union[Classification[Any], BertQAError]]": ...

    def classify_batch(
        self, texts: Any, *, return_exceptions: bool = False, **options: "Unpack[CallOptions]"
    ) -> Any:
        """Classifies many texts in one call; return_exceptions as in Context.classify_batch.

        options: see help(bertqa.CallOptions).
        """
        handle, lib = self._opened(), library()
        texts = listed(texts)
        array = text_pairs(texts)
        call = Call(options)
        with Results(len(texts), lib.classification_free) as results:
            statuses = each_status(len(texts), return_exceptions)
            call.check(lib.labeler_classify(handle.pointer, array, len(texts), call.pointer, results, statuses))
            return each_result(results, statuses, texts, classification)
