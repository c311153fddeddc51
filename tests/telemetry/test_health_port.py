"""`howdah worker --health-port`: probes and metrics, of a lone worker and of a supervisor's."""

from __future__ import annotations

import asyncio
import http.client
import os
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from howdah.cli.health import alive
from howdah.runtime.small_http import SmallServer
from tests.cli.conftest import JOBS, Shell, WorkerProcess
from tests.conftest import Database
from tests.rig.servers import TestServer
from tests.rig.waiting import until


@pytest.fixture
def shell(tmp_path: Path, database: Database) -> Shell:
    (tmp_path / "jobs.py").write_text(JOBS)
    return Shell(tmp_path, {"HOWDAH_URL": database.url})


def get(port: int, path: str, method: str = "GET") -> tuple[int, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def port_of(worker: WorkerProcess) -> int:
    worker.wait_for("health port is open")
    found = re.search(r"health port is open port=(\d+)", worker.log)
    assert found is not None
    return int(found[1])


def metrics(port: int) -> dict[str, Metric]:
    status, page = get(port, "/metrics")
    assert status == 200
    families = list(text_string_to_metric_families(page))
    names = [family.name for family in families]
    assert len(names) == len(set(names)), "each metric stands in one place"
    assert all(family.documentation and family.type != "unknown" for family in families)
    return {family.name: family for family in families}


def values(family: Metric, name: str) -> Iterator[tuple[dict[str, str], float]]:
    return ((sample.labels, sample.value) for sample in family.samples if sample.name == name)


def total(port: int, outcome: str) -> float:
    finished = metrics(port).get("howdah_jobs_finished")
    if finished is None:
        return 0
    return sum(v for labels, v in values(finished, "howdah_jobs_finished_total") if labels["outcome"] == outcome)


def test_a_worker_answers_probes_and_prometheus(shell: Shell) -> None:
    with shell.worker("--health-port", "0") as worker:
        port = port_of(worker)
        assert get(port, "/healthz") == (200, "ok\n")
        until(lambda: get(port, "/readyz") == (200, "ready\n"), "it is ready")
        for _ in range(3):
            shell("enqueue", "jobs:app", "report", '{"day": "2030-01-31"}').must_work()
        shell("enqueue", "jobs:app", "broken", "{}").must_work()
        shell("enqueue", "jobs:app", "nap", '{"seconds": 1}', "--delay", "1h").must_work()
        until(lambda: (total(port, "completed"), total(port, "failed")) == (3, 1), "all four have ended")
        found = metrics(port)
        labels = {"queue": "default", "job_type": "report"}
        assert (labels, 3.0) in list(values(found["howdah_jobs_started"], "howdah_jobs_started_total"))
        for name in ("howdah_job_duration_seconds", "howdah_job_wait_seconds"):
            assert (labels, 3.0) in list(values(found[name], f"{name}_count"))
            assert ({**labels, "le": "+Inf"}, 3.0) in list(values(found[name], f"{name}_bucket"))
        assert sum(v for _, v in values(found["howdah_ack_batch_size"], "howdah_ack_batch_size_sum")) == 4
        assert found["howdah_loop_lag_seconds"].type == "histogram"
        assert found["process_resident_memory_bytes"].samples[0].value > 1e7
        until(lambda: _scheduled(port) == 1, "the depth, which may be five seconds old")
        assert get(port, "/nothing")[0] == 404
        assert get(port, "/metrics", "POST")[0] == 405
        assert get(port, "/readyz?x=1", "HEAD") == (200, "")
        shell("enqueue", "jobs:app", "nap", '{"seconds": 300}').must_work()
        until(lambda: _one(port, "howdah_jobs_running") == 1, "it runs")
        worker.process.send_signal(signal.SIGTERM)
        until(lambda: get(port, "/readyz") == (503, "stopping\n"), "it is not ready any more")
        assert get(port, "/healthz") == (200, "ok\n")
        assert worker.signal_and_wait(signal.SIGTERM) == 0


def _one(port: int, name: str) -> float:
    return metrics(port)[name].samples[0].value


def _scheduled(port: int) -> float:
    family = metrics(port).get("howdah_queue_scheduled_jobs")
    return 0 if family is None else sum(sample.value for sample in family.samples)


def test_a_supervisor_answers_for_all_its_workers(shell: Shell) -> None:
    with shell.worker("--processes", "2", "--health-port", "0") as worker:
        port = port_of(worker)
        until(lambda: get(port, "/readyz") == (200, "ready\n"), "all are ready")
        info = metrics(port)["howdah_worker_info"]
        assert sorted(labels["worker"] for labels, _ in values(info, "howdah_worker_info")) == ["1", "2"]
        shell("enqueue", "jobs:app", "report", '{"day": "2030-01-31"}').must_work()
        until(lambda: total(port, "completed") == 1, "one of them ran it, and the page has both")
        assert _one(port, "howdah_queues_up") == 1
        assert len(metrics(port)["howdah_queues_up"].samples) == 1, "not once for each"
        victim = int(re.findall(r"starting a worker worker=1 pid=(\d+)", worker.log)[0])
        os.kill(victim, signal.SIGSTOP)
        try:
            status, why = get(port, "/readyz")
            assert (status, "worker 1" in why) == (503, True)
            assert get(port, "/healthz") == (200, "ok\n")
            info = metrics(port)["howdah_worker_info"]
            assert [labels["worker"] for labels, _ in values(info, "howdah_worker_info")] == ["2"]
        finally:
            os.kill(victim, signal.SIGCONT)
        until(lambda: get(port, "/readyz")[0] == 200, "it is back")
        assert worker.signal_and_wait(signal.SIGTERM) == 0


def test_without_its_database_a_worker_lives_and_is_not_ready(tmp_path: Path, server: TestServer) -> None:
    name = server.create_database()
    (tmp_path / "jobs.py").write_text(JOBS)
    shell = Shell(tmp_path, {"HOWDAH_URL": server.embedded.url(f"{name}_not_yet")})
    with shell.worker("--health-port", "0") as worker:
        port = port_of(worker)
        worker.wait_for("cannot start yet")
        assert get(port, "/healthz")[0] == 200
        assert get(port, "/readyz") == (503, "waiting for the database\n")
        assert "howdah_queues_up 0" in get(port, "/metrics")[1]
        assert worker.signal_and_wait(signal.SIGTERM) == 0
    server.drop_database(name)


def test_mistakes_are_told_in_one_line(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = shell("worker", "jobs:app", "--health-port", str(port))
        assert answer.code == 2
        assert f"cannot listen on 127.0.0.1 port {port}" in answer.err
        assert "--health-port" in answer.err
    for options, said in [
        (("--health-port", "65536"), "0 (any that is free) to 65535"),
        (("--health-host", "0.0.0.0"), "--health-host needs --health-port"),
        (("--health-port", "1", "--health-host", "no such host"), "cannot listen on no such host"),
    ]:
        answer = shell("worker", "jobs:app", *options)
        assert (answer.code, said in answer.err, "Traceback" in answer.err) == (2, True, False), answer.err


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        (b"GET /healthz HTTP/1.0\r\n\r\n", b"200"),
        (b"\x16\x03\x01 tls?\r\n\r\n", b"400"),
        (b"GET /healthz\r\n\r\n", b"400"),
        (b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\n\r\n", b"431"),
        (b"GET /../../etc/passwd HTTP/1.1\r\n\r\n", b"404"),
    ],
)
async def test_whatever_is_sent_gets_an_answer(request_text: bytes, status: bytes) -> None:
    server = SmallServer({"/healthz": alive})
    port = await server.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request_text)
    answer = await reader.read()
    writer.close()
    await server.close()
    assert answer.split(b" ")[1] == status
