"""Columns as Arrow structs made by hand: every layout that the format allows is read like a list of the same texts, and
structs that contradict themselves are refused before their memory is read."""

import ctypes
import gc
import random
import struct

import pytest

import bertqa
from bertqa import _arrow
from bertqa._arrow import ArrowArray, ArrowArrayStream, ArrowSchema
from columns import QUESTION, texts
from conftest import FIXTURES, LONG

TYPES = ["u", "U", "z", "Z", "vu", "vz"]
INDICES = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q"}


@pytest.fixture(scope="module")
def functions():
    answerer = bertqa.Context(FIXTURES / "tiny-bert")
    embedder = bertqa.Context(FIXTURES / "tiny-bert-embedder")
    yield {
        "answer": lambda column: bertqa.answer_column(answerer, QUESTION, column),
        "embed": lambda column: bertqa.embed_column(embedder, column),
        "redact": bertqa.redact_column,
    }
    answerer.close()
    embedder.close()


class Structs:
    """Makes structs, keeps their memory and counts their releases."""

    def __init__(self, seed=0):
        self.random, self.kept, self.released = random.Random(seed), [], []

    def memory(self, data):
        """Returns the address of bytes that are not aligned."""
        self.kept.append((ctypes.c_char * (len(data) + 9)).from_buffer_copy(b"\xff" * 8 + data + b"\xff"))
        return ctypes.addressof(self.kept[-1]) + 8

    def pair(self, kind, rows, offset, nulls, buffers, dictionary=(None, None)):
        def release(name, of):
            def release(pointer):
                assert pointer.contents.release, "released twice"
                self.released.append(name)
                pointer.contents.release = of()

            self.kept.append(of(release))
            return self.kept[-1]

        memory = (ctypes.c_void_p * max(1, len(buffers)))(*buffers)
        self.kept += [memory, dictionary]
        array, schema = (each and ctypes.pointer(each) for each in dictionary)
        return (
            ArrowArray(
                length=rows, null_count=nulls, offset=offset, n_buffers=len(buffers), buffers=memory,
                dictionary=array, release=release("array", _arrow.RELEASE_ARRAY),
            ),
            ArrowSchema(format=kind.encode(), dictionary=schema, release=release("schema", _arrow.RELEASE_SCHEMA)),
        )  # fmt: skip

    def validity(self, rows, offset):
        """Returns null_count and the buffer; the bits before the offset are random."""
        nulls = sum(row is None for row in rows)
        if not nulls and self.random.random() < 0.5:
            return self.random.choice([0, -1]), None
        bits = [self.random.random() < 0.5 for _ in range(offset)] + [row is not None for row in rows]
        data = bytearray((len(bits) + 7) // 8)
        for place, bit in enumerate(bits):
            data[place // 8] |= bit << place % 8
        return self.random.choice([nulls, -1]), self.memory(bytes(data))

    def column(self, kind, rows):
        offset = self.random.choice([0, 1, 7, 8, 17])
        nulls, validity = self.validity(rows, offset)
        every = [b"before"] * offset + [None if row is None else row.encode() for row in rows]
        if kind[0] == "v":
            data, views = [bytearray(), bytearray(b"?")], b""
            for row in every:
                if row is None:  # a null may have any view
                    views += struct.pack("<4i", 99, 0, 7, -1)
                elif len(row) <= 12:
                    views += struct.pack("<i12s", len(row), row)
                else:
                    place = self.random.randrange(2)
                    views += struct.pack("<i4s2i", len(row), row[:4], place, len(data[place]))
                    data[place] += row
            sizes = struct.pack("<2q", *map(len, data))
            buffers = [views, *map(bytes, data), sizes]
        else:
            data, ends = b"unused", [6]
            for row in every:
                data += b"garbage" if row is None else row
                ends.append(len(data))
            buffers = [struct.pack(f"<{len(ends)}{'q' if kind.isupper() else 'i'}", *ends), data]
        return self.pair(kind, len(rows), offset, nulls, [validity, *map(self.memory, buffers)])

    def dictionary(self, kind, index, rows):
        distinct = [None, "unused", *dict.fromkeys(row for row in rows if row is not None)]
        offset = self.random.choice([0, 1, 9])
        nulls, validity = self.validity(rows, offset)
        codes = [99] * offset + [distinct.index(row) for row in rows]
        data = self.memory(struct.pack(f"<{len(codes)}{INDICES[index]}", *codes))
        return self.pair(index, len(rows), offset, nulls, [validity, data], self.column(kind, distinct))


class Capsules:
    def __init__(self, array, schema):
        self.structs = array, schema

    def __arrow_c_array__(self, requested_schema=None):
        array, schema = self.structs
        return _arrow.capsule(schema, b"arrow_schema"), _arrow.capsule(array, b"arrow_array")


class Stream:
    """error: the number of arrays before the stream fails; -1: it has no schema."""

    def __init__(self, structs, pairs, error=None):
        kinds = dict(ArrowArrayStream._fields_)
        given = iter(pairs)

        def give(out, struct):
            ctypes.memmove(out, ctypes.byref(struct), ctypes.sizeof(struct))
            return 0

        def next_array(_, out):
            self.count += 1
            return 5 if error == self.count - 1 else give(out, next(given, (ArrowArray(),))[0])

        def release(stream):
            structs.released.append("stream")
            stream.contents.release = kinds["release"]()

        self.count = 0
        calls = {
            "get_schema": lambda _, out: 5 if error == -1 else give(out, pairs[0][1]),
            "get_next": next_array,
            "release": release,
        }
        callbacks = {name: kinds[name](call) for name, call in calls.items()}
        # ctypes cannot return a char * that outlives the call.
        message = ctypes.create_string_buffer(b"the source is \xff")
        last_error = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: ctypes.addressof(message))
        self.stream = ArrowArrayStream(
            **callbacks, get_last_error=ctypes.cast(last_error, kinds["get_last_error"])
        )
        structs.kept += [callbacks, last_error]  # the capsule has a copy of the struct

    def __arrow_c_stream__(self, requested_schema=None):
        return _arrow.capsule(self.stream, b"arrow_array_stream")


def release_all():
    gc.collect()
    _arrow.release_unused()


@pytest.mark.parametrize("function", ["answer", "embed", "redact"])
def test_every_layout_is_read_like_a_list(functions, function):
    structs = Structs()
    for case in range(200 if LONG else 40):
        counts = structs.random.choices([0, 1, 8, 20], k=structs.random.randrange(1, 4))
        chunks = [texts(count, seed=case) for count in counts]
        kind, index = structs.random.choice(TYPES), structs.random.choice([None, *INDICES])
        pairs = [structs.dictionary(kind, index, rows) if index else structs.column(kind, rows) for rows in chunks]
        is_stream = len(chunks) > 1
        column = Stream(structs, pairs) if is_stream else Capsules(*pairs[0])
        given = [text for rows in chunks for text in rows]
        assert list(functions[function](column)) == list(functions[function](given)), (case, kind, index)
        release_all()
        assert sorted(structs.released) == ["array"] * len(chunks) + ["schema"] + ["stream"] * is_stream
        structs.kept.clear()
        structs.released.clear()


@pytest.mark.parametrize("error", [-1, 0, 1])
def test_a_stream_that_fails(functions, error):
    structs = Structs()
    pairs = [structs.column("u", ["the river", None]), structs.column("u", ["the fox"])]
    with pytest.raises(ValueError, match="Arrow stream: the source is \ufffd"):
        functions["answer"](Stream(structs, pairs, error))
    release_all()
    assert sorted(structs.released) == ["array"] * max(0, error) + ["schema"] * (error >= 0) + ["stream"]


def changed(field, value, kind="u", struct=0):
    def make(structs):
        pair = structs.column(kind, ["the river that is long", "fox"])
        setattr(pair[struct], field, value)
        return pair

    return make


def with_codes(codes, index="i", kind="u"):
    def make(structs):
        data = structs.memory(struct.pack(f"<{len(codes)}{INDICES[index]}", *codes))
        return structs.pair(index, len(codes), 0, 0, [None, data], structs.column(kind, ["the river", "fox"]))

    return make


def with_buffers(kind, *buffers, nulls=0):
    def make(structs):
        return structs.pair(
            kind, 1, 0, nulls, [None if each is None else structs.memory(each) for each in buffers]
        )

    return make


def twice_encoded(structs):
    data = structs.memory(bytes(4))
    return structs.pair("i", 1, 0, 0, [None, data], with_codes([0, 1])(structs))


def half_encoded(structs):
    array, schema = with_codes([0, 1])(structs)
    array.dictionary = _arrow.ARRAY_POINTER()
    return array, schema


VIEW = struct.pack("<i4s2i", 20, b"text", 0, 0)
WRONG = {
    "released array": (changed("release", _arrow.RELEASE_ARRAY()), "was released before the call"),
    "released schema": (changed("release", _arrow.RELEASE_SCHEMA(), struct=1), "was released before the call"),
    "length": (changed("length", -1), "has -1 rows"),
    "offset": (changed("offset", -1), "rows from -1 on"),
    "far offset": (changed("offset", 1 << 60), "rows from 1152921504606846976 on"),
    "nulls": (changed("null_count", 3), "has 3 nulls in 2 rows"),
    "no bits": (with_buffers("u", None, struct.pack("<2i", 0, 1), b"a", nulls=1), "no buffer that says which"),
    "children": (changed("n_children", 1), "has children"),
    "buffers": (changed("n_buffers", 2), "does not have the buffers"),
    "no buffers": (changed("buffers", None), "does not have the buffers"),
    "no type": (changed("format", None, struct=1), 'of Arrow type ""'),
    "odd type": (changed("format", b"\xff", struct=1), "of Arrow type"),
    "runs": (changed("format", b"+r", struct=1), 'of Arrow type ".r"'),
    "offsets": (with_buffers("u", None, struct.pack("<2i", 9, 2), b"a text"), "begins at 9 and ends at 2"),
    "negative offset": (with_buffers("u", None, struct.pack("<2i", -1, 2), b"a text"), "begins at -1"),
    "no data": (with_buffers("u", None, struct.pack("<2i", 0, 2), None), "is in a buffer that is NULL"),
    "view's length": (with_buffers("vu", None, struct.pack("<4i", -1, 0, 0, 0), b""), "has a length of -1"),
    "view's buffer": (with_buffers("vu", None, VIEW, b""), " in buffer 0 of 0"),
    "view's end": (with_buffers("vu", None, VIEW, b"a text", struct.pack("<q", 6)), "20 bytes from 0 on in"),
    "no sizes": (with_buffers("vu", None, VIEW, b"a text", None), "buffer of its buffers' lengths"),
    "index": (with_codes([0, 2]), "value 2 of a dictionary of 2"),
    "negative index": (with_codes([-1], "c"), "value -1 of a dictionary of 2"),
    "twice": (twice_encoded, "dictionary of a dictionary"),
    "half": (half_encoded, "a dictionary in only one"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_structs_that_contradict_themselves(functions, wrong):
    make, message = WRONG[wrong]
    for call in functions.values():
        structs = Structs()
        with pytest.raises(bertqa.InvalidArgument, match=message):
            call(Capsules(*make(structs)))
        release_all()


class Swapped(Capsules):
    def __arrow_c_array__(self, requested_schema=None):
        return super().__arrow_c_array__()[::-1]


def test_capsules_of_other_structs():
    structs = Structs()
    with pytest.raises(ValueError, match="incorrect name"):
        bertqa.redact_column(Swapped(*structs.column("u", ["the river"])))
    release_all()
    assert sorted(structs.released) == ["array", "schema"]
