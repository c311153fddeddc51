"""What the pages show, and that their buttons do what they say, on record."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from starlette.routing import Mount, Route

from howdah import Howdah
from howdah.web.openapi import PATHS
from howdah.web.routes import routes
from tests.dashboard.visiting import Page, Visitor
from tests.rig.waiting import until

Sql = psycopg.Connection[Any]


@pytest.fixture(autouse=True)
def job_types(app: Howdah) -> None:
    @app.job
    def encode(video: int, preset: str = "hd") -> None: ...

    @app.job(queue="mail")
    def send(to: str) -> None: ...


def make(app: Howdah, name: str = "encode", **arguments: Any) -> UUID:
    return app.definition(name).enqueue(**({"video": 1} | arguments if name == "encode" else arguments)).id


def value(sql: Sql, column: str, job_id: UUID) -> Any:
    row = sql.execute(f"SELECT {column} FROM jobs WHERE id = %s".encode(), (job_id,)).fetchone()
    return row[0] if row is not None else None


def audit(sql: Sql) -> list[tuple[Any, ...]]:
    return sql.execute("SELECT who, what, target FROM audit ORDER BY id").fetchall()


def listed(olga: Visitor, query: str) -> list[str]:
    page = olga.page(f"/jobs?{query}" if query else "/jobs")
    return [str(attrs["data-job"]) for attrs in page.all("tr") if attrs.get("data-job")]


def test_filters_are_combined(olga: Visitor, app: Howdah) -> None:
    wanted = make(app, video=42)
    make(app, video=7)
    app.definition("encode").using(priority=5).enqueue(42)
    make(app, "send", to="x")
    query = "q=type%3Dencode+data.video%3D42+priority%3E%3D50+created%3E1h+status%3Dpending"
    assert listed(olga, query) == [str(wanted)]
    assert len(listed(olga, "")) == 4
    assert listed(olga, "q=queue%3Dmail+type%3Dencode") == []


def test_fields_become_one_link_that_can_be_kept(olga: Visitor, app: Howdah) -> None:
    wanted = make(app, video=42)
    fields = {"type": "encode", "queue": "default", "priority": ">=50", "data": "video=42", "status": "pending"}
    answer = olga.get("/jobs", params={**fields, "after": "2h", "error": "", "worker": ""})
    assert answer.status_code == 303
    link = answer.headers["location"]
    assert link == (
        "/jobs?q=status%3Dpending+type%3Dencode+queue%3Ddefault+priority%3E%3D50+created%3E2h+data.video%3D42"
    )
    assert str(wanted) in olga.get(link).text


def test_a_bad_filter_is_explained_beside_its_field(olga: Visitor) -> None:
    bad = [
        ("priority", "high", "priority takes a whole number"),
        ("after", "yesterday", "is no time"),
        ("until", "2h;", "is no time"),
        ("type", "x" * 51, "1 to 50 characters"),
        ("worker", "w" * 101, "1 to 100 characters"),
        ("data", "=4", "name a place in the arguments"),
        ("q", "colour=red", "there is no field"),
        ("q", 'error~"open', "quote"),
    ]
    for field, value, said in bad:
        answer = olga.get("/jobs", params={field: value})
        assert answer.status_code == 400, field
        page = Page(answer.text)
        assert said in page.text
        (box,) = page.all("input", name=field)
        assert (box["aria-invalid"], box["value"]) == ("true", value)
        assert page.all("p" if field == "q" else "span", id=str(box["aria-describedby"]))


def test_pages_follow_each_other_by_key(olga: Visitor, app: Howdah) -> None:
    jobs = app.definition("encode").enqueue_many([{"video": n} for n in range(120)])
    expected = sorted((str(job.id) for job in jobs), reverse=True)
    found: list[str] = []
    path = "/jobs"
    while path:
        page = olga.page(path)
        found += [str(attrs["data-job"]) for attrs in page.all("tr") if attrs.get("data-job")]
        following = page.all("a", id="next-page")
        path = str(following[0]["href"]) if following else ""
    assert found == expected


def test_a_job_that_waits_says_why(olga: Visitor, app: Howdah) -> None:
    job_id = make(app)
    olga.post("/queues/pause", {"kind": "queue", "name": "default"})
    page = olga.page(f"/jobs/{job_id}")
    assert {attrs["data-cause"] for attrs in page.all("li") if attrs.get("data-cause")} == {"paused_queue", "no_worker"}
    later = app.definition("encode").using(delay=timedelta(hours=1)).enqueue(1)
    assert "it is scheduled" in olga.page(f"/jobs/{later.id}").text


def test_each_attempt_is_shown_with_its_error(olga: Visitor, app: Howdah, sql: Sql) -> None:
    job_id = make(app)
    for number in (1, 2, 3):
        sql.execute("UPDATE jobs SET run_at = NULL WHERE status = 'pending'")
        row = sql.execute(
            "SELECT c.lease FROM claim_job_batch(%s, ARRAY['encode'], 1) AS c", (f"w{number}",)
        ).fetchone()
        assert row is not None
        sql.execute("SELECT start_job(%s, %s)", (job_id, row[0]))
        sql.execute("SELECT fail_job(%s, %s, %s)", (job_id, row[0], f"Traceback: {number}\nOSError: disk {number}"))
    page = olga.page(f"/jobs/{job_id}")
    outcomes = [(attrs["data-attempt"], attrs["data-outcome"]) for attrs in page.all("li") if "data-attempt" in attrs]
    assert outcomes == [("3", "failed"), ("2", "error"), ("1", "error")]
    for number in (1, 2, 3):
        assert f"OSError: disk {number}" in page.text
        assert f"w{number}" in page.text


def test_buttons_do_what_they_say_and_are_on_record(olga: Visitor, app: Howdah, sql: Sql) -> None:
    job = app.definition("encode").using(delay=timedelta(hours=1)).enqueue(1)
    path = f"/jobs/{job.id}"
    assert olga.post(f"{path}/priority", {"priority": "77"}).headers["location"] == f"{path}?done=changed"
    assert value(sql, "priority", job.id) == 77
    assert olga.post(f"{path}/run-now").headers["location"] == f"{path}?done=started"
    assert value(sql, "run_at", job.id) is None
    assert olga.post(f"{path}/queue", {"queue": "other"}).status_code == 303
    assert value(sql, "queue", job.id) == "other"
    assert olga.post(f"{path}/cancel").headers["location"] == f"{path}?done=cancelled"
    assert olga.post(f"{path}/cancel").headers["location"] == f"{path}?done=unchanged"
    assert value(sql, "status", job.id) == "cancelled"
    assert olga.post(f"{path}/retry").headers["location"] == f"{path}?done=retried"
    assert value(sql, "status", job.id) == "pending"
    olga.post(f"{path}/cancel")
    asked = olga.post(f"{path}/delete")
    assert (asked.status_code, "Delete this job?" in asked.text) == (200, True)
    assert value(sql, "status", job.id) == "cancelled"
    assert olga.post(f"{path}/delete", {"sure": "1"}).headers["location"] == "/jobs?done=deleted"
    assert value(sql, "status", job.id) is None
    assert olga.get(path).status_code == 404
    said = [what for _, what, _ in audit(sql)]
    assert said == ["priority", "run_now", "queue", "cancel", "retry", "cancel", "delete"]
    assert {(who, target) for who, _, target in audit(sql)} == {("olga", str(job.id))}
    page = olga.page("/audit")
    assert len([attrs for attrs in page.all("tr") if "data-entry" in attrs]) == 7


def test_a_bad_change_is_told_and_not_made(olga: Visitor, app: Howdah, sql: Sql) -> None:
    job_id = make(app)
    bad: list[tuple[str, dict[str, str], str]] = [
        ("priority", {"priority": "high"}, "whole number"),
        ("priority", {"priority": "99999999999"}, "priority"),
        ("priority", {}, "whole number"),
        ("queue", {"queue": ""}, "1 to 50"),
        ("queue", {"queue": "x" * 51}, "1 to 50"),
        ("queue", {"queue": "a\0b"}, "NUL"),
    ]
    for action, form, said in bad:
        answer = olga.post(f"/jobs/{job_id}/{action}", form)
        assert answer.status_code == 400, form
        assert said in answer.text
    assert audit(sql) == []


def test_a_job_that_is_not_there_is_told(olga: Visitor) -> None:
    for answer in (olga.get(f"/jobs/{uuid4()}"), olga.post(f"/jobs/{uuid4()}/cancel"), olga.get(f"/bulk/{uuid4()}")):
        assert answer.status_code == 404
    assert olga.get("/jobs/not-an-id").status_code == 404
    assert olga.post(f"/jobs/{uuid4()}/explode").status_code == 404


def test_a_queue_is_paused_and_resumed_on_record(olga: Visitor, app: Howdah, sql: Sql) -> None:
    make(app)
    for verb, paused in (("pause", True), ("resume", False)):
        answer = olga.post(f"/queues/{verb}", {"kind": "queue", "name": "default"})
        assert answer.headers["location"] == f"/queues?done={verb}d"
        assert bool(olga.page("/queues").all("span", data_paused="")) is False or paused
        assert (sql.execute("SELECT count(*) FROM pauses").fetchone() == (1,)) is paused
    assert audit(sql) == [("olga", "pause", "queue default"), ("olga", "resume", "queue default")]
    assert olga.post("/queues/pause", {"kind": "planet", "name": "x"}).status_code == 400
    assert olga.post("/queues/pause", {"kind": "queue", "name": ""}).status_code == 400
    assert olga.post("/queues/explode", {"kind": "queue", "name": "x"}).status_code == 404


def begin(olga: Visitor, **form: Any) -> str:
    """Preview and confirm, as the pages do; the operation's address."""
    preview = olga.post("/bulk/preview", form)
    assert preview.status_code == 200, preview.text
    page = Page(preview.text)
    fields: dict[str, Any] = {}
    for attrs in page.all("input", type="hidden"):
        fields.setdefault(str(attrs["name"]), []).append(attrs["value"])
    answer = olga.post("/bulk", fields | {"csrf": fields["csrf"][0]})
    assert answer.status_code == 303, answer.text
    assert olga.post("/bulk", fields).headers["location"] == answer.headers["location"], "sent twice is one order"
    return str(answer.headers["location"])


def test_a_whole_filter_is_retried_in_the_background(olga: Visitor, app: Howdah, sql: Sql) -> None:
    app.definition("encode").enqueue_many([{"video": n} for n in range(1300)])
    make(app, "send", to="x")
    sql.execute("UPDATE jobs SET status = 'failed', completed_at = now(), last_error = 'OSError: boom'")
    sql.execute("UPDATE jobs SET last_error = 'other' WHERE data ->> 'video' = '7'")
    preview = olga.post("/bulk/preview", {"kind": "retry", "scope": "filter", "q": "type=encode error~boom"})
    assert "1,299" in preview.text
    assert sql.execute("SELECT count(*) FROM jobs WHERE status = 'pending'").fetchone() == (0,)
    place = begin(olga, kind="retry", scope="filter", q="type=encode error~boom")
    until(lambda: 'data-state="done"' in olga.get(place).text, "the operation is done")
    assert sql.execute("SELECT count(*) FROM jobs WHERE status = 'pending'").fetchone() == (1299,)
    assert [what for _, what, _ in audit(sql)] == ["bulk retry", "bulk retry"]
    assert "1,299 done" in olga.page(place).text
    assert place.rpartition("/")[2] in olga.get("/bulk").text


def test_selected_jobs_are_changed(olga: Visitor, app: Howdah, sql: Sql) -> None:
    chosen = [make(app), make(app)]
    other = make(app)
    place = begin(olga, kind="priority", value="9", scope="selected", id=[str(one) for one in chosen])
    until(lambda: 'data-state="done"' in olga.get(place).text, "the operation is done")
    assert [value(sql, "priority", one) for one in (*chosen, other)] == [9, 9, 100]


def test_an_operation_can_be_stopped(olga: Visitor, app: Howdah, sql: Sql) -> None:
    make(app)
    operation = uuid4()
    # As left behind by a process that died: nobody carries it out.
    sql.execute("SELECT begin_operation(%s, 'cancel', '', NULL, NULL, 'x', 1)", (operation,))
    assert olga.page(f"/bulk/{operation}").all("button", id="operation-cancel")
    olga.post(f"/bulk/{operation}/cancel")
    assert 'data-state="cancelled"' in olga.get(f"/bulk/{operation}").text
    other = uuid4()
    sql.execute("SELECT begin_operation(%s, 'cancel', '', NULL, NULL, 'x', 1)", (other,))
    olga.post(f"/bulk/{other}/resume")
    until(lambda: 'data-state="done"' in olga.get(f"/bulk/{other}").text, "somebody else went on with it")
    assert sql.execute("SELECT status FROM jobs").fetchone() == ("cancelled",)


def test_a_bad_bulk_order_is_told_and_not_begun(olga: Visitor, sql: Sql) -> None:
    bad: list[dict[str, str]] = [
        {"kind": "explode", "scope": "filter"},
        {"kind": "retry", "scope": "selected"},
        {"kind": "retry", "scope": "selected", "id": "x"},
        {"kind": "priority", "scope": "filter", "value": "high"},
        {"kind": "queue", "scope": "filter", "value": ""},
        {"kind": "retry", "scope": "filter", "q": "colour=red"},
        {},
    ]
    for form in bad:
        assert olga.post("/bulk/preview", form).status_code == 400, form
        assert olga.post("/bulk", {**form, "operation_id": str(uuid4())}).status_code == 400, form
    assert sql.execute("SELECT count(*) FROM operations").fetchone() == (0,)


def test_the_snippets_are_what_they_say(olga: Visitor, app: Howdah, sql: Sql) -> None:
    job_id = make(app, video=3, preset="it's \\ odd")
    page = olga.get(f"/jobs/{job_id}.json").json()
    assert page["data"] == {"video": 3, "preset": "it's \\ odd"}
    from howdah.web.snippets import snippets

    python, curl = snippets(app.get(job_id).record, page["data"], "http://x/jobs/1")
    again = eval(python.code.removeprefix("job = "), {"app": app})
    assert value(sql, "data", again.id) == page["data"]
    assert value(sql, "priority", again.id) == 100
    assert curl.code.endswith("http://x/jobs/1.json")


def test_the_overview_shows_history_by_queue_and_type(olga: Visitor, app: Howdah, sql: Sql) -> None:
    make(app)
    sql.execute(
        "SELECT record_stats(%s::jsonb)",
        (
            '[{"queue": "default", "job_type": "encode", "started": 60, "completed": 60, "ran": [0,0,9],'
            ' "ran_seconds": 1}]',
        ),
    )
    page = olga.page("/")
    assert page.all("svg", role="img")
    assert len(page.all("rect")) >= 1
    for query in ("span=24h", "span=7d", "span=30d", "queue=default&type=encode", "type=encode", "queue=nothing"):
        assert olga.get(f"/?{query}").status_code == 200
    assert olga.page("/?queue=default").all("rect")
    assert not olga.page("/?queue=nothing").all("rect")


def test_metrics_are_prometheus_text(olga: Visitor, app: Howdah) -> None:
    make(app)
    answer = olga.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'howdah_queue_ready_jobs{queue="default",job_type="encode"} 1' in answer.text


def test_the_description_names_every_address() -> None:
    described = {(path, method.upper()) for path, methods in PATHS.items() for method in methods}
    found = set()
    for route in routes():
        assert isinstance(route, Route | Mount)
        if isinstance(route, Route):
            path = route.path.replace(":uuid", "")
            found |= {(path, method) for method in route.methods or () if method != "HEAD"}
    assert found == described
