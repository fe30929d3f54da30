"""Collection: a database of documents that can be searched and asked."""

import array
import contextlib
import ctypes
import json
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

from ._answer import _result_of, answer_call
from ._call import Call, integer
from ._context import Context
from ._errors import InvalidArgument
from ._handle import Handle, Results
from ._native import check, library
from ._results import Answer
from ._run import Run
from ._text import check_kind, encoded, path_bytes, text_array
from ._value import Text, Value

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._database import Database
    from ._options import AnswerOptions

# The numbers of bertqa_collection_statement.
(
    _CREATE, _MODEL, _WORDS, _ALLOWED, _VECTORS, _PASSAGE, _SET_MODEL, _ADD_DOCUMENT, _ADD_PASSAGE, _ADD_WORDS,
    _ADD_VECTORS, _REMOVE_DOCUMENT, _CHECK,
) = range(13)  # fmt: skip
_APPLICATION_ID, _VERSION = 0x42514143, 1
#: The number of passages or documents that are written at once.
_BATCH = 512
_NO_LIMITS = Run({}, None, "")


@dataclass(frozen=True, repr=False)
class Passage(Value):
    """A passage of a document, at most 128 tokens long.

    id: its number in the database.
    score: compares the passages of one search; at most 1.
    start, end: its bytes in the document.
    line: its first line in a file of text, from 1, or None.
    path: the document's file, or None. name: the name given to add, the id of a record, or None.
    title, fields: of the document.
    """

    id: int
    score: float
    text: str
    start: int
    end: int
    line: Optional[int]
    path: Optional[str]
    name: Optional[str]
    title: Optional[str]
    fields: Dict[str, Any]


@dataclass(frozen=True, repr=False)
class CollectionResult(Value):
    """The answers of a collection to a question.

    answers: best first; their ranges are in passages[answer.document_index].text.
    passages: the passages found, best first.
    is_impossible: True if these passages do not seem to answer the question, or nothing was found.
    no_answer_probability: the probability that they do not.
    """

    answers: List[Answer[str]]
    passages: List[Passage]
    is_impossible: bool
    no_answer_probability: float

    @property
    def answer(self) -> Optional[Answer[str]]:
        """The best answer, or None."""
        return self.answers[0] if self.answers else None

    def passage(self, answer: Answer[str]) -> Passage:
        """Returns the passage that an answer is from."""
        return self.passages[answer.document_index]


class Collection:
    """A collection of documents in an SQLite database, as `bertqa index` makes it (docs/collections.md).

        with bertqa.Collection("notes.db") as notes:
            notes.add("lease", "Ann Smith signed the lease on 3 May.")
            notes.ask("Who signed the lease?").answer.text

    path: the database's file, created if missing; ":memory:": a collection that ends with close.
    context: the Context that answers; default: that of the default model, opened when needed.
    embedder: the Context with the embedding model; default: likewise.
    words_only: True makes a new collection without vectors.

    Threads may share it: they wait for each other, except while answers are read. A forked process opens it anew. Any
    number of processes may search a collection while one adds to it.
    """

    def __init__(
        self,
        path: "Union[str, os.PathLike[str]]",
        *,
        context: Optional[Context] = None,
        embedder: Optional[Context] = None,
        words_only: bool = False,
    ):
        from ._database import Database  # some builds of Python have no sqlite3

        for given, what in (context, "context"), (embedder, "embedder"):
            if given is not None:
                check_kind(given, Context, what)
        self._context, self._embedder, self._words_only = context, embedder, words_only
        #: By name: (title, fields, [(start, end, text)]).
        self._added: Dict[str, Tuple[Any, ...]] = {}
        self._passage_count = 0
        self._lock, self._process = threading.RLock(), os.getpid()
        name = os.fsdecode(path_bytes(path, "path"))
        # SQLite may interpret a name such as "file:x" as a URI.
        file = name if path == ":memory:" else os.path.join(os.curdir, name)
        database = Database(name, file)
        self._database: Optional[Database] = database
        try:
            self._open(name)
        except BaseException:
            database.close()
            raise

    def _open(self, path: str) -> None:
        database = self._opened()
        if not self._has_tables(path):
            # Blocks of vectors are read in half the time from large pages.
            database.execute("PRAGMA page_size = 16384")
            with self._transaction("BEGIN IMMEDIATE"):
                # Another process may have created them meanwhile.
                if not self._has_tables(path):
                    database.execute_all(_sql(_CREATE))
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version != _VERSION:
            raise ValueError(
                f"{path} is a collection of version {version}, but this bertqa reads version {_VERSION}"
            )
        if not database.execute(_sql(_CHECK), (_sql(_CREATE),)).fetchone()[0]:
            raise ValueError(
                f"{path}: its tables and triggers are not those of a collection: index the files into a new one"
            )

    def _has_tables(self, path: str) -> bool:
        database = self._opened()
        # In this order: another process may create the tables and the id together between the two reads.
        if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return False
        if database.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION_ID:
            raise ValueError(f"{path} is an SQLite database, but not a collection")
        return True

    @contextlib.contextmanager
    def _alone(self, limits: Run = _NO_LIMITS) -> "Iterator[None]":
        """Waits until no other thread uses the connection, which has one transaction at a time."""
        if os.getpid() != self._process:
            raise ValueError("this Collection was opened by the process that forked this one: open it anew")
        while not self._lock.acquire(timeout=0.01):
            limits.check()
        try:
            yield
        finally:
            self._lock.release()

    @contextlib.contextmanager
    def _transaction(self, begin: str, limits: Run = _NO_LIMITS) -> "Iterator[None]":
        """A transaction, rolled back on failure."""
        database = self._opened()
        try:
            with database.polled(limits.check):
                database.execute(begin)
                yield
                database.execute("COMMIT")
        finally:
            if database.in_transaction:
                database.execute("ROLLBACK")

    def _fingerprint(self) -> Optional[bytes]:
        """Returns the fingerprint of the vectors' model, or None without vectors."""
        row = self._opened().execute(_sql(_MODEL)).fetchone()
        return None if row is None else bytes(_checked(row[0], bytes, "the model's fingerprint"))

    def _new_model(self, limits: Run) -> Tuple[str, int, bytes]:
        """Returns directory, length and fingerprint of the embedding model."""
        info = self._embedding().info
        handle, lib = self._embedding()._opened(), library()
        needed = ctypes.c_size_t()
        data = ctypes.create_string_buffer(4 + info.embedding_length)
        call = Call(limits.options())
        call.check(
            lib.vectors_fingerprint(
                handle.pointer, call.common_pointer, ctypes.addressof(data), len(data), ctypes.byref(needed)
            )
        )
        return info.directory, info.embedding_length, data.raw[: needed.value]

    def _opened(self) -> "Database":
        if self._database is None:
            raise ValueError("this Collection was closed")
        return self._database

    def _embedding(self) -> Context:
        if self._embedder is None:
            self._embedder = Context(task="embed")
        return self._embedder

    def _answering(self) -> Context:
        if self._context is None:
            self._context = Context()
        return self._context

    # Writing

    def add(
        self, name: str, text: Text, *, title: Optional[str] = None, fields: "Optional[Mapping[str, Any]]" = None
    ) -> None:
        """Adds a document or replaces the one with this name. It is written with others, at the latest by flush,
        search, ask or close.

        fields: JSON values, which the document's passages return.
        """
        # SQLite would refuse this later, together with everything in the same transaction.
        _check_str(name, "name")
        if title is not None:
            _check_str(title, "title")
            title = title if title.strip() else None
        values = _json(fields)
        data = encoded(text)
        # Ranges count the document's bytes, so no byte may be replaced.
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise InvalidArgument(
                f"text of {name!r:.80}: not UTF-8: {error.reason} at byte {error.start}", argument="text"
            ) from None
        lib, pointer, call = library(), ctypes.c_void_p(), Call({})
        context = self._embedding()._opened()
        status = lib.passages_create(context.pointer, data, len(data), call.common_pointer, ctypes.byref(pointer))
        handle = Handle(pointer, lib.passages_free)
        call.check(status)
        ranges = lib.passages_ranges(handle.pointer)
        found = [(ranges[i].start, ranges[i].end) for i in range(lib.passages_count(handle.pointer))]
        passages = [(start, end, data[start:end]) for start, end in found if end > start]
        with self._alone():
            self._opened()
            self._added[name] = (title, values, passages)
            self._passage_count += len(passages)
            # Documents without text have no passages.
            if max(self._passage_count, len(self._added)) >= _BATCH:
                self.flush()

    def remove(self, name: str) -> None:
        """Removes the document that was added with this name, if any."""
        _check_str(name, "name")
        with self._alone():
            self.flush()
            self._opened().execute(_sql(_REMOVE_DOCUMENT), (name,))

    def flush(self) -> None:
        """Writes added documents in one transaction. Other processes see them only afterwards."""
        self._flush(_NO_LIMITS)

    def _flush(self, limits: Run) -> None:
        with self._alone(limits), self._opened().polled(limits.check):
            # Tries again if another process wrote the collection's first vectors meanwhile, or a callback or a
            # signal's handler wrote or replaced documents.
            while self._added and not self._write(limits):
                pass

    def _write(self, limits: Run) -> bool:
        """Writes added documents. Returns False if the collection's model or the documents have changed meanwhile."""
        database, fingerprint = self._opened(), self._fingerprint()
        # The callbacks of the calls below may add documents.
        added = dict(self._added)
        texts = [
            (b"" if title is None else title.encode() + b"\n") + text
            for title, _, passages in added.values()
            for _, _, text in passages
        ]
        model = None
        if fingerprint is None and not self._words_only:
            if database.execute("SELECT NOT EXISTS (SELECT 1 FROM passages)").fetchone()[0]:
                model = self._new_model(limits)
        has_vectors = texts and (fingerprint is not None or model is not None)
        if has_vectors and fingerprint is not None:
            self._begun(b"", fingerprint, limits)  # vectors of another model would not fit the others
        vectors = self._vectors(texts, limits) if has_vectors else None
        with self._transaction("BEGIN IMMEDIATE", limits):
            if self._fingerprint() != fingerprint or any(
                self._added.get(name) is not one for name, one in added.items()
            ):
                return False
            if model is not None:
                database.execute(_sql(_SET_MODEL), model)
            first = None
            for name, (title, fields, passages) in added.items():
                database.execute(_sql(_REMOVE_DOCUMENT), (name,))
                document = database.execute(_sql(_ADD_DOCUMENT), (None, name, title, fields)).lastrowid
                for start, end, text in passages:
                    cursor = database.execute(_sql(_ADD_PASSAGE), (document, start, end, None, text.decode()))
                    first = cursor.lastrowid if first is None else first
            if first is not None:
                database.execute(_sql(_ADD_WORDS), (first, first + len(texts) - 1))
            if vectors is not None:
                database.execute(_sql(_ADD_VECTORS), (first, len(texts), *vectors))
        self._added = {name: one for name, one in self._added.items() if added.get(name) is not one}
        self._passage_count = sum(len(passages) for _, _, passages in self._added.values())
        return True

    def _vectors(self, texts: List[bytes], limits: Run) -> Tuple[bytes, bytes]:
        """Returns the rows and scales of passages."""
        embeddings = self._embedding().embed(texts, prompt_name="document", normalize=True, **limits.options())
        count, length = embeddings.shape
        rows, scales = (ctypes.c_int8 * (count * length))(), (ctypes.c_float * count)()
        check(library().vectors_quantize(embeddings._values, count, length, rows, scales))
        return bytes(rows), bytes(scales)

    # Reading

    def search(
        self,
        question: Text,
        *,
        k: int = 10,
        path: Optional[str] = None,
        fields: "Optional[Mapping[str, Any]]" = None,
    ) -> List[Passage]:
        """Returns the k passages that match best, by words and by meaning.

        path: only documents whose path (name, for those of no file) matches this GLOB pattern of SQLite.
        fields: only documents whose fields have these values; a text or number is a GLOB pattern.
        """
        return self._search(question, _count(k, "k"), path, fields, _NO_LIMITS)[1]

    def ask(
        self,
        question: Text,
        *,
        k: int = 1,
        passages: int = 20,
        path: Optional[str] = None,
        fields: "Optional[Mapping[str, Any]]" = None,
        **options: "Unpack[AnswerOptions]",
    ) -> CollectionResult:
        """Answers a question from the passages that match it best.

        k: the number of answers. passages: the number of passages read. path, fields: as in search.
        options: see help(bertqa.AnswerOptions). cancel and timeout also end the search and the writing before it.
        """
        call = answer_call({"top_k": k, **options})
        limits = Run({"cancel": options.get("cancel"), "timeout": options.get("timeout")}, None, "")
        search, found = self._search(question, _count(passages, "passages"), path, fields, limits)
        if not found:
            return CollectionResult([], [], True, 1.0)
        handle, lib = self._answering()._opened(), library()
        data = [(passage.text, passage.text.encode()) for passage in found]
        with Results(1, lib.answers_free) as answers:
            array = text_array([text for _, text in data])
            call.check(lib.search_answer(search.pointer, handle.pointer, array, len(data), call.pointer, answers))
            result = _result_of(answers[0], data)
        return CollectionResult(result.answers, found, result.is_impossible, result.no_answer_probability)

    def document(self, id: int) -> List[Passage]:
        """Returns all passages of the document that has the passage with this id, in order and with score 0. An unknown
        id has none."""
        id = integer(id, "id")
        with self._alone():
            self.flush()
            if not -(2**63) <= id < 2**63:
                return []
            with self._transaction("BEGIN"):
                rows = self._opened().execute(
                    "SELECT id FROM passages WHERE document = (SELECT document FROM passages WHERE id = ?) ORDER BY id",
                    (id,),
                )
                return [self._passage(found, 0.0) for (found,) in rows.fetchall()]

    def _search(
        self,
        question: Text,
        count: int,
        path: Optional[str],
        fields: "Optional[Mapping[str, Any]]",
        limits: Run,
    ) -> Tuple[Handle, List[Passage]]:
        if path is not None:
            _check_str(path, "path")
        chosen = (path, _json(fields))
        data = encoded(question, "question")
        with self._alone(limits):
            self._flush(limits)
            fingerprint = self._fingerprint()
            search = self._begun(data, fingerprint, limits)
            # All reads see one state of the collection, which others may change meanwhile.
            with self._transaction("BEGIN", limits):
                if self._allow(search, chosen):
                    self._set_words(search, fingerprint is not None)
                    if fingerprint is not None:
                        self._add_vectors(search, limits)
                return search, self._best(search, count)

    def _begun(self, question: bytes, fingerprint: Optional[bytes], limits: Run) -> Handle:
        """Begins a search. Raises WrongModel if the embedder is not the model of the vectors."""
        context = None if fingerprint is None else self._embedding()._opened()
        lib, pointer, call = library(), ctypes.c_void_p(), Call(limits.options())
        status = lib.search_create(
            context and context.pointer, question, len(question), fingerprint, len(fingerprint or b""), call.common_pointer,
            ctypes.byref(pointer),
        )  # fmt: skip
        search = Handle(pointer, lib.search_free)
        call.check(status)
        return search

    def _allow(self, search: Handle, chosen: Tuple[Optional[str], Optional[str]]) -> bool:
        """Restricts a search to some documents. Returns False if there are none."""
        if chosen == (None, None):
            return True
        allowed = self._opened().execute(_sql(_ALLOWED), chosen).fetchall()
        for first, last in allowed:
            check(library().search_allow(search.pointer, first, last))
        return bool(allowed)

    def _set_words(self, search: Handle, has_vectors: bool) -> None:
        query = library().search_query(search.pointer).decode()
        ids, words, scores = array.array("q"), array.array("i"), array.array("d")
        for id, word, score in self._opened().execute(_sql(_WORDS), (query, not has_vectors)):
            ids.append(id)
            words.append(word)
            scores.append(score or 0.0)
        count = len(ids)
        check(
            library().search_set_words(
                search.pointer, (ctypes.c_int64 * count).from_buffer(ids), (ctypes.c_int32 * count).from_buffer(words),
                (ctypes.c_double * count).from_buffer(scores), count,
            )
        )  # fmt: skip

    def _add_vectors(self, search: Handle, limits: Run) -> None:
        database, lib = self._opened(), library()
        for first, count, rows, scales in database.execute(_sql(_VECTORS)):
            limits.check()
            _checked(first, int, "the first passage of vectors")
            _checked(count, int, "the number of vectors")
            blobs = [_checked(blob, bytes, f"the vectors from passage {first} on") for blob in (rows, scales)]
            if len(scales) != 4 * count:
                raise ValueError(f"the vectors from passage {first} on do not fit: index it again")
            check(
                lib.search_add_vectors(
                    search.pointer, first, count, ctypes.cast(blobs[0], ctypes.POINTER(ctypes.c_int8)), len(rows),
                    ctypes.cast(blobs[1], ctypes.POINTER(ctypes.c_float)),
                )
            )  # fmt: skip

    def _best(self, search: Handle, count: int) -> List[Passage]:
        ids, scores = (ctypes.c_int64 * count)(), (ctypes.c_double * count)()
        found = library().search_best(search.pointer, count, ids, scores)
        return [self._passage(ids[i], scores[i]) for i in range(found)]

    def _passage(self, id: int, score: float) -> Passage:
        row = self._opened().execute(_sql(_PASSAGE), (id,)).fetchone()
        if row is None:
            raise ValueError(f"passage {id} is missing: index it again")
        text, start, end, line, path, name, title, fields = row
        for value, kind, what in (
            (text, str, "text"),
            (start, int, "start"),
            (end, int, "end"),
            (line or 0, int, "line"),
        ):
            _checked(value, kind, f"the {what} of passage {id}")
        values = _checked(fields or "{}", str, f"the fields of passage {id}")
        with contextlib.suppress(ValueError, RecursionError):
            values = json.loads(values)
        _checked(values, dict, f"the fields of passage {id}")
        return Passage(id, score, text, start, end, line, path, name, title, values)

    # Closing

    def close(self) -> None:
        """Writes added documents and closes the database. Closing twice, or in a forked process, has no effect."""
        if os.getpid() != self._process:
            return
        with self._alone():
            if self._database is None:
                return
            try:
                self.flush()
            finally:
                self._database.close()
                self._database = None

    def __reduce__(self) -> Any:
        raise TypeError("a Collection cannot be pickled or copied: open its database again")

    def __enter__(self) -> "Self":
        self._opened()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


def _check_str(value: Any, what: str) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a str, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidArgument.of(what, f"is {value!r:.80}, but UTF-8 has no lone surrogates") from None


def _count(value: Any, name: str) -> int:
    count = integer(value, name)
    if not 1 <= count <= 1000:
        raise InvalidArgument.of(name, f"is {count}, but must be 1 to 1000")
    return count


def _json(fields: Any) -> Optional[str]:
    """Returns the fields as JSON; None if there are none."""
    if not isinstance(fields, (Mapping, type(None))):
        raise TypeError(f"fields is {fields!r:.80}, but must be a dict")
    try:
        return json.dumps(dict(fields), allow_nan=False) if fields else None
    except TypeError as error:
        raise TypeError(f"fields must be JSON values: {error}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidArgument.of("fields", f"must be JSON values: {error}") from None


def _sql(statement: int) -> str:
    text: bytes = library().collection_sql(statement)
    return text.decode()


def _checked(value: Any, kind: type, what: str) -> Any:
    """Returns a database value if it has this type. Any program may have written it."""
    if isinstance(value, kind):
        return value
    raise ValueError(f"{what}: is not {kind.__name__} but {value!r:.80}: index it again")
