"""The list of jobs: filters that combine, pages by key, counts that stop, and rows that live."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from howdah.admin.filter_text import render_filter
from howdah.admin.filters import JobFilter
from howdah.admin.listing import Budget, count_jobs, list_jobs
from howdah.admin.views import Count, Page
from howdah.model.status import Status
from howdah.web.desk import Desk, Panel, desk_of, user_of
from howdah.web.panels import read_counts, read_lanes, read_workers
from howdah.web.places import base_of
from howdah.web.rendering import render
from howdah.web.search_fields import FIELDS, Search, read_search

PAGE = 50
LIST_BUDGET = Budget(look=100_000, seconds=0.08)
#: A count is beside the point of the page: where it would take longer, it is an estimate.
COUNT_BUDGET = Budget(look=20_000, seconds=0.06, most=2_000)
COUNT_KEPT_SECONDS = 5.0


async def jobs(request: Request) -> Response:
    """Jobs that fit, newest first."""
    desk, user = desk_of(request), user_of(request)
    given = {name: request.query_params.get(name, "") for name in ("q", *FIELDS)}
    if statuses := request.query_params.getlist("status"):
        given["status"] = ",".join(one for one in statuses if one)
    search = read_search(given, user, desk.settings.redaction)
    if not search.is_canonical:
        # The address of a search says it in one way, so that it can be kept and passed on.
        return RedirectResponse(f"{base_of(request)}/jobs?{urlencode({'q': search.text})}", 303)
    before = _read_before(request.query_params.get("before", ""))
    page, count = await _find(desk, search.wanted, before)
    counts, lanes, workers = await asyncio.gather(read_counts(desk), read_lanes(desk), read_workers(desk))
    rows = page.value.jobs if page.value is not None else []
    context = {
        "tab": "jobs",
        "search": search,
        "page": page,
        "rows": rows,
        "count": count,
        "counts": counts.value or {},
        "chips": _chips(search),
        "next": _next_page(search, page.value),
        "is_first": before is None,
        "type_names": sorted({lane.job_type for lane in lanes.value or [] if lane.job_type}),
        "queue_names": sorted({lane.queue for lane in lanes.value or []}),
        "worker_names": sorted(worker.id for worker in workers.value or []),
        "live": "jobs=" + ",".join(str(job.id) for job in rows) if rows else None,
    }
    return render(request, "jobs.html", context, 200 if search.wanted is not None else 400)


async def _find(desk: Desk, wanted: JobFilter | None, before: UUID | None) -> tuple[Panel[Page], Panel[Count]]:
    if wanted is None:
        return Panel(None), Panel(None)
    counted = desk.kept(
        f"count {render_filter(wanted)}",
        COUNT_KEPT_SECONDS,
        lambda: desk.panel(partial(count_jobs, wanted, COUNT_BUDGET)),
    )
    page, count = await asyncio.gather(desk.panel(partial(list_jobs, wanted, before, PAGE, LIST_BUDGET)), counted)
    return page, count


def _chips(search: Search) -> list[tuple[str, str, bool]]:
    """A link for each status, with the rest of the search as it is: name, query, whether it is chosen."""
    wanted = search.wanted or JobFilter()
    found = []
    for statuses in ((), *((status,) for status in Status)):
        query = render_filter(_with_statuses(wanted, statuses))
        chosen = wanted.statuses == statuses
        found.append((str(statuses[0]) if statuses else "all", urlencode({"q": query}), chosen))
    return found


def _with_statuses(wanted: JobFilter, statuses: tuple[Status, ...]) -> JobFilter:
    changes: dict[str, Any] = {name: getattr(wanted, name) for name in JobFilter.__dataclass_fields__}
    return JobFilter(**{**changes, "statuses": statuses})


def _next_page(search: Search, page: Page | None) -> str | None:
    """The query of the page after this one, or of where the search goes on."""
    if page is None:
        return None
    last = page.jobs[-1].id if len(page.jobs) == PAGE else page.searched_to
    return None if last is None else urlencode({"q": search.text, "before": str(last)})


def _read_before(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        # An address that was cut off: the first page is a better answer than none.
        return None
