"""An order for jobs that are named by their ids, and what is said about each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from uuid import UUID

import click

from howdah.admin import actions
from howdah.admin.orders import Change, local_who
from howdah.cli.database import opened
from howdah.cli.output import print_json, printable

#: Answer → what is said, and the exit code.
Said = dict[str, tuple[str, int]]


def order_each(
    change: Change, named: Sequence[UUID], said: Said, place: tuple[str | None, str | None], as_json: bool
) -> int:
    """Give the order for every job, whatever became of the others, and say what was answered; the worst exit code."""
    worst = 0
    ids = list(dict.fromkeys(named))
    with opened(*place) as app:
        for start in range(0, len(ids), actions.IDS_LIMIT):
            some = ids[start : start + actions.IDS_LIMIT]
            answers = app.sessions.run(partial(actions.order, change, some, local_who()))
            found = {answer.job_id: answer for answer in answers}
            for one in some:
                answer = found.get(one)
                word = None if answer is None else answer.answer
                words, code = ("no such job; it may be past its retention", 2) if word is None else said[word]
                worst = max(worst, code)
                if as_json:
                    print_json({"id": one, "answer": word, "changed": answer is not None and answer.changed})
                if code == 2:
                    click.echo(f"howdah: job {one}: {words}", err=True)
                elif not as_json:
                    click.echo(f"{one}  {printable(words)}")
    return worst
