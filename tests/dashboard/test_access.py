"""Who is let in, what they see, and what they may change: asked of the server, not of its buttons."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from howdah import Howdah, OptionError, User, dashboard
from howdah.web.application import Dashboard
from howdah.web.headers import HEADERS
from howdah.web.settings import Settings, read_settings
from tests.dashboard.asgi import call
from tests.dashboard.visiting import Visitor, by_header, visiting

Sql = psycopg.Connection[Any]
SECRET = "hunter2-and-more"
LOOKS = ["/", "/jobs", "/queues", "/workers", "/bulk", "/audit", "/metrics", "/openapi.json", "/live?panels=tiles"]


def enqueue(sql: Sql, **columns: Any) -> UUID:
    row = sql.execute(
        "INSERT INTO jobs (job_type, data, status, last_error, result, attempts)"
        " VALUES ('encode', %(data)s::jsonb, %(status)s, %(error)s, %(result)s::jsonb, 1) RETURNING id",
        {"data": "{}", "status": "pending", "error": None, "result": None, **columns},
    ).fetchone()
    assert row is not None
    found: UUID = row[0]
    return found


def changes(job_id: UUID) -> list[tuple[str, dict[str, str]]]:
    return [
        (f"/jobs/{job_id}/cancel", {}),
        (f"/jobs/{job_id}/retry", {}),
        (f"/jobs/{job_id}/run-now", {}),
        (f"/jobs/{job_id}/priority", {"priority": "7"}),
        (f"/jobs/{job_id}/queue", {"queue": "elsewhere"}),
        (f"/jobs/{job_id}/delete", {"sure": "1"}),
        ("/queues/pause", {"kind": "queue", "name": "default"}),
        ("/queues/resume", {"kind": "queue", "name": "default"}),
        ("/bulk/preview", {"kind": "retry", "scope": "filter"}),
        ("/bulk", {"kind": "retry", "scope": "filter", "operation_id": str(job_id), "estimate": "1"}),
        (f"/bulk/{job_id}/cancel", {}),
        (f"/bulk/{job_id}/resume", {}),
    ]


def standing(sql: Sql) -> list[list[Any]]:
    """Everything that a change could change."""
    tables = ("jobs", "pauses", "audit", "operations", "ready", "scheduled")
    return [sql.execute(f"SELECT t::text FROM {table} AS t ORDER BY 1".encode()).fetchall() for table in tables]


def test_nobody_unknown_sees_anything(visitor: Callable[..., Visitor], sql: Sql) -> None:
    job_id = enqueue(sql, data=json.dumps({"a": SECRET}))
    for path in (*LOOKS, f"/jobs/{job_id}", f"/jobs/{job_id}.json"):
        for stranger in (None, "mallory"):
            answer = visitor(stranger).get(path)
            assert answer.status_code == 403, path
            assert "encode" not in answer.text


def test_a_stranger_changes_nothing(visitor: Callable[..., Visitor], sql: Sql) -> None:
    job_id = enqueue(sql)
    before = standing(sql)
    for path, form in changes(job_id):
        assert visitor(None).post(path, form, token=False).status_code == 403, path
    assert standing(sql) == before


def test_a_viewer_changes_nothing(visitor: Callable[..., Visitor], sql: Sql) -> None:
    job_id = enqueue(sql)
    before = standing(sql)
    for path, form in changes(job_id):
        answer = visitor("vera").post(path, form)
        assert (answer.status_code, "Only operators" in answer.text) == (403, True), path
    assert standing(sql) == before
    assert not visitor("vera").page(f"/jobs/{job_id}").all("button", id="act-cancel")


def test_read_only_changes_nothing_for_anybody(app: Howdah, sql: Sql) -> None:
    job_id = enqueue(sql)
    before = standing(sql)
    with visiting(app, read_settings(by_header, True, (), "Howdah")) as visitor:
        for path, form in changes(job_id):
            answer = visitor("olga").post(path, form)
            assert (answer.status_code, "read-only" in answer.text) == (403, True), path
        assert not visitor("olga").page(f"/jobs/{job_id}").all("button", id="act-cancel")
    assert standing(sql) == before


def test_a_form_from_another_site_changes_nothing(visitor: Callable[..., Visitor], sql: Sql) -> None:
    job_id = enqueue(sql)
    before = standing(sql)
    for path, form in changes(job_id):
        for site in ("cross-site", "same-site", "none", ""):
            assert visitor("olga").post(path, form, sec_fetch_site=site).status_code == 403, (path, site)
    assert standing(sql) == before


def test_a_form_without_the_cookies_value_changes_nothing(olga: Visitor, sql: Sql) -> None:
    job_id = enqueue(sql)
    before = standing(sql)
    for path, form in changes(job_id):
        for token in ({"other": "x"}, {"csrf": ""}, {"csrf": "a" * 43}):
            assert olga.post(path, {**form, **token}, token=False).status_code == 403, path
    assert standing(sql) == before


def test_older_browsers_are_known_by_their_origin(olga: Visitor, sql: Sql) -> None:
    olga.get("/queues")
    form = {"kind": "queue", "name": "default", "csrf": olga.client.cookies["howdah_csrf"]}
    for origin, code in (("http://evil.example", 403), ("null", 403), ("http://127.0.0.1:8800", 303)):
        answer = olga.client.post(
            "/queues/pause", data=form, headers={**olga.headers, "origin": origin}, follow_redirects=False
        )
        assert answer.status_code == code, origin


def test_no_address_changes_anything_by_get(olga: Visitor, sql: Sql) -> None:
    job_id = enqueue(sql)
    olga.get("/")
    before = standing(sql)
    for path, form in changes(job_id):
        answer = olga.get(path, params={**form, "csrf": olga.client.cookies["howdah_csrf"]})
        assert answer.status_code in (200, 404, 405), path
    assert standing(sql) == before


def test_payloads_are_seen_by_those_who_may(visitor: Callable[..., Visitor], sql: Sql) -> None:
    document = json.dumps({"token": SECRET})
    job_id = enqueue(sql, data=document, status="failed", error=f"Traceback\nValueError: {SECRET}")
    done = enqueue(sql, data=document, status="completed", result=document)
    sql.execute(
        "INSERT INTO job_events (job_id, seq, attempt, name, data) VALUES (%s, 1, 1, 'said', %s::jsonb)",
        (done, document),
    )
    sql.execute("UPDATE jobs SET events_count = 1 WHERE id = %s", (done,))
    paths = ["/", "/jobs", f"/jobs/{job_id}", f"/jobs/{done}", f"/jobs/{job_id}.json", f"/jobs/{done}.json"]
    for user, sees in (("olga", True), ("vera", True), ("opal", False), ("vic", False)):
        seen = {path for path in paths if SECRET in visitor(user).get(path).text}
        assert seen == (set(paths) if sees else set()), user


def test_who_may_not_see_payloads_cannot_search_in_them(visitor: Callable[..., Visitor], sql: Sql) -> None:
    enqueue(sql, data='{"token": "x"}', error="hunter")
    for query in ("error~hunter", "data.token=x", "data.token"):
        assert visitor("vera").get("/jobs", params={"q": query}).status_code == 200
        answer = visitor("vic").get("/jobs", params={"q": query})
        assert answer.status_code == 400, query
        assert "you may not see what jobs carry" in answer.text
        bulk = visitor("opal").post("/bulk/preview", {"kind": "retry", "scope": "filter", "q": query})
        assert (bulk.status_code, "you may not see" in bulk.text) == (400, True), query


def test_redacted_fields_are_seen_by_nobody(app: Howdah, sql: Sql) -> None:
    document = '{"Password": "%s", "card": {"number": "%s", "brand": "v"}, "list": [{"card": {"number": "%s"}}]}'
    document %= (SECRET, SECRET, SECRET)
    job_id = enqueue(sql, data=document, status="completed", result=document)
    sql.execute(
        "INSERT INTO job_events (job_id, seq, attempt, name, data) VALUES (%s, 1, 1, 'said', %s::jsonb)",
        (job_id, document),
    )
    sql.execute("UPDATE jobs SET events_count = 1")
    settings = read_settings(by_header, False, ["password", "card.number"], "Howdah")
    with visiting(app, settings) as visitor:
        olga = visitor("olga")
        for path in (f"/jobs/{job_id}", f"/jobs/{job_id}.json"):
            text = olga.get(path).text
            assert SECRET not in text
            assert "[redacted]" in text
            assert "brand" in text
        for query in ("data.password=x", "data.card.number", 'data.PASSWORD="a"', "data.list.card.number.x"):
            assert "is hidden from everyone" in olga.get("/jobs", params={"q": query}).text
        assert olga.get("/jobs", params={"q": "data.card.brand=v"}).status_code == 200


def test_every_answer_carries_the_headers(olga: Visitor) -> None:
    for path in (*LOOKS[:-1], "/nothing", "/static/main.js", "/static/nothing", "/jobs/x"):
        answer = olga.get(path)
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, path
        assert "unsafe" not in answer.headers["content-security-policy"]


def test_no_page_has_inline_script_or_style(olga: Visitor, sql: Sql) -> None:
    job_id = enqueue(sql)
    for path in ("/", "/jobs", f"/jobs/{job_id}", "/queues", "/workers", "/bulk", "/audit"):
        page = olga.page(path)
        assert page.all("style") == []
        assert all(script.get("src") for script in page.all("script"))
        for tag, attrs in page.tags:
            assert not [name for name in attrs if name == "style" or name.startswith("on")], (path, tag, attrs)


def link_door(app: Howdah) -> tuple[Dashboard, list[str]]:
    links: list[str] = []
    return Dashboard(app, Settings(), links.append), links


def test_the_link_works_once_and_only_here(app: Howdah) -> None:
    from starlette.testclient import TestClient

    made, links = link_door(app)
    here = {"base_url": "http://127.0.0.1:8800", "client": ("127.0.0.1", 4)}
    with TestClient(made, **here) as client:  # type: ignore[arg-type]  # the options are what they are named
        assert client.get("/").status_code == 401
        (link,) = links
        assert client.get("/").status_code == 401
        assert links == [link], "one link is enough until it is used"
        for where in ({"client": ("10.0.0.9", 4)}, {"base_url": "http://evil.example:8800"}):
            other = TestClient(made, **{**here, **where})  # type: ignore[arg-type]  # as above
            assert other.get(link.replace("http://127.0.0.1:8800", "")).status_code == 401
        assert client.get(link + "x").status_code == 401
        assert client.get(link).url == "http://127.0.0.1:8800/"
        assert client.get("/").status_code == 200
        assert len(links) == 2, "the next browser needs a link of its own"
        stranger = TestClient(made, **here)  # type: ignore[arg-type]  # as above
        assert stranger.get(link).status_code == 401, "a used link opens nothing"
        client.post("/logout", data={"csrf": client.cookies["howdah_csrf"]}, headers={"sec-fetch-site": "same-origin"})
        assert client.get("/").status_code == 401
        assert client.portal is not None
        client.portal.call(made.aclose)


@pytest.mark.parametrize("home", ["/outer/jobs/", "/plain/"])
async def test_the_link_leads_to_where_it_is_mounted(app: Howdah, home: str) -> None:
    made, links = link_door(app)
    mounted = Starlette(routes=[Mount("/outer", Starlette(routes=[Mount("/jobs", made)]))])

    async def dispatcher(scope: Any, receive: Any, send: Any) -> None:
        """As in the asgi.py of a framework that mounts nothing itself."""
        await made({**scope, "root_path": "/plain"}, receive, send)

    host = mounted if home == "/outer/jobs/" else dispatcher
    assert (await call(host, "GET", home)).status == 401
    link = links[-1].removeprefix("http://127.0.0.1:8800")
    assert link.startswith(f"{home}login?token=")
    answer = await call(host, "GET", link)
    assert (answer.status, answer.headers["location"]) == (303, home)
    assert f"Path={home.rstrip('/')}" in answer.headers["set-cookie"]
    await made.aclose()


def test_an_auth_that_returns_no_user_is_a_mistake_and_no_right(app: Howdah) -> None:
    from starlette.testclient import TestClient

    made = Dashboard(app, read_settings(lambda _: True, False, (), "Howdah"))  # type: ignore[arg-type, return-value]  # wrong on purpose
    with TestClient(made, raise_server_exceptions=False) as client:
        answer = client.get("/")
        assert (answer.status_code, "Traceback" in answer.text) == (500, False)


def test_bad_settings_are_told() -> None:
    app = Howdah("postgresql://nowhere.invalid/x")
    with pytest.raises(OptionError, match="redact takes a list"):
        dashboard(app, redact="password")
    with pytest.raises(OptionError, match="auth takes a function"):
        dashboard(app, auth="me")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(OptionError, match="takes a Howdah app"):
        dashboard("app")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ValueError, match="admin"):
        User("x", "admin")


def test_it_works_under_any_prefix(app: Howdah, sql: Sql) -> None:
    job_id = enqueue(sql)

    def mounted(made: Dashboard) -> Starlette:
        return Starlette(routes=[Mount("/deep/down", made)])

    with visiting(app, wrap=mounted, prefix="/deep/down") as visitor:
        olga = visitor("olga")
        for path in ("/", "/jobs", f"/jobs/{job_id}", "/queues", "/workers", "/bulk", "/audit"):
            page = olga.page(path)
            places = [attrs[name] for _, attrs in page.tags for name in ("href", "src", "action") if attrs.get(name)]
            assert len(places) > 10
            outside = [place for place in places if place and not place.startswith(("/deep/down/", "#"))]
            assert outside == []
            for place in places:
                if place and "/static/" in place:
                    assert olga.client.get(place).status_code == 200
        answer = olga.post("/queues/pause", {"kind": "queue", "name": "default", "back": "/queues"})
        assert answer.headers["location"] == "/deep/down/queues?done=paused"


def test_a_form_cannot_lead_elsewhere(olga: Visitor) -> None:
    for back in ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:x", "/a\r\nb", ""):
        answer = olga.post("/theme", {"theme": "dark", "back": back})
        assert answer.status_code == 303
        assert answer.headers["location"] == "/", back


def test_nothing_is_opened_before_the_first_request() -> None:
    async def make() -> None:
        made = dashboard(Howdah("postgresql://nowhere.invalid/x"))
        await made.aclose()

    asyncio.run(make())
