"""`howdah watch` and the wait of `howdah enqueue`: lines in a pipe, JSON for programs, bars on a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.cli.conftest import Shell
from tests.rig.waiting import until
from tests.watch.claiming import claim

Sql = psycopg.Connection[Any]


_started: list[subprocess.Popen[bytes]] = []


@pytest.fixture(autouse=True)
def nobody_left() -> Iterator[None]:
    """A test that fails leaves no command behind."""
    yield
    while _started:
        process = _started.pop()
        process.kill()
        process.wait(20)


class Terminal:
    """A command in a terminal of its own; `text` is what has been written there so far, without colours."""

    def __init__(self, howdah: Shell, *arguments: object, columns: int = 100, stdout: bool = True) -> None:
        reader, writer = pty.openpty()
        fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
        self.process = subprocess.Popen(
            howdah.command(*arguments),
            cwd=howdah.folder,
            env={**inherited, "TERM": "xterm", **howdah.environment},
            stdin=subprocess.DEVNULL,
            stdout=writer if stdout else subprocess.PIPE,
            stderr=writer,
        )
        os.close(writer)
        self._reader, self._written = reader, b""
        _started.append(self.process)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            while chunk := os.read(self._reader, 65536):
                self._written += chunk
        except OSError:
            pass  # how a pseudo-terminal says that nobody writes to it any more
        os.close(self._reader)

    @property
    def text(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self._written.decode(errors="replace"))

    def wait_for(self, pattern: str) -> None:
        until(lambda: re.search(pattern, self.text) or self.process.poll() is not None, f"{pattern!r} is shown")
        assert re.search(pattern, self.text), self.text

    def ended(self) -> int:
        code = self.process.wait(30)
        self._thread.join(30)
        return code


def enqueued(sql: Sql, job_type: str = "encode") -> str:
    row = sql.execute("SELECT enqueue_job(%s)", (job_type,)).fetchone()
    assert row is not None
    return str(row[0])


def test_bars_move_with_stage_eta_and_events_above(howdah: Shell, sql: Sql) -> None:
    job, other = enqueued(sql), enqueued(sql, "nap")
    job_id, lease = claim(sql, "encode")
    sql.execute("UPDATE jobs SET status = 'running', started_at = now() - interval '60 s' WHERE id = %s", (job,))
    terminal = Terminal(howdah, "watch", job, other)
    terminal.wait_for(rf"nap +{other[-12:]} .* 0% +pending")
    sql.execute("SELECT report_progress(%s, %s, 25, 'first \x1b[31m part')", (job_id, lease))
    terminal.wait_for(rf"encode +{job[-12:]} ━+.* 25% eta 3m\w* +first .\[31m part")
    sql.execute("SELECT record_event(%s, %s, 'part-done', '{\"part\": 1}')", (job_id, lease))
    terminal.wait_for(rf"encode {job[-12:]}  event 1  part-done  {{\"part\": 1}}")
    sql.execute("SELECT report_progress(%s, %s, 75)", (job_id, lease))
    terminal.wait_for(r"75% eta [23]\ds")
    sql.execute("SELECT complete_job(%s, %s)", (job_id, lease))
    terminal.wait_for(rf"encode {job[-12:]}  completed  100%  in 1m")
    sql.execute("SELECT cancel_job(%s)", (other,))
    terminal.wait_for(rf"nap {other[-12:]}  cancelled  cancelled on request")
    assert terminal.ended() == 1, "one of them was cancelled"
    assert "\x1b[31m part" not in terminal._written.decode()


def test_a_pipe_gets_lines(howdah: Shell, sql: Sql) -> None:
    job = enqueued(sql)
    job_id, lease = claim(sql, "encode")
    sql.execute(
        "SELECT record_event(%s, %s, 'part-done', '1'), report_progress(%s, %s, 40, 'half')", (job_id, lease) * 2
    )
    process = subprocess.Popen(
        howdah.command("watch", job),
        cwd=howdah.folder,
        env={**os.environ, **howdah.environment},
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    lines = [process.stdout.readline().decode(), process.stdout.readline().decode()]
    sql.execute("SELECT complete_job(%s, %s)", (job_id, lease))
    lines += process.stdout.read().decode().splitlines(keepends=True)
    process.stdout.close()
    assert process.wait(30) == 0
    when = r"\d\d:\d\d:\d\d"
    assert re.fullmatch(
        rf"{when}  {job}  encode  event 1  part-done  1\n{when}  {job}  encode  running  40%  half(  eta \w+)?\n"
        rf"{when}  {job}  encode  completed  100%  in \w+\n",
        "".join(lines),
    )


def test_programs_get_json_and_the_exit_code_says_how_it_ended(howdah: Shell, sql: Sql) -> None:
    job = enqueued(sql)
    job_id, lease = claim(sql, "encode")
    sql.execute("SELECT record_event(%s, %s, 'a', '{\"b\": [1]}')", (job_id, lease))
    sql.execute("SELECT fail_job(%s, %s, 'out of film', NULL, true)", (job_id, lease))
    answer = howdah("watch", job, "--json")
    assert answer.code == 1
    told = json.loads(answer.out)
    assert (told["job_id"], told["status"], told["error"], told["eta"]) == (job, "failed", "out of film", None)
    assert [(event["seq"], event["name"], event["data"]) for event in told["events"]] == [(1, "a", {"b": [1]})]


def test_mistakes_are_told(howdah: Shell, sql: Sql) -> None:
    nobody = uuid4()
    howdah("watch", nobody).must_be_refused(f"no job {nobody}")
    howdah("watch", "nonsense").must_be_refused("nonsense")
    howdah("watch", nobody, "--type", "encode").must_be_refused("leave them out where IDs are given")
    late = howdah("watch", enqueued(sql), "--timeout", "300ms")
    assert (late.code, late.err) == (1, "howdah: what was watched did not end within 0.3 s; it goes on\n")


@pytest.mark.parametrize("by_filter", [False, True])
def test_an_interrupt_ends_the_watching_and_not_the_job(howdah: Shell, sql: Sql, by_filter: bool) -> None:
    job = enqueued(sql)
    claim(sql, "encode")
    terminal = Terminal(howdah, "watch", *(["--type", "encode"] if by_filter else [job]))
    terminal.wait_for("claimed")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.ended() == 130
    assert "howdah: no longer watching; the jobs go on" in terminal.text
    assert sql.execute("SELECT status FROM jobs WHERE id = %s", (UUID(job),)).fetchone() == ("claimed",)


def test_waiting_for_what_one_enqueues_is_a_bar_on_stderr(howdah: Shell, sql: Sql) -> None:
    arguments = ("enqueue", "jobs:app", "encode", '{"video": 1}', "--wait")
    terminal = Terminal(howdah, *arguments, stdout=False)
    terminal.wait_for("encode .* 0% +pending")
    terminal.wait_for("no live worker serves 'encode'")
    job_id, lease = claim(sql, "encode")
    sql.execute("SELECT report_progress(%s, %s, 30, 'cutting')", (job_id, lease))
    terminal.wait_for("━+.* 30% .*cutting")
    sql.execute("SELECT complete_job(%s, %s, '{\"ok\": true}')", (job_id, lease))
    assert terminal.process.stdout is not None
    assert terminal.process.stdout.read().decode() == f'{job_id}\n{{"ok": true}}\n'
    terminal.process.stdout.close()
    assert terminal.ended() == 0


def test_an_interrupted_wait_says_where_the_job_can_be_seen(howdah: Shell, sql: Sql) -> None:
    terminal = Terminal(howdah, "enqueue", "jobs:app", "encode", '{"video": 1}', "--wait")
    terminal.wait_for("encode .* 0% +pending")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.ended() == 130
    row = sql.execute("SELECT id, status FROM jobs").fetchone()
    assert row is not None
    assert row[1] == "pending"
    assert f"the job goes on, and can be seen with: howdah watch {row[0]}" in terminal.text.replace("\r\n", "")
