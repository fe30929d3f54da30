"""Redaction: finds every occurrence of entities, replaces them, and restores them from pseudonyms."""

import ctypes
import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple, Union, cast

from . import _abi
from ._abi_types import pointer_to
from ._call import Call, int32
from ._entities import entity_list
from ._errors import InvalidArgument
from ._handle import Handle, Results
from ._native import check, library
from ._results import Entity, EntityList
from ._text import as_bytes, as_text, byte_offsets, check_kind, elements, encoded, text_array, text_list
from ._value import T

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import CallOptions

#: In the order of their numbers.
REPLACEMENTS = ("label", "text", "mask", "hash", "pseudonym")


class Pseudonyms:
    """The names that replace values in redacted texts, such as "[PER_3]", and the values.

    A value with a label has one name. A label's names are numbered from 1 in the order in which values first occur. One
    object for many texts gives a value the same name in all. One object for each text starts anew. Threads may share
    an object; the numbers then depend on the threads' order.
    """

    def __init__(self, names: Union[None, Mapping[str, str], Iterable[Tuple[str, str]]] = None):
        """names: the names and values of an earlier run, as a dict or pairs."""
        lib = library()
        pointer = ctypes.c_void_p()
        check(lib.pseudonyms_create(ctypes.byref(pointer)))
        self._handle = Handle(pointer, lib.pseudonyms_free)
        # Not a dict of the pairs, which would lose the first value of a name that occurs twice.
        pairs = names.items() if isinstance(names, Mapping) else names or ()
        for pair in elements(pairs, "names", "a dict or pairs of a name and a value", _is_pair):
            name_data, data = map(_encoded, pair)
            check(lib.pseudonyms_add(pointer, name_data, len(name_data), data, len(data)))

    @classmethod
    def load(cls, path: Any) -> "Pseudonyms":
        """Reads a file that `save`, or the tool's --mapping, has written."""
        names: List[Tuple[str, str]] = []
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                # As in the tool, a last line without a newline is unfinished.
                if not line.endswith(b"\n"):
                    break
                try:
                    entry = json.loads(line.decode())
                    name, value = entry["name"], entry["value"]
                except (ValueError, TypeError, KeyError, RecursionError):
                    name = value = None
                if not isinstance(name, str) or not isinstance(value, str):
                    raise InvalidArgument(f"{path}: line {number}: is not an object with a name and a value")
                names.append((name, value))
        try:
            return cls(names)
        except InvalidArgument as error:
            raise InvalidArgument(f"{path}: {error}") from None

    def save(self, path: Any) -> None:
        """Writes the names to a file that only its owner can read. `bertqa restore --mapping` also reads it."""
        import tempfile  # not with the package, as it imports shutil and the compression modules

        directory, base = os.path.split(os.path.abspath(os.fsdecode(path)))
        descriptor, temporary = tempfile.mkstemp(".tmp", f"{base}.", directory)
        try:
            with open(descriptor, "w", encoding="utf-8", errors="replace") as file:
                for name, value in self.names().items():
                    file.write(json.dumps({"name": name, "value": value}, ensure_ascii=False) + "\n")
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise

    def __len__(self) -> int:
        return cast(int, library().pseudonyms_count(self._handle.pointer))

    def __reduce__(self) -> Any:
        raise TypeError(
            "a Pseudonyms object cannot be pickled or deep-copied: pass its names(), and make another from them"
        )

    def __repr__(self) -> str:
        return f"<Pseudonyms: {len(self)} names>"

    def names(self) -> Dict[str, str]:
        """Returns the value of each name, in the order of creation."""
        lib, pointer = library(), self._handle.pointer
        entries = [lib.pseudonyms_get(pointer, index) for index in range(len(self))]
        if not all(entries):
            raise MemoryError("not enough memory for the names and values")
        return {_decoded(_bytes(entry[0].name)): _decoded(_bytes(entry[0].value)) for entry in entries}

    def restore(self, text: T, **options: "Unpack[CallOptions]") -> T:
        """Returns the text with each name replaced by its value, which undoes `redact`."""
        lib, call = library(), Call(options)
        text = as_text(text)
        data = text if isinstance(text, bytes) else _encoded(text)
        result = _written(
            len(data) + 64,
            lambda output, room, needed: lib.restore(
                data, len(data), self._handle.pointer, call.common_pointer, output, room, needed
            ),
            call,
        )
        return cast(T, result if isinstance(text, bytes) else _decoded(result))


def everywhere(text: T, entities: "Iterable[Entity[T]]", **options: "Unpack[CallOptions]") -> EntityList[T]:
    """Returns the entities and their other occurrences in the text, ignoring case.

    entities: entities of this text, as in `redact`. options: see help(bertqa.CallOptions).
    """
    lib = library()
    return _with_more(
        text, entities, options,
        lambda data, given, call, results: lib.everywhere(data, len(data), given, 1, call, results),
    )  # fmt: skip


def apply_lists(
    text: T,
    entities: "Iterable[Entity[T]]",
    *,
    allow: Iterable[str] = (),
    deny: Iterable[str] = (),
    **options: "Unpack[CallOptions]",
) -> EntityList[T]:
    """Returns the entities without those within an allowed text, plus all denied texts, labelled "DENIED".

    Texts are compared by words, ignoring case, with any spaces and marks between them. A denied text is found even
    if it is allowed.

    entities: entities of this text, as in `redact`. allow, deny: texts of 1 to 16 words.
    options: see help(bertqa.CallOptions).
    """
    lib = library()
    lists = text_list(allow, "allow"), text_list(deny, "deny")
    (allowed, allow_count), (denied, deny_count) = ((text_array(texts), len(texts)) for texts in lists)
    return _with_more(
        text, entities, options,
        lambda data, given, call, results: lib.apply_lists(
            data, len(data), given, 1, allowed, allow_count, denied, deny_count, call, results
        ),
    )  # fmt: skip


def _with_more(text: T, entities: "Iterable[Entity[T]]", options: Any, function: Any) -> EntityList[T]:
    """Returns the result of a library function for the entities, with the given entities' explanations."""
    text = as_text(text)
    call, lib = Call(options), library()
    data = encoded(text)
    entities = _listed(entities)
    ranges = _ranges(text, data, entities, encoded)
    with Results(1, lib.entity_list_free) as given, Results(1, lib.entity_list_free) as results:
        call.check(lib.entity_list_create(data, len(data), ranges, len(ranges), call.common_pointer, given))
        call.check(function(data, given, call.common_pointer, results))
        found = entity_list(results[0], text)
    known = {(entity.label, entity.start, entity.end): entity for entity in entities}
    return replace(
        found,
        entities=[
            entity if entity.rule else known.get((entity.label, entity.start, entity.end), entity)
            for entity in found
        ],
    )


def redact(
    text: T,
    entities: "Iterable[Entity[T]]",
    replacement: Optional[T] = None,
    *,
    mask: Optional[int] = None,
    key: Optional[bytes] = None,
    pseudonyms: Optional[Pseudonyms] = None,
    **options: "Unpack[CallOptions]",
) -> T:
    """Returns the text with each entity replaced by its label in brackets, such as "[PER]", or by one of these:

    replacement: the same text for every entity.
    mask: a star for each character except the last `mask`, such as "***-**-1234"; spaces and punctuation marks stay,
        and at most half of an entity's letters and digits.
    key: the label and 32 hexadecimal digits of HMAC-SHA-256 of the entity with this key of at least 16 bytes; equal
        texts have equal digits.
    pseudonyms: the label and a number, such as "[PER_3]", the same for equal texts; see `Pseudonyms`.

    entities: entities of this text, in any order: EntityLists or lists of Entity, joined with +. Overlapping
        entities are replaced together, with the label of the first or, if several begin there, of the longest.
        Characters are replaced whole, with their combining marks.
    options: see help(bertqa.CallOptions).
    """
    text = as_text(text)
    call = Call(options)
    struct = _abi.RedactOptions()
    struct.struct_size, struct.call = ctypes.sizeof(struct), pointer_to(call.common)
    given = {"text": replacement, "mask": mask, "hash": key, "pseudonym": pseudonyms}
    kinds = [kind for kind, value in given.items() if value is not None]
    if len(kinds) > 1:
        raise TypeError("give only one of replacement, mask, key and pseudonyms")
    if kinds:
        struct.replacement = REPLACEMENTS.index(kinds[0])
    if replacement is not None:
        replacement = as_text(replacement, "replacement")
        if isinstance(replacement, bytes) is not isinstance(text, bytes):
            raise TypeError("replacement must be of the text's type, str or bytes")
        struct.text = replacement if isinstance(replacement, bytes) else _encoded(replacement)
        struct.text_length = len(struct.text)
    if mask is not None:
        struct.keep = int32(mask, "mask")
        if struct.keep < 0:
            raise InvalidArgument.of("mask", f"is {mask}, but must be 0 to 2147483647")
    if key is not None:
        key = as_bytes(key, "key")  # bytes(32) would be 32 zeros
        struct.key, struct.key_length = key, len(key)
    if pseudonyms is not None:
        check_kind(pseudonyms, Pseudonyms, "pseudonyms")
        struct.pseudonyms = pseudonyms._handle.pointer
    data = text if isinstance(text, bytes) else _encoded(text)
    ranges = _ranges(text, data, _listed(entities), _encoded)
    lib = library()
    with Results(1, lib.entity_list_free) as results:
        call.check(lib.entity_list_create(data, len(data), ranges, len(ranges), call.common_pointer, results))
        result = _written(
            2 * len(data) + 64,
            lambda output, room, needed: lib.redact(
                data, len(data), results, 1, ctypes.byref(struct), output, room, needed
            ),
            call,
        )
    return cast(T, result if isinstance(text, bytes) else _decoded(result))


def _listed(entities: "Iterable[Entity[T]]") -> "List[Entity[T]]":
    return elements(entities, "entities", "a list of Entity", lambda one: isinstance(one, Entity))


def _ranges(text: Any, data: bytes, entities: "List[Entity[Any]]", encode: Callable[[Any], bytes]) -> Any:
    """Returns the entities as an array for the library, which keeps their labels alive. data: the encoded text."""
    places = {place for entity in entities for place in (entity.start, entity.end)}
    offsets = {place: place for place in places}
    if len(data) != len(text):
        offsets = byte_offsets(text, (place for place in places if 0 <= place <= len(text)), encode)
    array = (_abi.LabelledRange * len(entities))()
    for entry, entity in zip(array, entities):
        if not 0 <= entity.start <= entity.end <= len(text):
            raise InvalidArgument(
                f"an entity is {entity.start} to {entity.end}, but the text has {len(text)}: it belongs to another text",
                argument="entities",
            )
        # An entity of the caller's own may lack its text.
        if entity.text and text[entity.start : entity.end] != entity.text:
            raise InvalidArgument(
                f"the text has something else at {entity.start} to {entity.end} than an entity: it belongs to another text",
                argument="entities",
            )
        label = _encoded(entity.label)
        entry.bytes.start, entry.bytes.end = offsets[entity.start], offsets[entity.end]
        entry.label, entry.label_length, entry.score = label, len(label), entity.score
    return array


def _written(room: int, function: Any, call: Call) -> bytes:
    """Returns the output of a function, in memory of `room` bytes at first."""
    needed = ctypes.c_size_t()
    while True:
        output = ctypes.create_string_buffer(room)
        status = function(output, room, ctypes.byref(needed))
        if status == InvalidArgument.status and needed.value > room:
            room = needed.value
            continue
        call.check(status)
        return ctypes.string_at(output, needed.value)


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, (tuple, list)) and len(pair) == 2 and all(isinstance(text, str) for text in pair)


def _bytes(text: _abi.Text) -> bytes:
    # The member itself would end at a NUL.
    address = ctypes.c_void_p.from_address(ctypes.addressof(text)).value
    return ctypes.string_at(address, text.length) if address else b""


def _encoded(text: str) -> bytes:
    """Returns UTF-8, with lone surrogates, which pass through unchanged."""
    return text.encode("utf-8", "surrogatepass")


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # half a surrogate
        return data.decode("utf-8", "replace")
