"""A PostgreSQL server in a temporary directory, on a socket there, with the extension installed; sessions of it."""

import os
import pathlib
import pwd
import re
import shutil
import subprocess
import tempfile
import time

import pytest

from conftest import FIXTURES, PREFIX, ROOT

TIMEOUT = 300


def installation():
    """Returns the path of Debian's newest server for which extensions can be built, or None."""
    found = pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")
    headers = pathlib.Path("/usr/include/postgresql")
    servers = [
        path.parents[1] for path in found if (headers / path.parents[1].name / "server" / "postgres.h").exists()
    ]
    return max(servers, key=lambda path: int(path.name), default=None)


class Server:
    """A server finds its files relative to its program. So it runs from a tree of links to the installed one, in
    which the extension can be installed without touching the system."""

    def __init__(self):
        installed = installation()
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="bertqa-postgres-"))
        self.root.chmod(0o755)
        # The server refuses to run as root.
        self.user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        self.binaries = self.root / installed.relative_to("/") / "bin"
        self.data = self.root / "data"
        try:
            self.install(installed)
            self.start()
        except BaseException:
            self.close()
            raise

    def install(self, installed):
        for directory in installed, pathlib.Path("/usr/share/postgresql") / installed.name:
            target = self.root / directory.relative_to("/")
            target.parent.mkdir(parents=True)
            subprocess.run(["cp", "-rs", directory, target], check=True)
        for name in "postgres", "initdb", "pg_ctl":
            (self.binaries / name).unlink()
            shutil.copy(installed / "bin" / name, self.binaries)
        # The library and its models, where the server's user may read them.
        for path in "lib", "share/bertqa":
            shutil.copytree(PREFIX / path, self.root / "bertqa" / path)
        # The extension out of its Debian package.
        subprocess.run(
            [ROOT / "Scripts" / "deb-postgresql.sh", self.root],
            env=os.environ | {"BERTQA_PREFIX": str(PREFIX), "COPT": "-Werror"},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        [self.package] = self.root.glob(f"postgresql-{installed.name}-bertqa_*.deb")
        subprocess.run(["dpkg-deb", "--extract", self.package, self.root], check=True)

    def command(self, *arguments):
        prefix = ["runuser", "-u", self.user, "--"] if os.geteuid() == 0 else []
        environment = {
            "PATH": os.environ["PATH"],
            "LD_LIBRARY_PATH": str(self.root / "bertqa" / "lib"),
            "LC_ALL": "C",
        }
        subprocess.run([*prefix, *arguments], cwd="/", env=environment, stdout=subprocess.DEVNULL, check=True)

    def start(self):
        self.data.mkdir(mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(self.data, self.user)
        initdb = [self.binaries / "initdb", "-D", self.data, "-A", "trust", "-N", "-E", "UTF8", "--locale=C.UTF-8"]
        self.command(*initdb, "-U", "postgres")
        options = f"-k {self.data} -c listen_addresses='' -c fsync=off -c max_worker_processes=8"
        control = [self.binaries / "pg_ctl", "-D", self.data, "-l", self.data / "log", "-w"]
        self.command(*control, "-o", options, "start")

    def close(self):
        if (self.data / "postmaster.pid").exists():
            self.command(self.binaries / "pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.root)

    def connect(self, database="postgres", user="postgres"):
        return Session(self, database, user)

    def wait(self):
        """Waits until the server accepts connections again, after a backend was killed."""
        end = time.monotonic() + TIMEOUT
        while True:
            try:
                with self.connect() as session:
                    return session.execute("SELECT 1")
            except SQLError:
                assert time.monotonic() < end
                time.sleep(0.05)


class SQLError(Exception):
    """state: SQLSTATE."""

    def __init__(self, state, message):
        super().__init__(message)
        self.state = state


class Session:
    """One session of psql, and so one backend."""

    MARK = "--end--"

    def __init__(self, server, database, user):
        command = [installation() / "bin" / "psql", "-XAtq", "-h", server.data, "-U", user, "-d", database]
        options = ["-P", "null=NULL", "-F", "\t", "-v", "VERBOSITY=verbose"]
        self.process = subprocess.Popen(
            [*command, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            env=os.environ | {"PGCLIENTENCODING": "UTF8", "LC_ALL": "C.UTF-8"},
        )
        self.backend = int(self.value("SELECT pg_backend_pid()"))

    def send(self, sql):
        try:
            self.process.stdin.write(f"{sql};\n\\echo {self.MARK}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # what psql said is yet to be read

    def receive(self):
        """Returns the rows of the query that was sent, as lists of strings."""
        lines = []
        while True:
            line = self.process.stdout.readline()
            if line == f"{self.MARK}\n":
                break
            lines.append(line.rstrip("\n"))
            if not line:
                break
        for line in lines:
            error = re.search(r"(?:ERROR|FATAL):  (\w{5}): (.*)", line)
            if error:
                raise SQLError(*error.groups())
        if (lines and not lines[-1]) or "server closed the connection unexpectedly" in lines:
            raise SQLError("08006", "\n".join(lines))
        return [line.split("\t") for line in lines]

    def execute(self, sql):
        self.send(sql)
        return self.receive()

    def value(self, sql):
        [[value]] = self.execute(sql)
        return value

    def close(self):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait(TIMEOUT)
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def quote(text):
    return "'" + text.replace("'", "''") + "'"


if installation() is None:
    pytest.skip("PostgreSQL: needs postgresql and postgresql-server-dev-all", allow_module_level=True)


@pytest.fixture(name="server", scope="module")
def running_server():
    server = Server()
    try:
        with server.connect() as session:
            session.execute("CREATE EXTENSION bertqa")
        yield server
    finally:
        server.close()


@pytest.fixture(name="session")
def opened_session(server):
    with server.connect() as session:
        yield session


@pytest.fixture(name="tiny_path", scope="module")
def copied_models(server):
    """A path that the server's user can read."""
    copy = shutil.copytree(FIXTURES / "tiny-bert", server.root / "tiny-bert")
    for kind in "tiny-bert-embedder", "tiny-bert-entities", "tiny-gliner":
        shutil.copytree(FIXTURES / kind, server.root / kind)
    return copy
