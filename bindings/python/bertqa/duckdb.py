"""SQL functions in DuckDB: answers, labels, vectors and entities of columns. Needs duckdb and pyarrow.

    import bertqa.duckdb, duckdb

    connection = duckdb.connect()
    bertqa.duckdb.register(connection)
    connection.sql("SELECT bertqa_answer('Who fell?', 'Ann fell.')").show()

DuckDB passes up to 2048 rows at a time as Arrow columns, which the library reads in place.
"""

import functools
import os
import re
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple, Union

from ._columns import answer_column, classify_column, embed_column, entities_column, patterns_column, redact_column
from ._context import Context
from ._native import library
from ._redaction import REPLACEMENTS, Pseudonyms

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    Model = Union[str, os.PathLike[str], Context, None]

_ANSWER = (
    'STRUCT(answer VARCHAR, "start" BIGINT, "end" BIGINT, probability FLOAT, score FLOAT, gap FLOAT,'
    " sentence VARCHAR, is_impossible BOOLEAN)"
)
_LABELS = "STRUCT(label VARCHAR, probability FLOAT, id INTEGER)[]"
_ENTITIES = 'STRUCT(label VARCHAR, text VARCHAR, "start" BIGINT, "end" BIGINT, score FLOAT)[]'

# DuckDB substitutes an expression for each use of its name and would run the model each time, except across
# unnest().
_ANSWERS = """
CREATE OR REPLACE TEMP MACRO bertqa_answers(question, text) AS TABLE
SELECT r.answer, r.score, r.probability, r.gap, r."start" AS start_char, r."end" AS end_char, r.sentence, r.is_impossible
FROM (SELECT unnest([bertqa_best_answer(question, text)])) AS found(r) WHERE r.answer IS NOT NULL
"""
# A Python function cannot be an aggregate, but takes a list.
_ANSWER_ALL = """
CREATE OR REPLACE TEMP MACRO bertqa_answer_all(question, text) AS
bertqa_answer_list(
  CASE WHEN min(question) FILTER (WHERE text IS NOT NULL) <> max(question) FILTER (WHERE text IS NOT NULL)
    THEN error('bertqa_answer_all(question, text): the question is the same in all rows of a group')
    ELSE min(question) FILTER (WHERE text IS NOT NULL) END,
  list(text) FILTER (WHERE question IS NOT NULL AND text IS NOT NULL))
"""
# The functions below take labels as a text with a comma after each name; '' means the model's own.
_CLASSIFY = """
CREATE OR REPLACE TEMP MACRO bertqa_classify
(text) AS bertqa_best_label(text, ''),
(text, labels) AS bertqa_best_label(text, labels || ',')
"""
_ALL_LABELS = """
CREATE OR REPLACE TEMP MACRO bertqa_labels
(text) AS TABLE (FROM bertqa_label_rows(text, '')),
(text, labels) AS TABLE (FROM bertqa_label_rows(text, labels || ','))
"""
_LABEL_ROWS = """
CREATE OR REPLACE TEMP MACRO bertqa_label_rows(text, labels) AS TABLE
SELECT r.label, r.probability, r.id FROM (SELECT unnest(bertqa_label_list(text, labels))) AS found(r)
"""
_ALL_ENTITIES = """
CREATE OR REPLACE TEMP MACRO bertqa_entities
(text) AS TABLE (FROM bertqa_entity_rows(text, '')),
(text, labels) AS TABLE (FROM bertqa_entity_rows(text, labels || ','))
"""
_ENTITY_ROWS = """
CREATE OR REPLACE TEMP MACRO bertqa_entity_rows(text, labels) AS TABLE
SELECT r.text AS entity, r.label, r.score, r."start" AS start_char, r."end" AS end_char
FROM (SELECT unnest(bertqa_entity_list(text, labels))) AS found(r)
"""

_PATTERNS = """
CREATE OR REPLACE TEMP MACRO bertqa_patterns
(text) AS TABLE (FROM bertqa_pattern_rows(text, 'all', '')),
(text, patterns) AS TABLE (FROM bertqa_pattern_rows(text, patterns, '')),
(text, patterns, regions) AS TABLE (FROM bertqa_pattern_rows(text, patterns, regions))
"""
_PATTERN_ROWS = """
CREATE OR REPLACE TEMP MACRO bertqa_pattern_rows(text, patterns, regions) AS TABLE
SELECT r.text AS entity, r.label, r.score, r."start" AS start_char, r."end" AS end_char
FROM (SELECT unnest(bertqa_pattern_list(text, patterns, regions))) AS found(r)
"""
# Without a name, which has a comma after it, the model's default prompt is used.
_EMBED = """
CREATE OR REPLACE TEMP MACRO bertqa_embed
(text) AS bertqa_vector(text, ''),
(text, prompt_name) AS bertqa_vector(text, prompt_name || ',')
"""
_REDACT = """
CREATE OR REPLACE TEMP MACRO bertqa_redact
(text) AS bertqa_redacted(text, 'all', 'label', '', '', ''),
(text, patterns) AS bertqa_redacted(text, patterns, 'label', '', '', ''),
(text, patterns, action) AS bertqa_redacted(text, patterns, action, '', '', ''),
(text, patterns, action, value) AS bertqa_redacted(text, patterns, action, value::VARCHAR, '', ''),
(text, patterns, action, value, regions)
  AS bertqa_redacted(text, patterns, action, value::VARCHAR, regions, ''),
(text, patterns, action, value, regions, labels)
  AS bertqa_redacted(text, patterns, action, value::VARCHAR, regions, labels)
"""

_WORDS = r"""
CREATE OR REPLACE TEMP MACRO bertqa_words(text) AS regexp_extract_all(lower(text), '[\p{L}\p{N}]+')
"""
# The best 200 by words and the best 200 by exact cosine are compared. A vector of zeros has no cosine: NaN.
# The rows of a view have no identity, so the table is read twice: to count words, and to keep the best rows of a scan.
_SEARCH = """
CREATE OR REPLACE TEMP MACRO bertqa_search(source, question, k := 10) AS TABLE
WITH asked AS MATERIALIZED (
  SELECT bertqa_embed(question, 'query') AS vector, list_distinct(bertqa_words(question)) AS words),
found AS MATERIALIZED (
  SELECT list_intersect(bertqa_row.words, asked.words) AS words FROM query_table(source) AS bertqa_row, asked),
weights AS (
  SELECT word, ln(1 + ((SELECT count(*) FROM found) - count(*) + 0.5) / (count(*) + 0.5)) AS weight
  FROM (SELECT unnest(words) AS word FROM found) GROUP BY word),
weighed AS MATERIALIZED (SELECT map(list(word), list(weight)) AS weights, sum(weight) AS total FROM weights),
texts AS (
  SELECT bertqa_row, row_number() OVER () AS number,
    nullif(array_cosine_similarity(bertqa_row.vector, asked.vector), 'nan') AS cosine,
    list_sum([map_extract(weights, word)[1] for word in list_intersect(bertqa_row.words, asked.words)]) / total AS share
  FROM query_table(source) AS bertqa_row, asked, weighed),
best AS (
  SELECT arg_max(texts, coalesce(cosine, -2), 200) AS near,
    arg_max(texts, (coalesce(share, 0), coalesce(cosine, -2)), 200) AS worded
  FROM texts),
both_orders AS (
  SELECT DISTINCT ON (r.number) r FROM (SELECT unnest(list_concat(near, worded)) AS r FROM best)),
scored AS (
  SELECT r.bertqa_row, bertqa_search_score(coalesce(r.cosine, 0), coalesce(r.share, 0)) AS score FROM both_orders
  WHERE question IS NOT NULL)
SELECT unnest(bertqa_row), score FROM scored
QUALIFY row_number() OVER (ORDER BY score DESC)
  <= CASE WHEN k NOT BETWEEN 1 AND 1000 THEN error('bertqa_search: k is 1 to 1000') ELSE k END
ORDER BY score DESC
"""


def register(
    connection: "DuckDBPyConnection",
    *,
    answer: "Model" = None,
    classify: "Model" = None,
    embed: "Model" = None,
    entities: "Model" = None,
) -> None:
    """Registers the functions bertqa_answer, bertqa_answers, bertqa_answer_all, bertqa_classify, bertqa_labels,
    bertqa_entities, bertqa_patterns, bertqa_redact, bertqa_embed, bertqa_words and bertqa_search with a connection.
    docs/sql.md describes them.

    answer, classify, embed, entities: each task's model, a directory or a Context; default: the default models.

    Registering again replaces the models. The functions belong to the database. But bertqa_answer_all, bertqa_classify,
    bertqa_embed, bertqa_redact, bertqa_words and the tables bertqa_answers, bertqa_labels, bertqa_entities,
    bertqa_patterns and bertqa_search belong to the connection. To use them with a cursor, register it without models.
    """
    has_models = not all(model is None for model in (answer, classify, embed, entities))
    reader, classifier = _context(answer, "answer"), _context(classify, "classify")
    embedder, finder = _context(embed, "embed"), _context(entities, "entities")

    def best(questions: Any, documents: Any) -> Any:
        import pyarrow

        question, document = _same(questions), _same(documents)
        if question is None or document is None:
            return answer_column(reader, questions if question is None else question, documents)
        return answer_column(reader, question, documents[:1]).take(pyarrow.array([0] * len(documents)))

    def only_answer(questions: Any, documents: Any) -> Any:
        return _field(best(questions, documents), "answer")

    def answer_list(questions: Any, lists: Any) -> Any:
        import pyarrow

        answers = []
        for question, documents in zip(questions.to_pylist(), lists.to_pylist()):
            best = reader.answer_documents(question, documents).answer if documents else None
            answers.append(None if best is None else best.text)
        return pyarrow.array(answers, pyarrow.string())

    def label(texts: Any, lists: Any) -> Any:
        def best(rows: Any, names: str) -> Any:
            return _field(classify_column(classifier, rows, labels=_names(names)), "label")

        return _grouped([lists], best, texts)

    def label_list(texts: Any, lists: Any) -> Any:
        def all_of(rows: Any, names: str) -> Any:
            labels = _names(names)
            return _label_lists(classify_column(classifier, rows, labels=labels), labels or classifier.info.labels)

        return _grouped([lists], all_of, texts)

    def entity_list(texts: Any, lists: Any) -> Any:
        def found(rows: Any, names: str) -> Any:
            return entities_column(finder, rows, labels=_thresholds(names))

        return _grouped([lists], found, texts)

    def pattern_list(texts: Any, kinds: Any, regions: Any) -> Any:
        def found(rows: Any, kind: str, region: str) -> Any:
            return patterns_column(rows, _parts(kind), regions=_listed(region))

        return _grouped([kinds, regions], found, texts)

    def redacted(texts: Any, kinds: Any, actions: Any, values: Any, regions: Any, names: Any) -> Any:
        function = functools.partial(_redacted, finder)
        return _grouped([kinds, actions, values, regions, names], function, texts)

    def vector(texts: Any, names: Any) -> Any:
        def of_prompt(rows: Any, name: str) -> Any:
            return embed_column(embedder, rows, prompt_name=name[:-1] if name else None)

        return _grouped([names], of_prompt, texts)

    def scores(cosines: Any, shares: Any) -> Any:
        import pyarrow

        pairs = zip(cosines.to_pylist(), shares.to_pylist())
        values = [None if None in pair else library().search_score(*pair) for pair in pairs]
        return pyarrow.array(values, pyarrow.float64())

    def add(name: str, function: Callable[..., Any], count: int, result: str) -> None:
        _add(connection, name, function, ["VARCHAR"] * count, result, has_models)

    _add(connection, "bertqa_answer_list", answer_list, ["VARCHAR", "VARCHAR[]"], "VARCHAR", has_models)
    add("bertqa_answer", only_answer, 2, "VARCHAR")
    add("bertqa_best_answer", best, 2, _ANSWER)
    add("bertqa_best_label", label, 2, "VARCHAR")
    add("bertqa_label_list", label_list, 2, _LABELS)
    add("bertqa_entity_list", entity_list, 2, _ENTITIES)
    add("bertqa_pattern_list", pattern_list, 3, _ENTITIES)
    add("bertqa_redacted", redacted, 6, "VARCHAR")
    add("bertqa_vector", vector, 2, f"FLOAT[{embedder.info.embedding_length}]")
    _add(connection, "bertqa_search_score", scores, ["DOUBLE", "DOUBLE"], "DOUBLE", has_models)
    connection.execute(_EMBED)
    connection.execute(_WORDS)
    connection.execute(_SEARCH)
    connection.execute(_ANSWERS)
    connection.execute(_ANSWER_ALL)
    connection.execute(_CLASSIFY)
    connection.execute(_LABEL_ROWS)
    connection.execute(_ALL_LABELS)
    connection.execute(_ENTITY_ROWS)
    connection.execute(_ALL_ENTITIES)
    connection.execute(_PATTERN_ROWS)
    connection.execute(_PATTERNS)
    connection.execute(_REDACT)


def _context(model: "Model", task: str) -> Context:
    context = model if isinstance(model, Context) else Context(model, task=task)
    if context.info.task != task:
        kind = context.info.task or "nothing"
        raise ValueError(f"the model of {task} is {context!r}, which is made for {kind}")
    if task == "embed" and context.info.embedding_length == 0:
        raise ValueError(f"the model of embed is {context!r}, which has no vectors of texts")
    return context


def _add(
    connection: "DuckDBPyConnection",
    name: str,
    function: Callable[..., Any],
    parameters: Any,
    result: str,
    has_models: bool,
) -> None:
    """Replaces the connection's function. Keeps one that another connection registered with the database."""
    import duckdb

    try:
        connection.remove_function(name)
    except duckdb.InvalidInputException:  # there is none
        pass
    if _exists(connection, name):
        if has_models:
            raise ValueError(f"another connection has registered {name} in this database: choose its models there")
        return
    # With "side effects" DuckDB does not index the results, which another model would invalidate.
    options: Any = {"type": "arrow", "null_handling": "special", "side_effects": True}
    connection.create_function(name, function, parameters, result, **options)


def _exists(connection: "DuckDBPyConnection", name: str) -> bool:
    sql = "SELECT count(*) FROM duckdb_functions() WHERE function_name = ?"
    [[count]] = connection.execute(sql, [name]).fetchall()
    return bool(count)


def _same(texts: Any) -> Optional[str]:
    """Returns the text that all rows share, to read it once; None if they differ or have nulls."""
    import pyarrow.compute

    first: Optional[str] = texts[0].as_py() if len(texts) else None
    if first is None or not pyarrow.compute.all(pyarrow.compute.equal(texts, first), skip_nulls=False).as_py():
        return None
    return first


def _names(labels: str) -> Optional[List[str]]:
    """Returns the names in a list of labels; None for the model's own."""
    names = _listed(labels)
    if labels and not names:
        raise ValueError("the labels are names separated by commas")
    return names and _unique(names)


def _unique(names: List[str]) -> List[str]:
    if len(set(names)) < len(names):
        raise ValueError("the labels have a name twice")
    return names


def _thresholds(labels: str) -> Optional[Dict[str, Optional[float]]]:
    """Returns the names in a list of labels with their thresholds, as in "disease=0.7"; None for all, as in "*"."""
    names = _names(labels)
    if names is None or names == ["*"]:
        return None
    pairs: List[Tuple[str, Optional[float]]] = []
    for name in names:
        own = re.fullmatch(r"(.*\S)\s*=\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)", name, re.DOTALL)
        pairs.append((own[1], float(own[2])) if own else (name, None))
    _unique([name for name, _ in pairs])
    return dict(pairs)


def _grouped(arguments: Any, function: Callable[..., Any], texts: Any) -> Any:
    """Applies a function to rows with equal arguments, usually all rows; a null argument gives null."""
    import pyarrow

    rows = list(zip(*(column.to_pylist() for column in arguments)))
    places: Any = {}
    for row, values in enumerate(rows):
        if None not in values:
            places.setdefault(values, []).append(row)
    if len(places) == 1 and len(next(iter(places.values()))) == len(texts):
        return function(texts, *rows[0])
    results: Any = [None] * len(texts)
    kind = pyarrow.null()
    for values, found in places.items():
        column = function(texts.take(pyarrow.array(found)), *values)
        kind = column.type
        for row, result in zip(found, column.to_pylist()):
            results[row] = result
    return pyarrow.array(results, kind)


def _listed(names: str) -> "Optional[List[str]]":
    """Returns names separated by commas; None if there are none."""
    return [name for name in _parts(names) if name] or None


def _parts(names: str) -> List[str]:
    return [name.strip() for name in names.split(",")]


def _redacted(finder: Context, texts: Any, kinds: str, action: str, value: str, regions: str, labels: str) -> Any:
    wrong = {"label": bool(value), "pseudonym": bool(value), "mask": re.fullmatch("[0-9]{0,9}", value) is None}
    if action not in REPLACEMENTS or wrong.get(action):
        raise ValueError(
            "bertqa_redact(text, patterns, action, value, regions, labels): the action is 'label', 'text', 'mask', 'hash' or "
            "'pseudonym'; the value is the text, the number of letters to keep, or the key"
        )
    found: Any = {"kinds": _parts(kinds), "regions": _listed(regions)}
    if labels:
        found.update(context=finder, labels=_thresholds(labels))
    if action == "pseudonym":  # numbered anew in each text
        import pyarrow

        rows = [redact_column([text], **found, pseudonyms=Pseudonyms())[0] for text in texts.to_pylist()]
        return pyarrow.array(rows, pyarrow.string())
    options: Any = {
        "label": {},
        "text": {"replacement": value},
        "mask": {"mask": value or "0"},
        "hash": {"key": value.encode()},
    }[action]
    if "mask" in options:
        options["mask"] = int(options["mask"])
    return redact_column(texts, **found, **options)


def _field(rows: Any, name: str) -> Any:
    """Returns a field of a struct column; null if the struct is null."""
    import pyarrow.compute

    return pyarrow.compute.struct_field(rows, name)


def _label_lists(rows: Any, labels: Any) -> Any:
    """Returns the labels of each row with their probabilities, the most probable first."""
    import pyarrow

    lists = []
    for row in _field(rows, "probabilities").to_pylist():
        order = [] if row is None else sorted(range(len(row)), key=row.__getitem__, reverse=True)
        lists.append([(labels[id], row[id], id) for id in order])
    fields = {"label": pyarrow.string(), "probability": pyarrow.float32(), "id": pyarrow.int32()}
    return pyarrow.array(lists, pyarrow.list_(pyarrow.struct(fields)))
