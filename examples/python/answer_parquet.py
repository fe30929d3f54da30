#!/usr/bin/env python3
"""Adds a column of answers to a Parquet file of any size.

usage: answer_parquet.py [--model DIR] [--rows N] IN.parquet OUT.parquet

IN.parquet has the columns "question" and "document". OUT.parquet also has "answer" and "probability", which are null
if the document does not seem to contain an answer. The script reads N rows (default 4096) at a time, answers them as a
Polars frame and writes them, so memory does not grow with the file. OUT.parquet appears when it is complete.
"""

import argparse
import os
import sys
import time

import polars
import pyarrow
import pyarrow.parquet

import bertqa


def answered(context, frame):
    # These are already String unless the file has dictionaries.
    texts = [frame[name].cast(polars.String) for name in ("question", "document")]
    answers = bertqa.answer_column(context, *texts, handle_impossible_answer=True)
    return frame.hstack(answers.struct.unnest().select("answer", "probability"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", metavar="DIR")
    parser.add_argument("--rows", metavar="N", type=int, default=4096)
    parser.add_argument("input", metavar="IN.parquet")
    parser.add_argument("output", metavar="OUT.parquet")
    arguments = parser.parse_args()

    # Without these, pyarrow reads whole columns ahead.
    bounded = {"pre_buffer": False, "buffer_size": 1 << 20}
    partial = arguments.output + ".partial"
    with (
        bertqa.Context(arguments.model) as context,
        pyarrow.parquet.ParquetFile(arguments.input, **bounded) as file,
    ):
        missing = {"question", "document"} - set(file.schema_arrow.names)
        if missing:
            sys.exit(
                f"answer_parquet.py: no column {' and no column '.join(sorted(missing))} in {arguments.input}"
            )
        schema = file.schema_arrow.append(pyarrow.field("answer", pyarrow.string()))
        schema = schema.append(pyarrow.field("probability", pyarrow.float32()))
        with pyarrow.parquet.ParquetWriter(partial, schema) as writer:
            progress = Progress(file.metadata.num_rows)
            for batch in file.iter_batches(arguments.rows):
                frame = answered(context, polars.from_arrow(batch))
                # Polars has fewer types than Arrow; restore those of the other columns.
                writer.write_table(frame.to_arrow().cast(schema))
                progress.add(len(frame))
    os.replace(partial, arguments.output)


class Progress:
    """Shows progress and remaining time on standard error: redrawn on a terminal, else a line per tenth."""

    def __init__(self, total):
        self.total, self.done, self.start = total, 0, time.monotonic()

    def add(self, rows):
        before, self.done = self.done, self.done + rows
        terminal = sys.stderr.isatty()
        if not terminal and before * 10 // self.total == self.done * 10 // self.total:
            return
        rate = self.done / (time.monotonic() - self.start)
        left = (self.total - self.done) / rate
        text = f"{self.done:,} of {self.total:,} rows, {rate:,.0f} a second, {left:,.0f} s left"
        is_last = self.done == self.total
        print(f"\r{text:78}" if terminal else text, end="" if terminal and not is_last else "\n", file=sys.stderr)


if __name__ == "__main__":
    main()
