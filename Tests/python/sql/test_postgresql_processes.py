"""The PostgreSQL extension's processes: calls that are to stop, backends that end, parallel plans, shared weights."""

import os
import re
import signal

import pytest

from conftest import ROOT
from postgres import SQLError, copied_models, installation, opened_session, quote, running_server  # noqa: F401
from samples import ANSWER, APOLLO, FOX, WHO, check_shared

CANCELLED = "57014"
# Each takes minutes.
LONG = f"repeat({quote(FOX + ' ')}, 400000)"

LONG_CALLS = [
    f"SELECT bertqa_answer('Who?', {LONG})",
    f"SELECT count(*) FROM bertqa_answers('Who?', {LONG}, 3)",
    f"SELECT bertqa_embed({LONG})",
    f"SELECT sum(length(bertqa_answer('Who?', i || {quote(FOX)}))) FROM generate_series(1, 10000000) AS i",
]


@pytest.mark.parametrize("sql", LONG_CALLS)
def test_statement_timeout(session, sql):
    session.execute("SET statement_timeout = 200")
    with pytest.raises(SQLError, match="canceling statement due to statement timeout") as caught:
        session.execute(sql)
    assert caught.value.state == CANCELLED
    session.execute("SET statement_timeout = 0")
    assert session.value(f"SELECT bertqa_answer({quote(WHO)}, {quote(FOX)})") == ANSWER


@pytest.mark.skipif(int(installation().name) < 17, reason="transaction_timeout: needs PostgreSQL 17")
def test_transaction_timeout(server):
    with server.connect() as session:
        session.execute("SET transaction_timeout = 200")
        with pytest.raises(SQLError, match="due to transaction timeout"):
            session.execute(LONG_CALLS[0])


def wait_until_active(session, backend):
    while session.value(f"SELECT state FROM pg_stat_activity WHERE pid = {backend}") != "active":
        pass


def test_cancel(server, session):
    with server.connect() as other:
        session.send(LONG_CALLS[0])
        wait_until_active(other, session.backend)
        other.execute(f"SELECT pg_sleep(0.2), pg_cancel_backend({session.backend})")
        with pytest.raises(SQLError, match="canceling statement due to user request"):
            session.receive()
        assert session.value(f"SELECT bertqa_answer({quote(WHO)}, {quote(FOX)})") == ANSWER


@pytest.mark.parametrize("sql", LONG_CALLS[:1])
def test_a_backend_that_is_ended(server, sql):
    """An administrator ends it cleanly: the others do not notice."""
    with server.connect() as ended, server.connect() as other:
        ended.send(sql)
        wait_until_active(other, ended.backend)
        other.execute(f"SELECT pg_sleep(0.2), pg_terminate_backend({ended.backend}, 60000)")
        with pytest.raises(SQLError, match="terminating connection due to administrator command"):
            ended.receive()
        assert other.value(f"SELECT bertqa_answer({quote(WHO)}, {quote(FOX)})") == ANSWER


def test_what_other_sessions_ask_of_a_call(server):
    """DROP DATABASE waits until all backends have closed the database's files."""
    with server.connect() as busy, server.connect() as other:
        other.execute("CREATE DATABASE dropped")
        busy.execute("SET statement_timeout = 120000")
        busy.send(LONG_CALLS[0])
        wait_until_active(other, busy.backend)
        other.execute("SELECT 1 FROM pg_sleep(0.2)")
        other.execute("SET statement_timeout = 30000; DROP DATABASE dropped")
        other.execute(f"SELECT pg_cancel_backend({busy.backend})")
        with pytest.raises(SQLError, match="canceling statement due to user request"):
            busy.receive()


def test_a_client_that_is_gone(server):
    with server.connect() as gone, server.connect() as other:
        gone.execute("SET client_connection_check_interval = 100")
        gone.send(LONG_CALLS[0])
        wait_until_active(other, gone.backend)
        gone.process.kill()
        found = f"SELECT count(*) FROM pg_stat_activity, pg_sleep(0.1) WHERE pid = {gone.backend}"
        assert "0" in (other.value(found) for _ in range(600))


def test_an_error_of_an_interrupt_during_a_call(server, session):
    """A worker's error reaches the leader while it is in a call."""
    session.execute(
        f"""CREATE FUNCTION fail_in_worker(i integer) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE AS
              $$BEGIN
                IF EXISTS (SELECT FROM pg_stat_activity WHERE pid = pg_backend_pid() AND backend_type = 'parallel worker')
                THEN PERFORM pg_sleep(0.2); RAISE 'failed in a worker'; END IF;
                RETURN length(bertqa_answer('Who?', {LONG})) > i;
              END$$;
            CREATE TABLE numbers AS SELECT i FROM generate_series(1, 1000) AS i;
            ALTER TABLE numbers SET (parallel_workers = 1);
            SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
            SET statement_timeout = 60000"""
    )
    with pytest.raises(SQLError, match="failed in a worker"):
        session.execute("SELECT count(*) FROM numbers WHERE fail_in_worker(i)")
    assert session.value(f"SELECT bertqa_answer({quote(WHO)}, {quote(FOX)})") == ANSWER


def test_a_backend_that_is_killed(server):
    """The server restarts, as after every killed backend, and answers again."""
    with server.connect() as killed:
        with server.connect() as other:
            killed.send(LONG_CALLS[0])
            wait_until_active(other, killed.backend)
            os.kill(killed.backend, signal.SIGKILL)
            with pytest.raises(SQLError):
                killed.receive()
            # The server notices a little later, and takes connections until then: it has noticed when
            # it ends the others.
            with pytest.raises(SQLError):
                other.execute("SELECT pg_sleep(600)")
    server.wait()
    with server.connect() as session:
        assert session.value(f"SELECT bertqa_answer({quote(WHO)}, {quote(FOX)})") == ANSWER


def test_huge_texts(session):
    """The longest that PostgreSQL has: the call is refused or stopped, and the backend survives."""
    session.execute("SET statement_timeout = 3000")
    for call in "bertqa_answer('Who?', {})", "bertqa_classify({})", "bertqa_embed({})", "bertqa_tokens({})":
        for text in "repeat('x', 200000000)", "repeat('a ', 100000000)":
            try:
                session.execute(f"SELECT count(*) FROM (SELECT {call.format(text)}) AS result")
            except SQLError as error:
                assert error.state in (CANCELLED, "54000"), error
    session.execute("SET statement_timeout = 0")
    assert session.value(f"SELECT bertqa_answer({quote(WHO)}, {quote(FOX)})") == ANSWER


# Many at once


def test_parallel_plans(session, tiny_path):
    """Workers, which are separate processes, use the session's model."""
    session.execute(
        "CREATE TABLE texts AS SELECT i, 'The fox ' || i || ' slept. ' AS body FROM generate_series(1, 400) i"
    )
    session.execute("ANALYZE texts")
    session.execute(f"SELECT bertqa_model('answer', {quote(str(tiny_path))})")
    sql = "SELECT string_agg(bertqa_answer('Who slept?', body), '|' ORDER BY i) FROM texts"
    session.execute("SET max_parallel_workers_per_gather = 0")
    alone = session.value(sql)
    session.execute("RESET max_parallel_workers_per_gather")
    assert not any("Gather" in row[0] for row in session.execute(f"EXPLAIN {sql}"))  # a small table
    session.execute("ALTER TABLE texts SET (parallel_workers = 2)")
    embedded = "SELECT i, bertqa_embed(body) FROM texts"
    for statement, is_parallel in (
        (f"CREATE TABLE vectors AS {embedded}", True),
        ("INSERT INTO texts SELECT i, bertqa_answer('Who slept?', body) FROM texts", False),
        ("UPDATE texts SET body = bertqa_answer('Who slept?', body)", False),
    ):
        plan = session.execute(f"EXPLAIN {statement}")
        assert any("Gather" in row[0] for row in plan) == is_parallel, statement
    counted = "SELECT count(*) FROM texts WHERE bertqa_answer('Who slept?', body) IS NOT NULL"
    plan = "\n".join(row[0] for row in session.execute(f"EXPLAIN ANALYZE {counted}"))
    assert "Workers Launched: 2" in plan, plan
    [form] = re.findall(r"`(SELECT id, \(a\)[^`]*)`", (ROOT / "docs" / "sql.md").read_text())
    form = form.replace("id", "i").replace("reports", "texts")
    assert any("Gather" in row[0] for row in session.execute(f"EXPLAIN {form}"))
    joined = session.execute("SELECT i, a.* FROM texts, bertqa_answers('Why?', body) AS a ORDER BY i")
    assert session.execute(f"{form} ORDER BY i") == joined
    rows = session.execute("SELECT i, bertqa_answer('Who slept?', body) FROM texts ORDER BY i")
    assert "|".join(row[1] for row in rows) == alone


def test_backends_share_the_weights(server):
    sessions = [server.connect() for _ in range(8)]
    try:
        for session in sessions:
            session.send(f"SELECT length(bertqa_answer({quote(WHO)}, {quote(APOLLO)}))")
        assert len({session.receive()[0][0] for session in sessions}) == 1
        check_shared([session.backend for session in sessions])
    finally:
        for session in sessions:
            session.close()
