#!/usr/bin/env python3
"""Answers in worker processes that share one loaded model.

usage: fork_workers.py QUESTION FILE ...

The model is loaded before the workers are forked: they inherit it, and its memory-mapped weights are in
memory once. Threads of one process do as well; processes are for hosts that have them anyway.
"""

import multiprocessing
import os
import sys

import bertqa


def ask(path):
    with open(path, "rb") as file:
        best = context.answer(question, file.read()).answer
    return path, best.text.decode("utf-8", "replace") if best else "", os.getpid()


def main():
    global context, question
    if len(sys.argv) < 3:
        sys.exit("usage: fork_workers.py QUESTION FILE ...")
    question, *paths = sys.argv[1:]
    context = bertqa.Context(threads=1)
    with multiprocessing.get_context("fork").Pool(min(len(paths), os.cpu_count() or 1)) as pool:
        for path, answer, process in pool.imap(ask, paths):
            print(f"{path}\t{answer}\t{process}")


if __name__ == "__main__":
    main()
