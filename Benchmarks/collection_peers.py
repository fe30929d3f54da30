#!/usr/bin/env python3
"""Measures other libraries on the passages of a collection, beside collection.py: sentence-transformers with sqlite-vec,
and txtai with words and vectors. docs/collections.md quotes it.

usage: collection_peers.py DATABASE MODEL COUNT FILE...    indexes the passages of DATABASE, which collection.py has made of
                                                          FILEs, and asks COUNT questions of each source
MODEL: a directory that sentence-transformers reads. Needs the PyPI packages sentence-transformers, sqlite-vec and txtai;
what is missing is left out.
"""

import sqlite3
import statistics
import sys
import time

from collection import documents, places, questions, rank

THREADS = 2


def sqlite_vec(model, passages):
    """Returns what adds all passages, and what finds the ids of the best 20 for a question."""
    import sqlite_vec
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(THREADS)
    encoder = SentenceTransformer(model, device="cpu")
    database = sqlite3.connect(":memory:")
    database.enable_load_extension(True)
    sqlite_vec.load(database)
    database.execute("CREATE VIRTUAL TABLE rows USING vec0(vector float[384] distance_metric=cosine)")

    def index():
        vectors = encoder.encode([text for _, text in passages], batch_size=32)
        database.executemany(
            "INSERT INTO rows(rowid, vector) VALUES (?, ?)", zip((id for id, _ in passages), vectors)
        )

    def search(question):
        found = "SELECT rowid FROM rows WHERE vector MATCH ? AND k = 20 ORDER BY distance"
        return [id for (id,) in database.execute(found, (encoder.encode(question),))]

    return index, search


def txtai(model, passages):
    import torch
    import txtai

    torch.set_num_threads(THREADS)
    embeddings = txtai.Embeddings(path=model, hybrid=True, gpu=False)

    def index():
        embeddings.index(passages)

    def search(question):
        return [int(id) for id, _ in embeddings.search(question, 20)]

    return index, search


def main(database, model, count, *paths):
    connection = sqlite3.connect(database)
    passages = connection.execute("SELECT id, text FROM passages").fetchall()
    passage_places = {
        id: place
        for id, *place in connection.execute(
            "SELECT p.id, d.name, p.start, p.end FROM passages p JOIN documents d ON d.id = p.document"
        )
    }
    numbers, asked = documents(database, paths), questions(paths, int(count))
    for name, make in ("sentence-transformers, sqlite-vec", sqlite_vec), ("txtai", txtai):
        try:
            index, search = make(model, passages)
        except (ImportError, AttributeError) as error:
            print(f"{name}: {error}")
            continue
        begin, processors = time.perf_counter(), time.process_time()
        index()
        seconds, processors = time.perf_counter() - begin, time.process_time() - processors
        print(
            f"{name}: {len(passages)} passages, {len(passages) / seconds:.0f} passages/s "
            f"({processors:.1f} s of processors)",
            flush=True,
        )
        for source, each in asked.items():
            ranks, times = [], []
            for question, context, answers in each:
                begin = time.perf_counter()
                ids = search(question)
                times.append(1000 * (time.perf_counter() - begin))
                ranks.append(rank([passage_places[id] for id in ids], places(numbers, context, answers)))
            shares = (f"{sum(r < most for r in ranks) / len(each):.3f}" for most in (1, 5, 20))
            print(f"  {source}: search {statistics.median(times):.0f} ms; among 1, 5, 20:", *shares, flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
