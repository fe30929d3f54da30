"""A standalone cluster of Apache Spark on this machine: a master and workers, for tests and benchmarks."""

import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

TIMEOUT = 300


def missing():
    """Returns the missing requirement of the tests, or None."""
    if importlib.util.find_spec("pyspark") is None:
        return "needs pyspark"
    java = shutil.which("java")
    version = java and subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)', version or "")
    return None if found and int(found[1]) >= 17 else "needs Java 17 (openjdk-17-jre-headless)"


def home():
    return pathlib.Path(importlib.util.find_spec("pyspark").origin).parent


class Cluster:
    """Workers of one core each, at 127.0.0.1, 127.0.0.2 and so on: Spark runs no speculative copy on the same host.
    `environment` is that of all processes, without what leads to a checkout."""

    def __init__(self, directory, environment, workers=2):
        self.directory = pathlib.Path(directory)
        own = {
            "SPARK_HOME": str(home()), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_DAEMON_MEMORY": "256m",
        }  # fmt: skip
        self.environment = {**environment, **own}
        self.processes = []
        try:
            self._start("master.Master", "--port", "0")
            self.master = self._told("master.Master", r"Starting Spark master at (spark://\S+)")
            for number in range(workers):
                place = self.directory / f"worker{number}"
                self._start(
                    "worker.Worker", "--port", "0", "--cores", "1", "--memory", "1g", "--work-dir", place,
                    self.master, number=number,
                )  # fmt: skip
            for number in range(workers):
                self._told("worker.Worker", "Successfully registered with master", number)
        except BaseException:
            self.close()
            raise

    def _log(self, name, number):
        return self.directory / f"{name}{number}.log"

    def _start(self, name, *arguments, number=0):
        host = f"127.0.0.{number + 1}"
        command = [home() / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", "--host", host]
        with self._log(name, number).open("w") as log:
            process = subprocess.Popen(
                [*command, "--webui-port", "0", *arguments], env={**self.environment, "SPARK_LOCAL_IP": host},
                cwd=self.directory, stderr=log, stdout=log, start_new_session=True,
            )  # fmt: skip
        self.processes.append(process)

    def _told(self, name, pattern, number=0):
        """Waits for a line of the log."""
        end = time.monotonic() + TIMEOUT
        while True:
            text = self._log(name, number).read_text(errors="replace")
            found = re.search(pattern, text)
            if found:
                return found[found.lastindex or 0]
            if any(process.poll() is not None for process in self.processes) or time.monotonic() > end:
                raise RuntimeError(f"{name}: {text[-3000:]}")
            time.sleep(0.1)

    def start_job(self, program, *arguments, options=(), conf=None):
        """Starts spark-submit for a program, as a process."""
        settings = {
            "spark.executor.memory": "512m", "spark.driver.memory": "512m", "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "2", **(conf or {}),
        }  # fmt: skip
        command = [str(home() / "bin" / "spark-submit"), "--master", self.master, *map(str, options)]
        for name, value in settings.items():
            command += ["--conf", f"{name}={value}"]
        log = (self.directory / "job.log").open("w")
        return subprocess.Popen(
            [*command, str(program), *map(str, arguments)], env=self.environment, cwd=self.directory, text=True,
            stdout=subprocess.PIPE, stderr=log, start_new_session=True,
        )  # fmt: skip

    def finish(self, job, timeout=TIMEOUT):
        """The job's output."""
        try:
            output, _ = job.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            stop(job)
            raise
        assert job.returncode == 0, output + (self.directory / "job.log").read_text(errors="replace")[-6000:]
        return output

    def run(self, *arguments, timeout=TIMEOUT, **options):
        return self.finish(self.start_job(*arguments, **options), timeout)

    def close(self):
        """Ends the workers first, which end their executors."""
        for process in reversed(self.processes):
            stop(process)


def stop(process):
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    except ProcessLookupError:
        process.wait()
