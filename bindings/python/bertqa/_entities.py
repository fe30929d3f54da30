"""Entities of texts: methods of Context, and rule-based detection of personal data."""

import ctypes
from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, Optional, Union, cast, overload

from . import _abi
from ._answer import each_result, each_status
from ._call import Call, real
from ._classify import listed
from ._errors import InvalidArgument
from ._handle import Closable, Results
from ._native import library, text_at
from ._results import Entity, EntityList
from ._text import as_text, encoded, text_array, text_list
from ._value import T

if TYPE_CHECKING:
    from typing import Literal

    from typing_extensions import Unpack

    from ._errors import BertQAError
    from ._options import CallOptions, EntitiesOptions

AGGREGATIONS = ("model", "none", "simple", "first", "average", "max")
#: In the order of their bits.
PATTERNS = (
    *("email", "phone", "card", "iban", "ip", "url", "crypto", "mac", "coordinates", "birth_date", "us_ssn"),
    *("us_itin", "uk_nhs", "uk_nino", "de_tax_id", "fr_nir", "es_dni", "it_cf", "nl_bsn", "pl_pesel", "br_cpf"),
    *("br_cnpj", "in_aadhaar", "in_pan", "au_tfn", "au_medicare"),
)
#: Groups of patterns. "all" are those that are rarely found by mistake; the others are numbers of national registers.
PATTERN_GROUPS = {
    "all": PATTERNS[:7],
    **{group: tuple(n for n in PATTERNS if n.startswith(f"{group}_")) for group in ("us", "uk", "br", "in", "au")},
    "eu": ("de_tax_id", "fr_nir", "es_dni", "it_cf", "nl_bsn", "pl_pesel"),
}


class EntitiesMethods(Closable):
    """The methods of a Context with a token classification model."""

    def entities(self, text: T, **options: "Unpack[EntitiesOptions]") -> EntityList[T]:
        """Finds the entities of a text of any length. options: see help(bertqa.EntitiesOptions)."""
        handle, lib = self._opened(), library()
        text = as_text(text)
        data = encoded(text)
        call = entities_call(options)
        with Results(1, lib.entity_list_free) as results:
            call.check(lib.entities(handle.pointer, data, len(data), call.pointer, results))
            return entity_list(results[0], text)

    @overload
    def entities_batch(
        self,
        texts: Iterable[T],
        *,
        return_exceptions: "Literal[False]" = ...,
        **options: "Unpack[EntitiesOptions]",
    ) -> List[EntityList[T]]: ...

    @overload
    def entities_batch(
        self,
        texts: Iterable[T],
        *,
        return_exceptions: bool,
        **options: "Unpack[EntitiesOptions]",
    ) -> "List[Union[EntityList[T], BertQAError]]": ...

    def entities_batch(
        self, texts: Any, *, return_exceptions: bool = False, **options: "Unpack[EntitiesOptions]"
    ) -> Any:
        """Finds the entities of many texts in one call.

        return_exceptions: False: the first text that fails ends the call, and the exception's `item` is its index.
            True: the list contains an exception instead of an EntityList for each text that fails.
        options: see help(bertqa.EntitiesOptions).
        """
        handle, lib = self._opened(), library()
        texts = listed(texts)
        array = text_array(texts)
        call = entities_call(options)
        with Results(len(texts), lib.entity_list_free) as results:
            statuses = each_status(len(texts), return_exceptions)
            call.check(lib.entities_batch(handle.pointer, array, len(texts), call.pointer, results, statuses))
            return each_result(results, statuses, texts, entity_list)


def entities_call(values: Any) -> Call:
    struct, labels = _abi.EntitiesOptions(), values.get("labels")
    if isinstance(labels, Mapping):
        thresholds = [0 if value is None else real(value, "labels: a threshold") for value in labels.values()]
        struct.thresholds = (ctypes.c_float * len(thresholds))(*thresholds)
        values = {**values, "labels": list(labels)}
    return Call(
        values,
        struct,
        choices={"aggregation": AGGREGATIONS},
        zeros={"doc_stride": -1, "threshold": 0},
        lists={"labels": "label_count", "ignore_labels": "ignore_label_count"},
    )


def patterns(
    text: T,
    patterns: Optional[Iterable[str]] = None,
    *,
    regions: Optional[Iterable[str]] = None,
    **options: "Unpack[CallOptions]",
) -> EntityList[T]:
    """Finds personal data in a text by rules, without a model. Returns non-overlapping entities. Their label is the
    kind in capitals, such as "EMAIL"; their rule, checksum and context explain the finding.

    patterns: the kinds to find: names of kinds ("email", "us_ssn") and groups ("all", "us", "eu"), see
        docs/entities.md; default: "all", the kinds that are rarely found by mistake.
    regions: countries whose telephone numbers are found in every form of their numbering plans, as codes such as
        "DE"; default: none. Other countries' numbers need their calling code or a usual form.
    options: see help(bertqa.CallOptions).
    """
    struct = _abi.PatternsOptions()
    call = Call(options, struct)
    if patterns is not None:
        names = text_list(patterns, "patterns")
        for name in names:
            if name not in PATTERNS and name not in PATTERN_GROUPS:
                known = ", ".join((*PATTERN_GROUPS, *PATTERNS))
                raise InvalidArgument.of("patterns", f"has {name!r}, but must be one of {known}")
        names = [one for name in names for one in PATTERN_GROUPS.get(name, (name,))]
        if not names:
            raise InvalidArgument.of("patterns", "is empty; pass None for all")
        struct.patterns = sum(1 << bit for bit, name in enumerate(PATTERNS) if name in names)
    if regions is not None:
        codes = text_list(regions, "regions")
        struct.regions, struct.region_count = text_array(codes), len(codes)
    lib = library()
    text = as_text(text)
    data = encoded(text)
    with Results(1, lib.entity_list_free) as results:
        call.check(lib.patterns(data, len(data), call.pointer, results))
        return entity_list(results[0], text)


def entity_list(pointer: Any, text: T) -> EntityList[T]:
    """Converts the library's result for `text` to a plain value."""
    lib = library()
    found = [lib.entity_list_get(pointer, index).contents for index in range(lib.entity_list_count(pointer))]
    data = encoded(text) if any(item.context.end for item in found) else b""
    return EntityList(
        entities=[_entity(item, text, data) for item in found],
        window_count=lib.entity_list_summary(pointer).contents.window_count,
    )


def _entity(item: _abi.Entity, text: T, data: bytes) -> Entity[T]:
    """data: the text in UTF-8."""
    own = item.bytes if isinstance(text, bytes) else item.code_points
    word = data[item.context.start : item.context.end]
    return Entity(
        text=cast(T, text[own.start : own.end]),
        label=text_at(item.label, item.label_length),
        start=own.start,
        end=own.end,
        byte_range=(item.bytes.start, item.bytes.end),
        utf16_range=(item.utf16.start, item.utf16.end),
        score=item.score,
        rule=item.rule.decode() if item.rule else None,
        checksum=item.checksum.decode() if item.checksum else None,
        context=cast(T, word if isinstance(text, bytes) else word.decode()) if word else None,
    )
