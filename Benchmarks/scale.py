#!/usr/bin/env python3
"""The cost of a question to 10^6, 10^8 and 10^10 passages, read as a whole and narrowed by search, and the limits
of a cluster. docs/scale.md quotes it.

usage: scale.py                                 tells what follows from the figures below
       scale.py search QUESTIONS TEXTS...       measures a search by the number of passages, for SEARCH below

`search` makes indexes of 1,000 passages and more in memory, of TEXTS as for corpus.py, again and again until there are
enough, and asks 50 questions of each; it needs what corpus.py needs.

The simulation: cores take tasks from one driver, which hands out one after the other. A task has PASSAGES passages;
the first one on a core starts a worker before. Machines differ in speed, some are slow, some are lost with what their
cores are doing, which other cores do again; with speculation, idle cores copy the task that would end last.
"""

import dataclasses
import heapq
import random
import sys
import time

# Measured on two cores of an AMD EPYC (Zen 5) that had up to seven times as much to do: processor time.
READ = 1.85e-3  # s a passage, without Spark, which adds nothing that could be measured: spark_rows.py
TASK = 12e-3  # s of the driver for a task: spark_rows.py
START = 0.4  # s until a new worker process has its first answer: spark_rows.py
ANSWER = 163  # bytes an answer in Parquet: spark_rows.py
WORKER, EXECUTOR = 128, 396  # MiB of a Python worker and of an executor's JVM: spark_rows.py
TEXT = 224  # bytes a passage: docs/sql.md
INDEX = 43e-6  # s a passage to index it with FTS5: docs/sql.md
INDEX_BYTES = 409  # a passage, its text included: docs/sql.md
SEARCH = 57e-9  # s a passage of the index, for one question: `scale.py search`
NARROWED = 20  # passages that are read for a question

# Assumed.
JOB = 10.0  # s until the executors of a job are there
CORES_OF_MACHINE = 16
SPREAD = 0.1  # of the machines' speeds, standard deviation over mean
SLOW_SHARE, SLOW = 0.01, 3.0  # of the machines, and how many times slower
LOST_AFTER = 30 * 86400.0  # s until a machine is lost, on average
NETWORK = 10e9 / 8  # bytes a second of a machine


@dataclasses.dataclass
class Run:
    """The result of a simulated job."""

    seconds: float
    core_seconds: float  # of all cores, from the beginning to the end, busy or not
    repeated: int  # copies, and tasks that were begun again


def simulate(passages, cores, in_task, speculation=True):
    """One job."""
    rng = random.Random(1)
    tasks = max(1, passages // in_task)
    machines = max(1, cores // CORES_OF_MACHINE)
    speed = [max(0.5, rng.gauss(1, SPREAD)) / (SLOW if rng.random() < SLOW_SHARE else 1) for _ in range(machines)]
    work = in_task * max(READ, TEXT * CORES_OF_MACHINE / NETWORK)
    lost = [(rng.expovariate(1 / LOST_AFTER), machine) for machine in range(machines)]
    heapq.heapify(lost)
    epochs = [0] * machines  # how often each was lost
    is_started, is_done, is_copied = [False] * cores, bytearray(tasks), bytearray(tasks)
    waiting, left, repeated = list(range(tasks)), tasks, 0
    now = handed = 0.0  # handed: when the driver has handed out all up to here
    idle = list(range(cores))
    events = []  # (end, core, task, epoch of its machine)
    last = []  # (-end, task): those that would end last come first

    def next_task():
        """One that waits, else a copy of one that ends later than a task would take from now on."""
        if waiting:
            return waiting.pop()
        while speculation and last:
            end, number = last[0]
            if -end <= now + 1.5 * work:
                return None
            heapq.heappop(last)
            if not is_done[number] and not is_copied[number]:
                is_copied[number] = 1
                return number
        return None

    while left:
        while idle:
            number = next_task()
            if number is None:
                break
            core = idle.pop()
            machine = core % machines
            handed = max(handed, now) + TASK
            end = handed + work / speed[machine] + (0 if is_started[core] else START)
            is_started[core] = True
            repeated += is_copied[number]
            heapq.heappush(events, (end, core, number, epochs[machine]))
            heapq.heappush(last, (-end, number))
        now, core, number, epoch = heapq.heappop(events)
        while lost[0][0] < now:
            when, machine = heapq.heappop(lost)
            heapq.heappush(lost, (when + rng.expovariate(1 / LOST_AFTER), machine))
            epochs[machine] += 1
            for other in range(machine, cores, machines):
                is_started[other] = False
        if is_done[number]:
            pass
        elif epoch == epochs[core % machines]:
            is_done[number], left = 1, left - 1
        else:
            waiting.append(number)
            repeated += 1
        idle.append(core)
    return Run(now + JOB, (now + JOB) * cores, repeated)


def unit(value, *names):
    """With three digits, in the unit that suits."""
    name, one = next((each for each in names if value >= each[1]), names[-1])
    return f"{value / one:,.3g} {name}" if value / one < 1000 else f"{value / one:,.0f} {name}"


def seconds(value):
    return unit(value, ("h", 3600), ("min", 60), ("s", 1), ("ms", 1e-3))


def size(value):
    return unit(value, ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3))


def core_hours(value):
    return f"{value / 3600:,.2g}" if value < 36000 else f"{value / 3600:,.0f}"


def row(*cells):
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def head(*cells):
    row(*cells)
    print("|---" * len(cells) + "|")


def tell_work():
    head(
        "passages", "reading everything", "texts in", "answers out", "index, once", "its size", "search for a question",
        "reading 20 passages", "search over reading",
    )  # fmt: skip
    for power in 6, 8, 10:
        count = 10**power
        search, read = SEARCH * count, READ * NARROWED
        row(
            f"10^{power}", f"{core_hours(READ * count)} core-hours", size(TEXT * count), size(ANSWER * count),
            f"{core_hours(INDEX * count)} core-hours", size(INDEX_BYTES * count), f"{seconds(search)} of a core",
            f"{seconds(read)} of a core", f"{search / read:,.1f}",
        )  # fmt: skip
    slot = WORKER + EXECUTOR / CORES_OF_MACHINE
    print(f"""
- Search and reading {NARROWED} passages cost the same at {READ * NARROWED / SEARCH:,.0f} passages.
- Reading everything once costs as much as indexing it {READ / INDEX:.0f} times.
- A core reads {TEXT / READ / 1e3:.0f} KB of texts a second: a link of 10 Gbit/s feeds {NETWORK * READ / TEXT:,.0f} cores.
- Memory: {slot:.0f} MiB a core with executors of {CORES_OF_MACHINE} cores, {slot * 1000 / 1024:.0f} GiB for 1,000 cores.
- A driver keeps all cores busy if a task has at least {TASK / READ:.1f} passages times the number of cores.
""")


def tell_runs():
    head("passages", "cores", "passages a task", "time", "core-hours", "begun again", "time without speculation")
    for power, cores, in_task in [
        (6, 16, 1_000), (6, 160, 1_000), (8, 160, 10_000), (8, 1_600, 1_000), (8, 1_600, 10_000), (8, 1_600, 50_000),
        (10, 1_600, 100_000), (10, 16_000, 20_000), (10, 16_000, 100_000), (10, 16_000, 500_000),
    ]:  # fmt: skip
        run = simulate(10**power, cores, in_task)
        plain = simulate(10**power, cores, in_task, speculation=False)
        row(
            f"10^{power}", f"{cores:,}", f"{in_task:,}", seconds(run.seconds), core_hours(run.core_seconds),
            f"{run.repeated:,}", seconds(plain.seconds),
        )  # fmt: skip


def search(questions, *paths):
    import pathlib
    import sqlite3

    import corpus

    rows = list(
        dict.fromkeys(
            p for path in paths for text in corpus.texts(pathlib.Path(path)) for p in corpus.passages(text)
        )
    )
    asked = [record["question"] for record in corpus.questions(questions, 50)]
    connection = sqlite3.connect(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(str(corpus.EXTENSION))
    print(f"{len(rows)} different passages, {len(asked)} questions")
    count = 0
    for wanted in 1_000, 10_000, 100_000, 400_000:
        connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS documents USING fts5(body, tokenize='porter unicode61')"
        )
        more = ((rows[number % len(rows)],) for number in range(count, wanted))
        connection.executemany("INSERT INTO documents VALUES (?)", more)
        connection.execute("INSERT INTO documents(documents) VALUES ('optimize')")
        count = wanted
        begin = time.process_time()
        sql = "SELECT rowid FROM documents WHERE documents MATCH bertqa_match(?) ORDER BY rank LIMIT 20"
        for question in asked:
            connection.execute(sql, [question]).fetchall()
        used = (time.process_time() - begin) / len(asked)
        print(
            f"{count} passages: {1000 * used:.2f} ms a question, {1e9 * used / count:.0f} ns a passage", flush=True
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["search"] and len(sys.argv) > 3:
        search(*sys.argv[2:])
    elif len(sys.argv) == 1:
        tell_work()
        tell_runs()
    else:
        sys.exit(__doc__)
