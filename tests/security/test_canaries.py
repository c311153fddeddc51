"""A payload is never logged: distinct secrets go through everything that carries one, and are looked for afterwards.

Looked through are the worker's log at its most talkative, in both formats; what the commands print, as somebody who may
not read payloads; what the client logs and what its errors say; PostgreSQL's log; and what its sessions show to others.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from howdah import ArgumentError, Howdah, PayloadError
from tests.cli.conftest import Shell
from tests.rig.servers import TestServer
from tests.rig.waiting import until
from tests.security import canary_jobs
from tests.security.canaries import Canaries
from tests.security.conftest import OWNER, Secured
from tests.security.manifest import PAYLOAD_READER, READER

#: What an application may have added to the ledger: PostgreSQL quotes the row that it refuses, in the error's DETAIL.
CONSTRAINTS = """
ALTER TABLE howdah.jobs ADD CONSTRAINT refuses CHECK (NOT data ? 'refused' AND coalesce(NOT result ? 'refused', true));
CREATE SEQUENCE public.times;
CREATE FUNCTION public.complain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.result ? 'trigger' THEN
        IF nextval('public.times') = 1 THEN RAISE EXCEPTION 'no: %', NEW.result; END IF;
    END IF;
    IF NEW.data ? 'by_trigger' THEN RAISE EXCEPTION 'no'; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER complain BEFORE INSERT OR UPDATE ON howdah.jobs FOR EACH ROW EXECUTE FUNCTION public.complain();
"""
#: Whose secret PostgreSQL quotes itself: rows that a constraint refused, and what a trigger of the application's says.
QUOTED_BY_POSTGRES = ("row refused", "batch refused", "result refused", "quoted by trigger")
#: Every statement in the server's log, as far as it can be had without the values that it carries.
TALKATIVE = {
    "log_statement": "all",
    "log_min_duration_statement": "0",
    "log_min_error_statement": "debug5",
    "log_parameter_max_length": "0",
    "log_error_verbosity": "terse",
}


class Stage:
    """A database, an app on it, and everything that it is looked through afterwards."""

    def __init__(self, secured: Secured, server: TestServer, folder: Path) -> None:
        self.canary = Canaries()
        self.database = secured
        self.folder = folder
        self._log = server.folder / "server.log"
        self._log_starts = self._log.stat().st_size
        shutil.copy(canary_jobs.__file__, folder / "jobs.py")
        with secured.connect() as connection:
            # Of the owner's: the triggers of a partitioned table fire for whoever writes.
            connection.execute(CONSTRAINTS.encode())
            connection.execute("GRANT USAGE ON SEQUENCE public.times TO PUBLIC")

    def shell(self, who: str) -> Shell:
        return Shell(self.folder, {"HOWDAH_URL": self.database.url(who)})

    def set(self, **settings: str) -> None:
        with self.database.connect() as connection:
            for name, value in settings.items():
                connection.execute(f"ALTER DATABASE {self.database.name} SET {name} = '{value}'".encode())

    @property
    def server_log(self) -> str:
        with self._log.open(errors="replace") as log:
            log.seek(self._log_starts)
            return log.read()

    @property
    def sessions_as_seen(self) -> str:
        with self.database.connect() as connection:
            rows = connection.execute(
                "SELECT application_name, query FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()",
                (self.database.name,),
            ).fetchall()
        assert len(rows) > 3, "the worker's and the client's sessions"
        return str(rows)


@pytest.fixture
def stage(secured: Secured, server: TestServer, tmp_path: Path) -> Stage:
    return Stage(secured, server, tmp_path)


@pytest.fixture
def app(stage: Stage) -> Iterator[Howdah]:
    app = canary_jobs.app
    app.move_to(stage.database.url(OWNER), "howdah")
    yield app
    app.close()


def enqueue_everything(app: Howdah, canary: Canaries) -> dict[str, UUID]:
    """One job of each kind; those that are not to end by themselves are left out."""
    left_out = {"run_until_cancelled", "survive", "take_picky", "answer", "answer_in_thread", "answer_in_child"}
    names = {"be_refused": "result refused", "set_off_trigger": "quoted by trigger"}
    ids: dict[str, UUID] = {}
    for name in app.definitions.keys() - left_out:
        ids[name] = app.definition(name).enqueue(canary(names.get(name, name))).id
    for name in ("answer", "answer_in_thread", "answer_in_child"):
        ids[name] = app.definition(name).enqueue(canary(f"{name}: argument"), canary(f"{name}: result")).id
    return ids


def put_in_by_hand(stage: Stage) -> list[UUID]:
    """Jobs as another program might insert them, whose arguments do not fit the handler."""
    canary = stage.canary
    misfits: list[tuple[str, str]] = [
        ("take_picky", f'{{"value": {{"secret": "{canary("own error while decoding")}!"}}}}'),
        ("take_picky", f'{{"value": {{"secret": "x"}}, "mood": "{canary("no member of the enum")}"}}'),
        ("take_picky", f'{{"value": "{canary("wrong type")}"}}'),
        ("take_picky", f'{{"value": {{"secret": "x"}}, "{canary("unknown key")}": 1}}'),
        ("take_picky", f'["{canary("no object")}"]'),
        ("nobody_knows", f'{{"secret": "{canary("unknown type")}"}}'),
    ]
    with stage.database.connect() as connection:
        found = []
        for job_type, data in misfits:
            query = "INSERT INTO howdah.jobs (job_type, data, max_attempts) VALUES (%s, %s, 1) RETURNING id"
            found.append(connection.execute(query, (job_type, data)).fetchone())
    return [row[0] for row in found[:-1] if row is not None]


def kill_a_worker_in_a_handler(stage: Stage, app: Howdah) -> UUID:
    """The handler has written down who runs it: that one is killed, and the others rescue the job."""
    job = app.definition("survive").enqueue(stage.canary("survive"))
    pid = int(until(lambda: (stage.folder / "victim").exists() and (stage.folder / "victim").read_text(), "it runs"))
    os.kill(pid, signal.SIGKILL)
    return job.id


def cancel_while_running(stage: Stage, app: Howdah) -> None:
    job = app.definition("run_until_cancelled").enqueue(stage.canary("cancelled"))
    until(lambda: job.refresh().status == "running", "it runs")
    assert job.cancel()
    assert job.wait(30).status == "cancelled"


def run_everything(stage: Stage, app: Howdah, log_format: str) -> tuple[str, str]:
    """Every job, with two workers of which one is killed. Their logs, and what the sessions showed."""
    shell = stage.shell(OWNER)
    settings = ("-v", "--log-format", log_format, "--silence", "10s", "--poll", "200ms", "--processes", "2")
    with shell.worker(*settings) as worker:
        ids = enqueue_everything(app, stage.canary)
        by_hand = put_in_by_hand(stage)
        cancel_while_running(stage, app)
        jobs = {name: app.get(job_id).wait(60) for name, job_id in ids.items()}
        for job_id in by_hand:
            app.get(job_id).wait(60)
        rescued = kill_a_worker_in_a_handler(stage, app)
        app.get(rescued).wait(60)
        sessions = stage.sessions_as_seen
        assert worker.signal_and_wait(signal.SIGTERM) == 0
    # The secrets did go where they were meant to go.
    assert jobs["answer_in_child"].result.keys() == {"result"}
    assert len(stage.canary.seen_in(jobs["stumble_in_child"].last_error or "")) == 1
    assert len(stage.canary.seen_in(str(jobs["publish"].events()))) == 1
    assert jobs["be_refused"].last_error == "its end could not be stored"
    assert jobs["set_off_trigger"].status == "completed"
    assert all("timed out" in (jobs[name].last_error or "") for name in ("dawdle_in_thread", "dawdle_in_child"))
    assert app.get(by_hand[0]).status == app.get(by_hand[1]).status == "failed"
    assert app.get(rescued).record.deaths == 1
    return worker.log, sessions


def refused_enqueues(app: Howdah, stage: Stage) -> Iterator[tuple[type[Exception], Callable[[], object]]]:
    """Everything that the client refuses, or the database does: the error, and how to get it."""
    canary = stage.canary
    answer, picky = app.definition("answer"), app.definition("take_picky")
    yield ArgumentError, lambda: answer.enqueue(canary("wrong type"), 7)
    yield ArgumentError, lambda: answer.enqueue([canary("wrong type in list")], "x")
    yield ArgumentError, lambda: answer.enqueue(secret=canary("missing argument"))
    yield ArgumentError, lambda: answer.enqueue("a", "b", canary("too many arguments"))
    yield ArgumentError, lambda: answer.enqueue("a", "b", other=canary("unknown argument"))
    yield ArgumentError, lambda: picky.enqueue({"secret": canary("unknown key"), "more": 1})
    yield ArgumentError, lambda: picky.enqueue(canary_jobs.Picky("x"), canary("no member of the enum"))
    yield PayloadError, lambda: answer.enqueue(canary("NUL") + "\0", "x")
    yield PayloadError, lambda: answer.enqueue(canary("half a surrogate") + "\ud800", "x")
    yield PayloadError, lambda: answer.enqueue(canary("too large") * 40_000, "x")
    good = {"secret": canary("good member"), "result": "x"}
    yield ArgumentError, lambda: answer.enqueue_many([good, {"secret": canary("bad member"), "result": 1}])
    yield ArgumentError, lambda: answer.enqueue_many([good, canary("member is no mapping")])  # type: ignore[list-item]  # on purpose


def test_no_error_of_the_client_quotes_a_payload(stage: Stage, app: Howdah, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    told = []
    for kind, attempt in refused_enqueues(app, stage):
        with pytest.raises(kind) as refused:
            attempt()
        told.append("".join(traceback.format_exception(refused.value)))
    assert len(told) == 12
    assert stage.canary.seen_in("".join(told)) == []
    assert stage.canary.seen_in(caplog.text) == []


def test_no_refusal_of_the_database_quotes_a_payload_to_the_client(stage: Stage, app: Howdah) -> None:
    canary = stage.canary
    refusing = Howdah(stage.database.url(OWNER))

    @refusing.job()
    def answer(refused: str = "", by_trigger: str = "") -> None: ...

    def once(carrier: str) -> None:
        answer.enqueue(refused=canary(carrier))

    def few(carrier: str) -> None:
        answer.enqueue_many([{"refused": canary(carrier)}] * 3)

    def many(carrier: str) -> None:
        answer.enqueue_many([{"refused": canary(carrier)}] * 300)

    def inside(carrier: str) -> None:
        with stage.database.connect(OWNER) as connection:
            answer.using(conn=connection).enqueue(refused=canary(carrier))

    for attempt in (once, few, many, inside):
        with pytest.raises(psycopg.errors.CheckViolation) as refused:
            attempt("row refused")
        assert "violates check constraint" in str(refused.value)
        assert canary.seen_in("".join(traceback.format_exception(refused.value))) == []
        # Whoever wants the row has it all the same.
        assert canary.seen_in(str(refused.value.diag.message_detail)) == ["row refused"]
    refusing.close()


@pytest.mark.parametrize("how_many", [1, 3, 300])
def test_a_batch_that_fails_in_the_database_is_not_in_its_log(stage: Stage, how_many: int) -> None:
    """COPY in its text form shows the line that it was at, at whatever error: a timeout, a full disk, a trigger."""
    refusing = Howdah(stage.database.url(OWNER))

    @refusing.job()
    def answer(by_trigger: str = "") -> None: ...

    with pytest.raises(psycopg.errors.RaiseException):
        answer.enqueue_many([{"by_trigger": stage.canary("member of a batch")}] * how_many)
    refusing.close()
    log = until(lambda: "ERROR:  no\n" in stage.server_log and stage.server_log, "the error is in the server's log")
    assert stage.canary.seen_in(str(log)) == []


@pytest.mark.parametrize(
    ("log_format", "settings"), [("console", {}), ("json", TALKATIVE)], ids=["default", "talkative"]
)
def test_no_log_holds_a_payload(stage: Stage, app: Howdah, log_format: str, settings: dict[str, str]) -> None:
    stage.set(**settings)
    worker_log, sessions = run_everything(stage, app, log_format)
    canary = stage.canary
    assert canary.seen_in(worker_log) == []
    assert canary.seen_in(sessions) == []
    # What failed, and what became of it, is there all the same.
    words = ("stumble_in_child", "job failed", "attempt failed", "ValueError", "its jobs are free again")
    for word in (*words, "SQLSTATE P0001", "failed to run a job", "could not be stored"):
        assert word in worker_log, word
    assert ("STATEMENT" in stage.server_log) or not settings
    assert canary.seen_in(stage.server_log, *QUOTED_BY_POSTGRES) == []
    assert canary.seen_in(stage.server_log, "quoted by trigger") == [] or not settings, "terse: no rows either"


def test_commands_show_no_payload_to_a_reader_nor_at_all_unless_asked(stage: Stage, app: Howdah) -> None:
    with stage.shell(OWNER).worker("--poll", "200ms"):
        ids = [str(job_id) for job_id in enqueue_everything(app, stage.canary).values()]
        for job_id in ids:
            app.get(job_id).wait(60)
    waiting = app.definition("answer").using(queue="other").enqueue(stage.canary("waiting"), "x")
    reader, owner = stage.shell(READER), stage.shell(OWNER)
    looks = [("ls", "--limit", "100"), ("ls", "--json", "--limit", "100"), ("ls", "--counts"), ("queues",)]
    looks += [("queues", "--json"), ("workers",), ("workers", "--json"), ("doctor",), ("doctor", "--json")]
    for look in looks:
        told = reader(*look)
        assert told.out, told
        assert stage.canary.seen_in(told.out + told.err) == [], look
    orders = [owner("pause", "other"), owner("resume", "other"), owner("cancel", waiting.id), owner("retry", *ids)]
    for told in orders:
        assert stage.canary.seen_in(told.out + told.err) == [], told
    # Asked for, and allowed: a list has the last line of an error, which is what its handler made it; show has all.
    shown = stage.shell(PAYLOAD_READER)("show", waiting.id).must_work()
    assert stage.canary.seen_in(shown.out) == ["waiting"]


def test_statements_logged_with_their_values_hold_payloads_as_the_docs_warn(stage: Stage, app: Howdah) -> None:
    """The warning in docs/security.md: a server that logs statements logs values too, unless told otherwise."""
    stage.set(log_statement="all")
    app.definition("answer").enqueue(stage.canary("logged with its statement"), "x")
    assert stage.canary.seen_in(stage.server_log) == ["logged with its statement"]


def test_canaries_are_found_where_they_are() -> None:
    canary = Canaries()
    text: Any = f'{{"a": "{canary("here")}"}} {canary("there")[:14]}…'
    assert canary.seen_in(text) == ["here", "there"]
    assert canary.seen_in(text, "there") == ["here"]
    assert canary.seen_in("cnry") == []
