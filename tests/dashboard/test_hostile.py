"""Whatever stands in a text column, no page takes it for markup."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import psycopg

from tests.dashboard.asgi import Caller
from tests.dashboard.hostile import MARK, hostile_strings
from tests.dashboard.visiting import Page

Sql = psycopg.Connection[Any]
#: Attributes that hold text of the table; in all others the mark has no business.
_HOLDERS = {
    *(
        "value",
        "title",
        "aria-label",
        "data-live",
        "data-queue",
        "data-type",
        "data-worker",
        "data-pause",
        "placeholder",
    ),
    *("href", "datetime", "data-outcome"),
}


def break_out(text: str) -> list[str]:
    """Where a page has become markup of somebody else's making."""
    page, found = Page(text), []
    for tag, attrs in page.tags:
        if MARK.lower() in tag:
            found.append(f"<{tag}>")
        for name, value in attrs.items():
            if MARK.lower() in name or (MARK in (value or "") and name not in _HOLDERS):
                found.append(f"<{tag} {name}={value!r}>")
            if name in ("href", "src", "action", "formaction") and re.match(
                r"\s*(javascript|data|vbscript):", value or "", re.I
            ):
                found.append(f"<{tag} {name}={value!r}>")
            if name.startswith("on") or name == "style":
                found.append(f"<{tag} {name}>")
    return found


def fill(sql: Sql, text: str, number: int) -> UUID:
    """The text in every column that can hold it."""
    document = json.dumps({text: text, "list": [text]})
    row = sql.execute(
        "INSERT INTO jobs (job_type, queue, status, data, current_stage, worker_id, last_error, result, attempts,"
        " errors, events_count, claimed_at, started_at, completed_at, progress)"
        " VALUES (%(t)s::text, %(t)s::text, %(s)s, %(d)s::jsonb, %(t)s::text, %(t)s::text, %(e)s, %(d)s::jsonb, 2,"
        " 1, 1, now(), now(), now(), 50)"
        " RETURNING id",
        {
            "t": text,
            "d": document,
            "e": f"Traceback\n{text}",
            "s": ("failed", "completed", "running", "pending")[number % 4],
        },
    ).fetchone()
    assert row is not None
    job_id: UUID = row[0]
    event = "INSERT INTO job_events (job_id, seq, attempt, name, data) VALUES (%s, %s, 1, %s, %s::jsonb)"
    sql.execute(event, (job_id, 1, text, document))
    attempt = {"outcome": text, "worker": text, "claimed_at": None, "started_at": None, "ended_at": None, "error": text}
    sql.execute(event, (job_id, -1, "howdah.attempt", json.dumps(attempt)))
    sql.execute(
        "INSERT INTO workers (id, queues, job_types, info, load)"
        " VALUES (%(t)s::text, ARRAY[%(t)s::text], ARRAY[%(t)s::text], %(d)s::jsonb, %(l)s::jsonb)"
        " ON CONFLICT DO NOTHING",
        {
            "t": text,
            "d": document,
            "l": json.dumps(dict.fromkeys(("running", "slots", "buffered", "memory", "lag"), text)),
        },
    )
    if number % 5 == 0:
        sql.execute("INSERT INTO pauses (kind, name) VALUES ('queue', %(t)s::text), ('type', %(t)s::text)", {"t": text})
    details = json.dumps({"argument": text, "ended": text, "operation": text if number % 2 else None, "ids": [text]})
    sql.execute(
        "INSERT INTO audit (who, what, target, details) VALUES (%(t)s::text, %(t)s::text, %(t)s::text, %(d)s::jsonb)",
        {"t": text, "d": details},
    )
    sql.execute(
        "INSERT INTO operations (id, kind, filter, argument, who, state, error)"
        " VALUES (%s, 'queue', %s, %s, %s, 'failed', %s)",
        (job_id, text, text, text, text),
    )
    return job_id


async def test_two_hundred_hostile_strings_in_every_column_stay_text(caller: Caller, sql: Sql) -> None:
    strings = hostile_strings()
    assert len(strings) == 200
    shown = set()
    jobs = [fill(sql, text, number) for number, text in enumerate(strings)]
    paths = ["/", "/queues", "/workers", "/bulk", "/jobs", *(f"/jobs?before={jobs[n]}" for n in (50, 100, 150))]
    paths += ["/audit", *(f"/audit?before={n}" for n in (50, 100, 150)), "/jobs?q=status%3Dfailed", "/metrics"]
    for job_id in jobs:
        paths += [f"/jobs/{job_id}", f"/bulk/{job_id}"]
    for path in paths:
        answer = await caller.get(path)
        assert answer.status == 200, (path, answer.text[:500])
        if path != "/metrics":
            assert break_out(answer.text) == [], path
            words = Page(answer.text).text
            shown |= {text for text in strings if text.strip() in words}
    assert len(shown) > 150, "the strings were shown"


async def test_two_hundred_hostile_strings_in_every_question_stay_text(caller: Caller) -> None:
    fields = ("type", "error", "data", "priority", "worker", "queue", "after", "until", "status")
    for number, text in enumerate(hostile_strings()):
        asked: list[tuple[str, dict[str, str]]] = [
            ("/jobs", {"q": text, "done": text}),
            ("/jobs", {fields[number % len(fields)]: text}),
            ("/jobs", {"q": f"type={json.dumps(text)}", "before": text}),
            ("/audit", {"who": text, "before": text}),
        ]
        if number % 5 == 0:
            asked.append(("/", {"queue": text, "type": text, "span": text}))
        for path, params in asked:
            answer = await caller.get(path, params)
            assert answer.status in (200, 303, 400), (path, params, answer.text[:500])
            assert break_out(answer.text) == [], (path, params)
        forms = [
            ("/queues/pause", {"kind": "queue", "name": text, "back": text}),
            ("/theme", {"theme": text, "back": text}),
        ]
        for path, form in forms:
            answer = await caller.post(path, form)
            assert answer.status in (303, 400)
            assert "\n" not in answer.headers.get("location", "")
            assert break_out(answer.text) == []


def test_the_check_itself_notices_what_is_not_escaped() -> None:
    for text in (f"<b {MARK}>", f'<p class="{MARK}">', '<a href="javascript:x">', '<p onclick="x">', '<p style="x">'):
        assert break_out(text) != []
    assert break_out(f"<p>{MARK} &lt;b {MARK}&gt;</p>") == []


async def test_hostile_addresses_are_refused_quietly(caller: Caller) -> None:
    for text in hostile_strings():
        for path in ("/", "/jobs/", "/static/", "/bulk/", f"/jobs/{uuid4()}/", "/queues/"):
            answer = await caller.get(path + quote(text, safe=""))
            assert answer.status in (404, 405), (path, text, answer.status)
            assert break_out(answer.text) == []
