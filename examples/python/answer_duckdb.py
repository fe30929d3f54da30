#!/usr/bin/env python3
"""Asks a question of a column in SQL.

usage: answer_duckdb.py FILE.parquet|FILE.csv COLUMN QUESTION

Prints the rows' answers with bertqa.duckdb, the surest first.
"""

import sys

import duckdb

import bertqa.duckdb


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.strip().split("\n\n")[1])
    path, column, question = sys.argv[1:]
    database = duckdb.connect()
    bertqa.duckdb.register(database)
    column = '"' + column.replace('"', '""') + '"'
    # DuckDB finds the table of the query among the variables.
    reader = database.read_parquet(path) if path.endswith(".parquet") else database.read_csv(path)  # noqa: F841
    found = database.execute(
        f"""
        SELECT answer, probability FROM reader, bertqa_answers(?, {column})
        WHERE NOT is_impossible ORDER BY probability DESC
        """,
        [question],
    )
    for text, probability in found.fetchall():
        print(f"{probability:.3f}  {text}")


if __name__ == "__main__":
    main()
