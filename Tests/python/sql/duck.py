"""What the tests of bertqa.duckdb share: a connection with small models, and a table of texts."""

import duckdb
import pyarrow
import pytest

import bertqa.duckdb
from conftest import FIXTURES

ENTITIES = FIXTURES / "tiny-bert-entities"


@pytest.fixture(name="connection")
def small_models():
    """Models with random weights; those for labels, vectors and entities take almost no time."""
    with duckdb.connect() as connection:
        models = {
            "classify": FIXTURES / "tiny-bert-classifier",
            "embed": FIXTURES / "tiny-bert-embedder",
            "entities": ENTITIES,
        }
        bertqa.duckdb.register(connection, **models)
        yield connection


def value(connection, sql, *parameters):
    [[value]] = connection.execute(sql, parameters).fetchall()
    return value


def table(connection, texts):
    connection.execute("CREATE OR REPLACE TABLE texts(id BIGINT, body VARCHAR)")
    rows = pyarrow.table({"id": range(len(texts)), "body": pyarrow.array(texts, pyarrow.string())})  # noqa: F841
    connection.execute("INSERT INTO texts SELECT * FROM rows")
