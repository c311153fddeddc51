"""idle: what workers with nothing to do cost the server."""

from __future__ import annotations

import time

from howdah.bench import store
from howdah.bench.load import watch
from howdah.bench.outcome import Figures, Outcome
from howdah.bench.processes import several
from howdah.bench.stage import Stage
from howdah.model.errors import OptionError

WORKERS = 50
SECONDS = 20.0
#: Until what they do at their start is over.
SETTLE_SECONDS = 5.0
#: Each worker keeps four connections and needs a fifth for a moment.
_CONNECTIONS = 5


def measure(stage: Stage) -> Outcome:
    """One set of workers, watched round by round; a stretch without any beside it."""
    workers = stage.settings.workers or WORKERS
    seconds = stage.settings.seconds or SECONDS
    outcome = Outcome("idle", {"workers": workers, "seconds": seconds})
    outcome.remark("it has no floor: nothing is run; commits of everybody in this database are counted")
    server = stage.run(store.read_server())
    needed = workers * _CONNECTIONS + server.connections + 5
    if needed > server.max_connections:
        raise OptionError(
            f"idle with {workers} workers needs about {needed} connections, the server allows "
            f"{server.max_connections}: use fewer --workers, or raise max_connections"
        )
    stage.run(store.empty())
    without = watch(stage, min(seconds, 5.0))
    stage.say(f"idle: starting {workers} workers one after the other")
    with several(stage, [stage.board(0)] * workers):
        time.sleep(min(SETTLE_SECONDS, seconds))
        for number in range(1, stage.settings.rounds + 1):
            stage.say(f"idle: round {number} of {stage.settings.rounds}")
            load = watch(stage, seconds)
            figures: Figures = {
                "queries_per_worker_per_second": load.transactions / workers,
                "transactions_without_workers_per_second": without.transactions,
                "writing_transactions_per_worker_per_second": load.writing_transactions / workers,
                "statements_per_worker_per_second": None if load.statements is None else load.statements / workers,
                "server_cpu_percent": None if load.cores is None else 100 * load.cores,
                "server_cpu_without_workers_percent": None if without.cores is None else 100 * without.cores,
            }
            outcome.rounds.append(figures)
    if load.statements is None:
        outcome.remark(
            "statements were not measured: pg_stat_statements is not installed; queries are counted by commits"
        )
    if load.cores is None:
        outcome.remark("server CPU was not measured: the server does not run where its processes can be seen")
    return outcome
