#!/usr/bin/env python3
"""Asks a question of a column in SQL.

usage: answer_duckdb.py FILE.parquet|FILE.csv COLUMN QUESTION

Prints the rows' answers, the surest first: a DuckDB function over Arrow columns, which DuckDB and the library hand
to each other without copies.
"""

import sys

import duckdb

import bertqa


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.strip().split("\n\n")[1])
    path, column, question = sys.argv[1:]
    context = bertqa.Context()

    def ask(questions, documents):
        return bertqa.answer_column(context, questions, documents, handle_impossible_answer=True)

    database = duckdb.connect()
    answer = duckdb.struct_type(
        {
            "answer": "VARCHAR", "start": "BIGINT", "end": "BIGINT", "probability": "FLOAT", "score": "FLOAT",
            "gap": "FLOAT", "sentence": "VARCHAR", "is_impossible": "BOOLEAN",
        }
    )  # fmt: skip
    database.create_function("ask", ask, ["VARCHAR", "VARCHAR"], answer, type="arrow")
    column = '"' + column.replace('"', '""') + '"'
    # DuckDB finds the table that the query names among the variables.
    reader = database.read_parquet(path) if path.endswith(".parquet") else database.read_csv(path)  # noqa: F841
    found = database.execute(
        f"""
        SELECT a.answer, a.probability FROM (SELECT ask(?, {column}) AS a FROM reader)
        WHERE a.answer IS NOT NULL ORDER BY a.probability DESC
        """,
        [question],
    )
    for text, probability in found.fetchall():
        print(f"{probability:.3f}  {text}")


if __name__ == "__main__":
    main()
