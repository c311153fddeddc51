"""Thousands of requests made from the dashboard's own description: no fault of the server's, nothing unescaped, and
nothing changed by whoever may not change it.

A few hundred of them in `make test`; HOWDAH_FUZZ_REQUESTS asks for more, as `make fuzz-ui` does.
"""

from __future__ import annotations

import os
import random
import re
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID, uuid4

import psycopg

from howdah.web.headers import POLICY
from howdah.web.openapi import PATHS
from tests.dashboard.asgi import Answer, Caller, call
from tests.dashboard.hostile import hostile_strings
from tests.dashboard.test_access import standing
from tests.dashboard.test_hostile import break_out

Sql = psycopg.Connection[Any]
REQUESTS = int(os.environ.get("HOWDAH_FUZZ_REQUESTS", "400"))
SEED = int(os.environ.get("HOWDAH_FUZZ_SEED", "5"))
ODD = [
    *(
        "",
        " ",
        "0",
        "-1",
        "1" * 400,
        "9" * 19,
        "true",
        "null",
        "[]",
        "{}",
        "\0",
        "a\0b",
        "\ud800",
        "é" * 300,
        "\uffff",
        "%",
        "%zz",
    ),
    *(
        "+",
        "&",
        "=",
        "?",
        "#",
        ";",
        "..",
        "//",
        "\\",
        "\r\nX: y",
        "status=failed",
        "status=,",
        "error~",
        "data.",
        "data.a.b=1",
    ),
    *(
        'data."x y"=null',
        "priority>=x",
        "priority<99999999999999999999",
        "created>1h",
        "created<9999-99-99",
        "created>999999999d",
    ),
    *(
        'type="',
        "type=''",
        "id=x",
        "id=" + str(uuid4()),
        "worker=x queue=y",
        "completed<0001-01-01T00:00+23:59",
        "started>-5s",
    ),
    *(
        "(((",
        "data" + ".a" * 300 + "=1",
        " ".join(["type=a"] * 50),
        "data.a=1e999",
        "data.a=-0",
        'data.a="\\ud800"',
        "error~%_%",
    ),
]


class Fuzzer:
    """Requests, mostly as described, partly not at all."""

    def __init__(self, seed: int, jobs: list[UUID]) -> None:
        self.random = random.Random(seed)
        self.jobs = jobs
        self.texts = [*hostile_strings(), *ODD]
        self.operations = [(path, method, spec) for path, methods in PATHS.items() for method, spec in methods.items()]

    def value(self, schema: dict[str, Any]) -> str:
        """A value that fits, or one that does not."""
        if self.random.random() < 0.35:
            return self.text()
        if "enum" in schema:
            return str(self.random.choice(schema["enum"]))
        if schema.get("format") == "uuid":
            return str(self.random.choice([*self.jobs, uuid4()]))
        if schema.get("type") == "integer":
            return str(self.random.choice([0, 1, -1, 7, 2**31, 2**63, 10**30, self.random.randrange(1000)]))
        return self.text()

    def text(self) -> str:
        """Words, hostile or odd, sometimes several."""
        words = self.random.choices(self.texts, k=self.random.choice([1, 1, 1, 2, 3]))
        return self.random.choice(["", " ", "=", ","]).join(words)

    def request(self) -> tuple[str, str, dict[str, str]]:
        """Method, address and form of one request."""
        path, method, spec = self.random.choice(self.operations)
        query: dict[str, str] = {}
        for parameter in spec["parameters"]:
            if parameter["in"] == "path":
                given = quote(self.value(parameter["schema"]).encode(errors="replace"), safe="")
                path = path.replace("{" + parameter["name"] + "}", given)
            elif self.random.random() < 0.5:
                query[parameter["name"]] = self.value(parameter["schema"])
        if self.random.random() < 0.1:
            query[self.text()[:20]] = self.text()
        form: dict[str, str] = {}
        if "requestBody" in spec:
            fields = spec["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]["properties"]
            chosen = [name for name in fields if name != "csrf" and self.random.random() < 0.8]
            form = {name: self.value(fields[name].get("items", fields[name])) for name in chosen}
        target = f"{path}?{encoded(query)}" if query else path
        return method.upper(), target, form


def encoded(values: dict[str, str]) -> str:
    return urlencode({name.encode(errors="replace"): value.encode(errors="replace") for name, value in values.items()})


def judge(answer: Answer, request: object) -> None:
    """What must hold of every answer."""
    assert answer.status < 500, (request, answer.status, answer.text[:2000])
    assert answer.headers.get("content-security-policy") == POLICY, request
    assert not re.search(r"[\r\n]", answer.headers.get("location", "")), request
    location = answer.headers.get("location", "/")
    assert location.startswith("/"), (request, location)
    assert not location.startswith(("//", "/\\")), (request, location)
    if answer.headers.get("content-type", "").startswith("text/html"):
        assert break_out(answer.text) == [], request


async def make_jobs(sql: Sql) -> list[UUID]:
    statuses = ("pending", "running", "completed", "failed", "cancelled")
    rows = sql.execute(
        "INSERT INTO jobs (job_type, queue, status, data, last_error, attempts)"
        " SELECT 'encode', 'default', s, '{\"a\": {\"b\": 1}}', 'OSError: x', 1"
        " FROM unnest(%s::text[]) AS s, generate_series(1, 10) RETURNING id",
        (list(statuses),),
    ).fetchall()
    return [row[0] for row in rows]


async def test_an_operators_requests_never_break_the_server(caller: Caller, sql: Sql) -> None:
    fuzzer = Fuzzer(SEED, await make_jobs(sql))
    statuses: dict[int, int] = {}
    for _ in range(REQUESTS // 2):
        method, target, form = fuzzer.request()
        answer = await send(caller, method, target, form, caller.token)
        judge(answer, (SEED, method, target, form))
        statuses[answer.status] = statuses.get(answer.status, 0) + 1
    print(f"\n{REQUESTS // 2:,} requests with seed {SEED}, by status: {dict(sorted(statuses.items()))}")
    assert statuses.get(200, 0) > REQUESTS // 20, statuses
    assert statuses.get(400, 0) > REQUESTS // 40, statuses


async def test_nothing_is_changed_by_get_or_from_another_site(caller: Caller, sql: Sql) -> None:
    fuzzer = Fuzzer(SEED + 1, await make_jobs(sql))
    before = standing(sql)
    for number in range(REQUESTS // 2):
        method, target, form = fuzzer.request()
        if method == "POST" and number % 3 == 0:
            # A form's fields in an address, with everything else as it should be.
            target, method = f"{target.partition('?')[0]}?{encoded({**form, 'csrf': caller.token})}", "GET"
        token = caller.token if number % 3 == 1 else "u" * 43
        site = {"sec-fetch-site": "cross-site"} if number % 3 == 1 else {}
        answer = await send(caller, method, target, form, token, **site)
        judge(answer, (SEED, method, target, form))
        assert method == "GET" or answer.status in (403, 404, 405), (method, target, answer.status)
    assert standing(sql) == before


async def send(caller: Caller, method: str, target: str, form: dict[str, str], token: str, **headers: str) -> Answer:
    sent = {**caller.headers, **headers}
    if method == "GET":
        return await call(caller.app, "GET", target, sent)
    sent["content-type"] = "application/x-www-form-urlencoded"
    return await call(caller.app, method, target, sent, encoded({"csrf": token, **form}).encode())


async def test_bodies_that_are_no_forms_are_refused(caller: Caller) -> None:
    bodies = [
        (b'{"kind": "queue"}', "application/json", 415),
        (b"--x\r\n", "multipart/form-data; boundary=x", 415),
        (b"a" * 300_000, "application/x-www-form-urlencoded", 413),
        (b"csrf=%ff%fe", "application/x-www-form-urlencoded", 400),
        (b"\xff\xfe", "application/x-www-form-urlencoded", 400),
        (b"&".join([b"a=1"] * 5000), "application/x-www-form-urlencoded", 400),
        (b"", "", 415),
    ]
    for body, kind, status in bodies:
        answer = await call(caller.app, "POST", "/queues/pause", {**caller.headers, "content-type": kind}, body)
        assert answer.status == status, (body[:30], answer.text[:200])
