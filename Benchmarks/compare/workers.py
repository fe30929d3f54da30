"""Each engine lives in a process of its own, so that their thread pools and settings cannot meet; the
parent lets them work in turn."""

import importlib.util
import multiprocessing
import os
import statistics
import sys
import time
import traceback


def _serve(connection, make, arguments):
    sink = os.open(os.devnull, os.O_WRONLY)  # some engines print
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    prepared = {}
    try:
        subject = make(*arguments)
        connection.send((None, None))
        while True:
            command, key, value = connection.recv()
            result = None
            if command == "prepare":
                prepared[key] = subject.prepare(*value)
            elif command == "time":
                result = []
                calls, warm_up, anew = value
                if warm_up:
                    subject.run(prepared[key])
                for _ in range(calls):
                    if anew:
                        subject = make(*arguments)
                    wall, cpu = time.perf_counter(), time.process_time()
                    subject.run(prepared[key])
                    result.append((time.perf_counter() - wall, time.process_time() - cpu))
            else:
                result = getattr(subject, command)(prepared[key])
            connection.send((None, result))
    except EOFError:
        pass
    except BaseException:
        connection.send((traceback.format_exc(), None))


class Worker:
    def __init__(self, name, make, arguments, threads, environment=None):
        """`environment`: variables of this worker's process alone."""
        self.name = name
        for variable in "OMP_NUM_THREADS", "RAYON_NUM_THREADS":
            os.environ[variable] = str(threads)
        os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy's threads would spin beside the engine's
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, make, arguments), daemon=True)
        before = dict(os.environ)
        os.environ.update(environment or {})
        try:
            self.process.start()
        finally:
            os.environ.clear()
            os.environ.update(before)
        other.close()
        self._receive()

    @classmethod
    def able(cls, name, engines, arguments, environment=None):
        """The worker of an engine that is installed and loads, or None. arguments: model, precision, threads, …"""
        make, _, package = engines[name]
        if importlib.util.find_spec(package) is None:
            note(f"{name}: {package} is not installed")
            return None
        try:
            return cls(name, make, arguments, arguments[2], environment=environment)
        except RuntimeError as error:
            note(f"left out: {error}")
            return None

    def _receive(self):
        try:
            error, result = self.connection.recv()
        except EOFError:
            error, result = "it ended", None
        if error:
            raise RuntimeError(f"{self.name}: {error.strip().splitlines()[-1]}")
        return result

    def ask(self, command, key, value=None):
        self.connection.send((command, key, value))
        return self._receive()

    def close(self):
        self.connection.close()
        self.process.join()


def start(names, engines, model, threads):
    """The workers of those engines that are installed and load."""
    workers = [Worker.able(name, engines, (model, engines[name][1], threads)) for name in names]
    return [worker for worker in workers if worker]


def measure(workers, key, rounds, calls, cpu=False, warm_up=True, anew=False):
    """Medians in seconds by worker name. In each round every worker has a turn: one call that is not
    counted, which brings its code and data into the caches, and `calls` that are. `cpu`: processor
    time, which other processes' turns do not count in, instead of the clock's. `anew`: each counted call is
    the first of an engine that was just made, so that what it keeps of earlier calls does not help."""
    samples = {worker.name: [] for worker in workers}
    for round in range(rounds):
        for worker in workers if round % 2 else reversed(workers):
            samples[worker.name] += worker.ask("time", key, (calls, warm_up, anew))
    return {name: statistics.median(s[1 if cpu else 0] for s in list) for name, list in samples.items()}


def note(message):
    print(message, file=sys.stderr, flush=True)
