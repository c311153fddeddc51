"""Looks at an app in a process of its own, so that whoever asks need not run the user's code: `howdah up` outlives many
versions of it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass

from howdah.cli.app_loading import load_app
from howdah.cli.main import say
from howdah.cli.worker import check_served
from howdah.model.errors import AppNotFound, UserError
from howdah.model.worker_settings import WorkerSettings


@dataclass(frozen=True, slots=True)
class Probe:
    """What an app says of itself: the database that its code names, its schema, its job types."""

    url: str | None
    schema: str
    job_types: list[str]


def probe(app_name: str, url: str | None, schema: str | None) -> Probe:
    """Load the app elsewhere; AppNotFound with that process's own words if it does not load."""
    words = json.dumps([app_name, url, schema])
    done = subprocess.run([sys.executable, "-m", __name__], input=words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reason = lines[-1].removeprefix("howdah: ") if lines else f"it ended with code {done.returncode}"
        raise AppNotFound(reason)
    # Before the last line may stand whatever the app prints when it is imported.
    return Probe(**json.loads(done.stdout.splitlines()[-1]))


def main() -> int:
    """The other process: reads what to load, writes what it found as its last line."""
    app_name, url, schema = json.load(sys.stdin)
    try:
        app = load_app(app_name, url, schema)
        check_served(app, WorkerSettings())
    except UserError as error:
        return say(str(error), 2)
    sys.stdout.write(f"\n{json.dumps(asdict(Probe(app.url_in_code, app.catalog.schema, sorted(app.handlers))))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
