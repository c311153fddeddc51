"""Who changed what, and when."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from howdah.admin.order_store import list_audit
from howdah.admin.orders import AuditEntry
from howdah.web.desk import desk_of
from howdah.web.rendering import render

PAGE = 50


@dataclass(frozen=True, slots=True)
class Line:
    """An entry, with what its details say; a table may have been written by other hands, so nothing is taken for
    granted."""

    entry: AuditEntry
    argument: str | None
    ended: str | None
    operation: str | None
    job: str | None


def read_line(entry: AuditEntry) -> Line:
    """The entry as it is shown."""
    details: dict[str, Any] = entry.details if isinstance(entry.details, dict) else {}
    said = {name: details.get(name) for name in ("argument", "ended", "operation")}
    ids = details.get("ids")
    job = ids[0] if isinstance(ids, list) and len(ids) == 1 else None
    argument, ended, operation = (str(value) if value is not None else None for value in said.values())
    return Line(entry, argument, ended, operation, str(job) if job is not None else None)


async def audit(request: Request) -> Response:
    """Entries, newest first."""
    before = request.query_params.get("before", "")
    # bigint; anything else is an address that was cut off.
    place = int(before) if before.isascii() and before.isdigit() and len(before) < 19 else None
    who = request.query_params.get("who", "").strip()[:200].replace("\0", "")
    who = who.encode(errors="replace").decode()
    found = await desk_of(request).panel(partial(list_audit, PAGE, place, who or None))
    entries = found.value or []
    following = entries[-1].id if len(entries) == PAGE else None
    lines = [read_line(entry) for entry in entries]
    context = {"tab": "audit", "entries": found, "lines": lines, "who": who, "next": following, "poll": 5}
    return render(request, "audit.html", context)
