#!/usr/bin/env python3
"""Answers in worker processes that share one loaded model.

usage: fork_workers.py [--method fork|spawn|forkserver] QUESTION FILE ...

The model is loaded before the workers start. Forked workers inherit it. Other workers unpickle its arguments and open
it again. Either way its memory-mapped weights are in memory once. Threads of one process work equally well; processes
are for hosts that already use them.
"""

import argparse
import multiprocessing
import os

import bertqa


def start(*inherited):
    global context, question
    context, question = inherited


def ask(path):
    with open(path, "rb") as file:
        best = context.answer(question, file.read()).answer
    return path, best.text.decode("utf-8", "replace") if best else "", os.getpid()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="fork", choices=multiprocessing.get_all_start_methods())
    parser.add_argument("question", metavar="QUESTION")
    parser.add_argument("paths", metavar="FILE", nargs="+")
    arguments = parser.parse_args()
    workers = min(len(arguments.paths), os.cpu_count() or 1)
    state = bertqa.Context(threads=1), arguments.question
    with multiprocessing.get_context(arguments.method).Pool(workers, start, state) as pool:
        for path, answer, process in pool.imap(ask, arguments.paths):
            print(f"{path}\t{answer}\t{process}")


if __name__ == "__main__":
    main()
