"""`howdah rekey`: everything that is stored, sealed with the newest key."""

from __future__ import annotations

from functools import partial
from uuid import UUID

import click

from howdah.admin.rekeying import Rekeyed, rekey_events, rekey_jobs
from howdah.app import Howdah
from howdah.cli.database import database_options, opened
from howdah.cli.output import json_option, print_json
from howdah.sealing.keyring import Keyring


@click.command()
@database_options
@json_option("one JSON object")
def rekey(url: str | None, schema: str | None, as_json: bool) -> int:
    """Seal what is stored anew, with the first key in HOWDAH_KEYS.

    Also what was stored before there was a key; with `plain` in front of the keys it opens everything instead. Jobs
    that workers hold are left for the next run, and a run that was interrupted is simply repeated. Run it as the owner
    of the tables. Exit 1 if something is left.
    """
    keyring = Keyring.from_env()
    with opened(url, schema) as app:
        done = run(app, keyring)
    if as_json:
        about = {"jobs": done.jobs, "events": done.events, "busy": done.busy, "unopened": done.unopened}
        print_json({"key": keyring.seals_with, **about})
    else:
        how = "opened" if keyring.seals_with is None else f"sealed with key {keyring.seals_with!r}"
        click.echo(f"{how}: {done.jobs} jobs, {done.events} events")
    if done.busy:
        click.echo(f"howdah: {done.busy} jobs are held by workers; run it again when they have ended", err=True)
    for key, count in sorted(done.unopened.items()):
        click.echo(
            f"howdah: {count} cannot be opened: sealed with key {key!r}, which is not here, or changed since", err=True
        )
    return 0 if done.complete else 1


def run(app: Howdah, keyring: Keyring) -> Rekeyed:
    """Page by page, through jobs and then events."""
    done = Rekeyed()
    job: UUID | None = None
    while (
        job := app.sessions.run(partial(rekey_jobs, keyring, job, done), repeatable=False, transaction=True)
    ) is not None:
        pass
    event: tuple[UUID, int] | None = None
    while (
        event := app.sessions.run(partial(rekey_events, keyring, event, done), repeatable=False, transaction=True)
    ) is not None:
        pass
    return done
