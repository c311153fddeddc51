"""Which jobs a command is about: --where and its shorthands, the same for all commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from howdah.admin.filter_text import parse_filter
from howdah.admin.filter_words import quoted
from howdah.admin.filters import JobFilter
from howdah.model.status import Status

_WHERE = (
    "A filter such as 'status=failed type=encode error~\"timed out\" data.user.id=42 created>2h'; all of it must fit."
)
#: Option → what it is short for.
_SHORT = {
    "job_type": "type=",
    "queue": "queue=",
    "worker_id": "worker=",
    "error": "error~",
    "since": "created>",
    "until": "created<",
}


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--where, --status, --type, --queue, --worker, --error, --since, --until: the command gets them as `wanted`."""

    @wraps(command)
    def with_filter(
        *arguments: Any, where: str | None, statuses: tuple[str, ...], priority: str | None, **options: Any
    ) -> Any:
        words = [] if where is None else [where]
        if statuses:
            words.append(f"status={','.join(dict.fromkeys(statuses))}")
        if priority is not None:
            words.append(f"priority{priority if priority[:1] in '<>=' else '=' + priority}")
        for name, start in _SHORT.items():
            value = options.pop(name)
            if value is not None:
                words.append(start + quoted(value))
        return command(*arguments, wanted=parse_filter(" ".join(words)), **options)

    return _decorated(with_filter)


def _decorated(command: Callable[..., Any]) -> Callable[..., Any]:
    options = [
        click.option("--where", metavar="FILTER", help=_WHERE),
        click.option(
            "--status", "statuses", multiple=True, type=click.Choice([str(s) for s in Status]), help="Only these."
        ),
        click.option("--type", "job_type", metavar="NAME", help="Only jobs of this type."),
        click.option("--queue", metavar="NAME", help="Only jobs of this queue."),
        click.option("--worker", "worker_id", metavar="ID", help="Only jobs that this worker holds or ended."),
        click.option("--priority", metavar="N", help="Only jobs of this priority; >=N, <=N: from it on, up to it."),
        click.option("--error", metavar="TEXT", help="Only jobs whose error has this text in it."),
        click.option("--since", metavar="TIME", help="Only jobs created since then: 2h ago, or 2030-01-31T12:00Z."),
        click.option("--until", metavar="TIME", help="Only jobs created before then."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def must_select(wanted: JobFilter) -> JobFilter:
    """Refuse a filter that leaves nothing out: an order for every job there is would be a slip."""
    if not wanted.selects:
        raise click.UsageError("name jobs by their ids, or choose them with --where")
    return wanted
