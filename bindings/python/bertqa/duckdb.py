"""SQL functions in DuckDB: answers, labels, vectors and entities of columns. Needs duckdb and pyarrow.

    import bertqa.duckdb, duckdb

    connection = duckdb.connect()
    bertqa.duckdb.register(connection)
    connection.sql("SELECT bertqa_answer('Who fell?', 'Ann fell.')").show()

DuckDB hands over up to 2048 rows at a time as Arrow columns, which the library reads in place.
"""

import os
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from ._columns import answer_column, classify_column, embed_column, entities_column
from ._context import Context

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    Model = Union[str, os.PathLike[str], Context, None]

_ANSWER = (
    'STRUCT(answer VARCHAR, "start" BIGINT, "end" BIGINT, probability FLOAT, score FLOAT, gap FLOAT,'
    " sentence VARCHAR, is_impossible BOOLEAN)"
)
_LABELS = "STRUCT(label VARCHAR, probability FLOAT, id INTEGER)[]"
_ENTITIES = 'STRUCT(label VARCHAR, text VARCHAR, "start" BIGINT, "end" BIGINT, score FLOAT)[]'

# DuckDB substitutes an expression for each use of its name and would run the model each time, but not across
# unnest().
_ANSWERS = """
CREATE OR REPLACE TEMP MACRO bertqa_answers(question, document) AS TABLE
SELECT r.answer, r.score, r.probability, r.gap, r."start" AS start_char, r."end" AS end_char, r.sentence, r.is_impossible
FROM (SELECT unnest([bertqa_best_answer(question, document)]) AS r) WHERE r.answer IS NOT NULL
"""
# A function of Python cannot be an aggregate, but takes a list.
_ANSWER_ALL = """
CREATE OR REPLACE TEMP MACRO bertqa_answer_all(question, document) AS
bertqa_answer_list(any_value(question), list(document) FILTER (WHERE question IS NOT NULL AND document IS NOT NULL))
"""
_ALL_LABELS = """
CREATE OR REPLACE TEMP MACRO bertqa_labels(document) AS TABLE
SELECT r.label, r.probability, r.id FROM (SELECT unnest(bertqa_label_list(document)) AS r)
"""
_ALL_ENTITIES = """
CREATE OR REPLACE TEMP MACRO bertqa_entities(document) AS TABLE
SELECT r.text AS entity, r.label, r.score, r."start" AS start_char, r."end" AS end_char
FROM (SELECT unnest(bertqa_entity_list(document)) AS r)
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
    bertqa_entities and bertqa_embed with a connection. docs/sql.md describes them.

    answer, classify, embed, entities: the model of each task, a directory or a Context; default: the default
        models.

    Registering again replaces the models. The functions belong to the database. bertqa_answer_all and the tables
    bertqa_answers, bertqa_labels and bertqa_entities belong to the connection: register a cursor, without models, to
    use them there.
    """
    has_models = not all(model is None for model in (answer, classify, embed, entities))
    reader, classifier = _context(answer, "answer"), _context(classify, "classify")
    embedder, finder = _context(embed, "embed"), _context(entities, "entities")
    labels = classifier.info.labels

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

    def label(texts: Any) -> Any:
        return _field(classify_column(classifier, texts), "label")

    def label_list(texts: Any) -> Any:
        return _label_lists(classify_column(classifier, texts), labels)

    def entity_list(texts: Any) -> Any:
        return entities_column(finder, texts)

    def vector(texts: Any) -> Any:
        return embed_column(embedder, texts)

    def add(name: str, function: Callable[..., Any], count: int, result: str) -> None:
        _add(connection, name, function, ["VARCHAR"] * count, result, has_models)

    _add(connection, "bertqa_answer_list", answer_list, ["VARCHAR", "VARCHAR[]"], "VARCHAR", has_models)
    add("bertqa_answer", only_answer, 2, "VARCHAR")
    add("bertqa_best_answer", best, 2, _ANSWER)
    add("bertqa_classify", label, 1, "VARCHAR")
    add("bertqa_label_list", label_list, 1, _LABELS)
    add("bertqa_entity_list", entity_list, 1, _ENTITIES)
    add("bertqa_embed", vector, 1, f"FLOAT[{embedder.info.embedding_length}]")
    connection.execute(_ANSWERS)
    connection.execute(_ANSWER_ALL)
    connection.execute(_ALL_LABELS)
    connection.execute(_ALL_ENTITIES)


def _context(model: "Model", task: str) -> Context:
    context = model if isinstance(model, Context) else Context(model, task=task)
    if context.info.task != task:
        kind = context.info.task or "nothing"
        raise ValueError(f"the model of {task} is {context!r}, which is made for {kind}")
    return context


def _add(
    connection: "DuckDBPyConnection",
    name: str,
    function: Callable[..., Any],
    parameters: Any,
    result: str,
    has_models: bool,
) -> None:
    """Replaces the connection's function. Keeps one that another connection has registered with the database."""
    import duckdb

    try:
        connection.remove_function(name)
    except duckdb.InvalidInputException:  # there is none
        pass
    if _exists(connection, name):
        if has_models:
            raise ValueError(f"another connection has given {name} to this database: choose its models there")
        return
    # With "side effects" DuckDB does not index the results, which another model would contradict.
    options: Any = {"type": "arrow", "null_handling": "special", "side_effects": True}
    connection.create_function(name, function, parameters, result, **options)


def _exists(connection: "DuckDBPyConnection", name: str) -> bool:
    sql = "SELECT count(*) FROM duckdb_functions() WHERE function_name = ?"
    [[count]] = connection.execute(sql, [name]).fetchall()
    return bool(count)


def _same(texts: Any) -> Optional[str]:
    """Returns the text that all rows share, so that it is read once; None if they differ or have nulls."""
    import pyarrow.compute

    first: Optional[str] = texts[0].as_py() if len(texts) else None
    if first is None or not pyarrow.compute.all(pyarrow.compute.equal(texts, first), skip_nulls=False).as_py():
        return None
    return first


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
